// SPDX-License-Identifier: BSD-3-Clause
// Chooses the results that have their own charts, from a list of boxes with a search. All controls work with the
// keyboard: arrows move through the list, Escape closes it.
"use strict";
ringside.chooser = (() => {
  const { address, view } = ringside;
  const most = 8; // results per request of `ringside serve`
  // Bytes of a name in a request: a request's head is at most 8 KiB, with all names and the browser's own lines.
  const most_name = 400;
  const scales = ["auto", "log", "linear"];

  const can_be_asked_for = (name) => encodeURIComponent(name).length <= most_name;

  // "x.l2,u.max:log" as [{ name, scale }].
  function parsed(text) {
    const choices = [];
    for (const part of text.split(",")) {
      const [name, scale] = part.split(":");
      if (name && can_be_asked_for(name) && choices.length < most && !choices.some((choice) => choice.name === name)) {
        choices.push({ name, scale: scales.includes(scale) ? scale : "auto" });
      }
    }
    return choices;
  }

  const written = (choices) => choices.map(({ name, scale }) => (scale === "auto" ? name : `${name}:${scale}`)).join(",");

  // changed(): called whenever `choices` changes.
  function make(changed) {
    const list = document.getElementById("chooser-list");
    const search = document.getElementById("chooser-search");
    const details = document.getElementById("chooser");
    const self = { choices: parsed(address.get("charts")), names: [], add, offer, remove, set_scale };
    let offered = "";

    function keep() {
      address.set("charts", written(self.choices));
      show();
      changed();
    }

    function add(name) {
      if (self.choices.length >= most || self.choices.some((choice) => choice.name === name)) return;
      self.choices = [...self.choices, { name, scale: "auto" }];
      keep();
    }

    function remove(name) {
      self.choices = self.choices.filter((choice) => choice.name !== name);
      keep();
    }

    function set_scale(name, scale) {
      self.choices = self.choices.map((choice) => (choice.name === name ? { name, scale } : choice));
      keep();
    }

    // names: of the available results; units: of some of them. While they are unchanged nothing is rebuilt, because the
    // reader's position in the list would be lost.
    function offer(names, units) {
      const now = names.map((name) => `${name} ${units[name] || ""}`).join("\n");
      document.getElementById("chooser-panel").hidden = names.length === 0 && self.choices.length === 0;
      if (now === offered) return;
      offered = now;
      self.names = names;
      list.replaceChildren(...names.map((name) => {
        const box = document.createElement("input");
        box.type = "checkbox";
        box.value = name;
        box.addEventListener("change", () => (box.checked ? add(name) : remove(name)));
        const hint = can_be_asked_for(name) ? units[name] || "" : "the name is too long for a chart";
        const label = document.createElement("label");
        label.append(box, view.element("span", name), view.element("span", hint, "hint"));
        const item = document.createElement("li");
        item.append(label);
        return item;
      }));
      show();
    }

    const boxes = () => [...list.querySelectorAll("li:not([hidden]) input:not([disabled])")];

    function show() {
      const wanted = search.value.trim().toLowerCase();
      const chosen = new Set(self.choices.map(({ name }) => name));
      let found = 0;
      for (const box of list.querySelectorAll("input")) {
        const item = box.closest("li");
        item.hidden = !box.value.toLowerCase().includes(wanted);
        if (!item.hidden) ++found;
        box.checked = chosen.has(box.value);
        box.disabled = !box.checked && (chosen.size >= most || !can_be_asked_for(box.value));
      }
      view.text("chooser-hint", `${chosen.size} of ${self.names.length} shown`);
      const full = chosen.size >= most ? ` At most ${most} have charts at once.` : "";
      view.text("chooser-note", `${wanted ? `${found} of ${self.names.length} match.` : ""}${full}`.trim());
    }

    search.addEventListener("input", show);
    details.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && details.open) {
        details.open = false;
        details.querySelector("summary").focus();
        event.preventDefault();
      }
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step || event.target.tagName !== "INPUT") return;
      const places = [search, ...boxes()];
      const place = places[places.indexOf(event.target) + step];
      if (place) place.focus();
      event.preventDefault();
    });
    address.on_change(() => {
      self.choices = parsed(address.get("charts"));
      show();
      changed();
    });
    if (self.choices.length) details.open = true;
    show();
    return self;
  }

  return { make, scales };
})();
