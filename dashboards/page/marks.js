// SPDX-License-Identifier: BSD-3-Clause
// Marks: vertical lines with names on every chart over iterations, and a table. A line whose name has no room is still
// there; the table has all names, and its buttons emphasize a mark on the charts.
"use strict";
ringside.marks = (() => {
  const { charts, format, view } = ringside;
  let marks = [];
  let emphasized = 0; // the seq of one; 0: none
  let tabled = "";

  const causes = {
    trigger: "trigger",
    non_finite: "not finite",
    undefined: "condition without a value",
    not_archived: "not archived",
    plug_in: "plug-in",
  };
  const named = (mark) => mark.name || causes[mark.cause] || mark.cause;

  Chart.register({
    id: "ringside_marks",
    afterDatasetsDraw(chart) {
      if (!chart.is_over_iterations || marks.length === 0) return;
      const { ctx, chartArea, scales: { x } } = chart;
      const seen = marks.filter(({ iteration }) => iteration >= x.min && iteration <= x.max);
      ctx.save();
      ctx.font = `11px ${getComputedStyle(document.body).fontFamily}`;
      ctx.textBaseline = "top";
      let free_from = -Infinity; // where the next name has room
      // The emphasized one last: above the others.
      for (const mark of [...seen].sort((a, b) => (a.seq === emphasized) - (b.seq === emphasized))) {
        const at = x.getPixelForValue(mark.iteration);
        const is_emphasized = mark.seq === emphasized;
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
    button.setAttribute("aria-pressed", String(mark.seq === emphasized));
    button.setAttribute("aria-label", `show ${named(mark)} at iteration ${mark.iteration} on the charts`);
    button.addEventListener("click", () => {
      emphasized = emphasized === mark.seq ? 0 : mark.seq;
      for (const other of document.querySelectorAll("#marks button")) {
        other.setAttribute("aria-pressed", String(other === button && emphasized !== 0));
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

  // told: { count, list } or null. Charts that are drawn later draw them as well.
  function show(told, run_id) {
    marks = told ? told.list : [];
    document.getElementById("marks-panel").hidden = marks.length === 0;
    const now = told ? `${run_id} ${told.count}` : "";
    if (now === tabled) return;
    tabled = now;
    const more = told ? told.count - marks.length : 0;
    view.text("marks-hint", more > 0 ? `the first ones and the newest; ${format.count(more)} in between are not shown`
      : "on the charts' time line");
    document.getElementById("marks").replaceChildren(...marks.map(row));
    redraw();
  }

  return { show };
})();
