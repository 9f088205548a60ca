// SPDX-License-Identifier: BSD-3-Clause
// The ring's slots: the content of each, and why it may not be overwritten. The page shows the pool's own data if
// `ringside serve` can read it; otherwise it derives them from the records.
"use strict";
ringside.ring = (() => {
  const { format, view } = ringside;
  const most = 512; // as RingSlots::kMost: a person would not read more

  let drawn = ""; // the slots as text: unchanged ones are not rebuilt

  // By commit; steps older than the newest known ones were persisted before them.
  function persisted_in(ring) {
    const known = new Map(ring.newest.map((kept) => [kept.commit_seq, kept.persisted]));
    const oldest = ring.newest[0];
    return (commit) => (known.has(commit) ? known.get(commit) : Boolean(oldest && commit < oldest.commit_seq && oldest.persisted));
  }

  // The drawn slots: of a long ring, those with the newest iterates.
  function slots_of(ring) {
    if (!ring.states) {
      const newest = ring.newest.slice(-most);
      const earlier = Math.max(0, Math.min(ring.used, most) - newest.length);
      const free = Math.max(0, Math.min(ring.slots, most) - earlier - newest.length);
      const several = (length, state) => Array.from({ length }, () => ({ state }));
      return [...several(earlier, "kept"), ...newest.map((kept) => ({ ...kept, state: "kept" })), ...several(free, "empty")];
    }
    const is_persisted = persisted_in(ring);
    return ring.states.map((slot) => ({
      ...slot,
      persisted: is_persisted(slot.commit_seq),
      held: slot.use === "held",
      written: slot.use === "written" && slot.state !== "kept",
    }));
  }

  function cell_of(slot, newest) {
    if (slot.state === "damaged") return view.element("li", "damaged", "slot damaged");
    if (slot.state !== "kept") return view.element("li", slot.written ? "writing" : "free", "slot");
    const words = [slot.commit_seq === newest && "newest", slot.held && "held", slot.guarded && "guarded", slot.frozen && "frozen"]
      .filter(Boolean);
    const kind = slot.persisted ? "persisted" : "committed";
    const signs = ["held", "guarded", "frozen"].filter((sign) => slot[sign]);
    const cell = view.element("li", slot.iteration === undefined ? "earlier" : format.count(slot.iteration), ["slot", kind, ...signs].join(" "));
    if (words.length) cell.append(view.element("span", words.join(", "), "uses"));
    cell.title = [slot.persisted ? "survives power loss" : "survives the death of any process",
      slot.held && "held by a reader: it is overwritten last",
      slot.guarded && "the last finite iterate: it is not overwritten",
      slot.frozen && "the ring is frozen: nothing in it is overwritten"].filter(Boolean).join("; ");
    return cell;
  }

  // Null if it is not frozen; a ring may be frozen at iteration 0.
  const is_frozen = (ring) => Number.isInteger(ring.frozen_at_iteration);

  function hint_of(ring, cells) {
    const parts = [`${format.count(ring.used)} of ${format.count(ring.slots)} slots hold an iterate`];
    const held = ring.states ? ring.states.filter(({ use }) => use === "held").length : 0;
    if (held) parts.push(`, ${held} held by readers`);
    if (cells < ring.slots) parts.push(`; only ${cells} slots are drawn, with the newest iterates`);
    if (is_frozen(ring)) {
      parts.push(`; frozen at iteration ${format.count(ring.frozen_at_iteration)}: no slot is overwritten`);
    }
    return parts.join("");
  }

  function show({ ring, run }) {
    const slots = (ring ? slots_of(ring) : []).map((slot) => ({
      ...slot,
      guarded: slot.state === "kept" && slot.commit_seq === ring.guarded_commit_seq,
      frozen: slot.state === "kept" && is_frozen(ring),
    }));
    view.text("ring-hint", ring ? hint_of(ring, slots.length) : "");
    const newest = Math.max(...slots.map(({ commit_seq }) => commit_seq || 0));
    const now = JSON.stringify(slots);
    if (now !== drawn) document.getElementById("ring").replaceChildren(...slots.map((slot) => cell_of(slot, newest)));
    drawn = now;
    document.getElementById("ring-legend").hidden = !run;
  }

  return { show };
})();
