// SPDX-License-Identifier: BSD-3-Clause
// Marks: vertical lines with names on every chart over iterations, and a table. If a name has no room, its line is
// drawn without it; the table has all names, and its buttons emphasize a mark on the charts.
"use strict";
ringside.marks = (() => {
  const { charts, format, view } = ringside;
  let marks = [];
  let emphasized = ""; // the key of the emphasized mark; empty: none
  const rows = new Map(); // of the table, by key

  const causes = {
    trigger: "trigger",
    non_finite: "not finite",
    undefined: "condition without a value",
    not_archived: "not archived",
    plug_in: "plug-in",
  };
  const named = (mark) => mark.name || causes[mark.cause] || mark.cause;

  // A record's number may be reused for another mark, so a row shows only data of its key.
  const keyed = (mark, run_id) => ({ ...mark, key: `${run_id} ${JSON.stringify(mark)}` });

  Chart.register({
    id: "ringside_marks",
    afterDatasetsDraw(chart) {
      if (!chart.is_over_iterations || marks.length === 0) return;
      const { ctx, chartArea, scales: { x } } = chart;
      const seen = marks.filter(({ iteration }) => iteration >= x.min && iteration <= x.max);
      ctx.save();
      ctx.font = `11px ${getComputedStyle(document.body).fontFamily}`;
      ctx.textBaseline = "top";
      let free_from = -Infinity; // the next name fits from here on
      // The emphasized mark last, so that it is above the others.
      for (const mark of [...seen].sort((a, b) => (a.key === emphasized) - (b.key === emphasized))) {
        const at = x.getPixelForValue(mark.iteration);
        const is_emphasized = mark.key === emphasized;
        ctx.strokeStyle = charts.colour(mark.cause === "trigger" ? "text" : "bad");
        ctx.lineWidth = is_emphasized ? 3 : 1;
        ctx.setLineDash(is_emphasized ? [] : [3, 3]);
        ctx.beginPath();
        ctx.moveTo(at, chartArea.top);
        ctx.lineTo(at, chartArea.bottom);
        ctx.stroke();
        const text = mark.cause === "trigger" || !mark.name ? named(mark) : `${causes[mark.cause] || mark.cause}: ${mark.name}`;
        const wide = Math.min(ctx.measureText(text).width, chartArea.right - chartArea.left) + 6;
        const left = Math.min(at + 2, chartArea.right - wide);
        if (left < free_from && !is_emphasized) continue;
        free_from = left + wide;
        ctx.fillStyle = charts.colour("panel");
        ctx.fillRect(left, chartArea.top + 1, wide, 15);
        ctx.fillStyle = ctx.strokeStyle;
        ctx.fillText(text, left + 3, chartArea.top + 3, wide - 6);
      }
      ctx.restore();
    },
  });

  function redraw() {
    for (const chart of charts.made) if (chart.is_over_iterations) chart.draw();
  }

  function row(mark) {
    const button = view.element("button", format.count(mark.iteration));
    button.setAttribute("aria-pressed", String(mark.key === emphasized));
    button.setAttribute("aria-label", `show ${named(mark)} at iteration ${mark.iteration} on the charts`);
    button.addEventListener("click", () => {
      emphasized = emphasized === mark.key ? "" : mark.key;
      for (const other of document.querySelectorAll("#marks button")) {
        other.setAttribute("aria-pressed", String(other === button && emphasized !== ""));
      }
      redraw();
    });
    const place = document.createElement("td");
    place.append(button);
    const made = document.createElement("tr");
    const words = (text) => view.element("td", text, "words");
    made.append(place, view.element("td", format.instant(mark.at_s)), words(named(mark)), words(causes[mark.cause] || mark.cause),
      words(mark.text), words(mark.actions.join(", ") || "–"));
    return made;
  }

  function drop(key) {
    const gone = rows.get(key);
    const had_focus = gone.contains(document.activeElement);
    const beside = gone.nextElementSibling || gone.previousElementSibling;
    gone.remove();
    rows.delete(key);
    if (emphasized === key) emphasized = "";
    if (had_focus && beside) beside.querySelector("button").focus();
  }

  // Makes rows only for new marks: the others keep the focus and the selected text.
  function show_table() {
    const wanted = new Set(marks.map(({ key }) => key));
    for (const key of [...rows.keys()]) if (!wanted.has(key)) drop(key);
    const body = document.getElementById("marks");
    let next = body.firstElementChild;
    for (const mark of marks) {
      if (!rows.has(mark.key)) rows.set(mark.key, row(mark));
      const place = rows.get(mark.key);
      if (place === next) next = next.nextElementSibling;
      else body.insertBefore(place, next);
    }
  }

  // told: { count, list } or null. Charts drawn later show these marks, too.
  function show(told, run_id) {
    marks = told ? told.list.map((mark) => keyed(mark, run_id)) : [];
    document.getElementById("marks-panel").hidden = marks.length === 0;
    const more = told ? told.count - marks.length : 0;
    view.text("marks-hint", more > 0 ? `the first ones and the newest; ${format.count(more)} in between are not shown`
      : "on the charts' time line");
    if (marks.length === rows.size && marks.every(({ key }) => rows.has(key))) return;
    show_table();
    redraw();
  }

  return { show };
})();
