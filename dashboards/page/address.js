// SPDX-License-Identifier: BSD-3-Clause
// What the reader chose, kept behind the # of the address: it can be bookmarked and passed on, it also works in a file,
// and a browser sends it to no server. Keys: charts, field, cell, large.
"use strict";
ringside.address = (() => {
  const read = () => new URLSearchParams(location.hash.slice(1));

  const get = (key) => read().get(key) || "";

  // An empty value removes the key.
  function set(key, value) {
    const all = read();
    if (value) all.set(key, value);
    else all.delete(key);
    // Commas and colons may stay as they are; people read addresses.
    const text = all.toString().replaceAll("%2C", ",").replaceAll("%3A", ":");
    history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
  }

  const on_change = (then) => window.addEventListener("hashchange", then);

  return { get, on_change, set };
})();
