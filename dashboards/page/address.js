// SPDX-License-Identifier: BSD-3-Clause
// The reader's choices, stored after the # of the address: they can be bookmarked and shared, they also work in a file,
// and a browser sends them to no server. Keys: charts, field, cell, large.
"use strict";
ringside.address = (() => {
  const read = () => new URLSearchParams(location.hash.slice(1));

  const get = (key) => read().get(key) || "";

  // An empty value removes the key.
  function set(key, value) {
    const all = read();
    if (value) all.set(key, value);
    else all.delete(key);
    // Commas and colons remain unescaped, because people read addresses.
    const text = all.toString().replaceAll("%2C", ",").replaceAll("%3A", ":");
    history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
  }

  const on_change = (then) => window.addEventListener("hashchange", then);

  return { get, on_change, set };
})();
