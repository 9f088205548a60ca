// SPDX-License-Identifier: BSD-3-Clause
// The charts of chosen results, one panel each. A value that cannot be drawn is a gap with a sign at the foot of the
// chart: a cross if it is not finite, a stroke if it is absent or not positive on a log scale.
"use strict";
ringside.result_charts = (() => {
  const { charts, chooser, format, view } = ringside;
  const not_finite = (value) => typeof value === "string"; // "NaN", "inf", "-inf"
  const absent = (value) => value === null || value === undefined;
  const apart_px = 6; // signs closer than this are merged

  const signs = {
    id: "ringside_signs",
    afterDatasetsDraw(chart) {
      const { ctx, chartArea, scales } = chart;
      const foot = chartArea.bottom - 6;
      ctx.save();
      ctx.lineWidth = 2;
      for (const [kind, name] of [["gap", "faint"], ["not_finite", "bad"]]) {
        ctx.strokeStyle = charts.colour(name);
        let last = -Infinity;
        ctx.beginPath();
        for (const sign of chart.signs || []) {
          const x = scales.x.getPixelForValue(sign.x);
          if (sign.kind !== kind || x - last < apart_px) continue;
          last = x;
          if (kind === "gap") {
            ctx.moveTo(x, foot - 4);
            ctx.lineTo(x, foot + 4);
          } else {
            ctx.moveTo(x - 4, foot - 4);
            ctx.lineTo(x + 4, foot + 4);
            ctx.moveTo(x + 4, foot - 4);
            ctx.lineTo(x - 4, foot + 4);
          }
        }
        ctx.stroke();
      }
      ctx.restore();
    },
  };

  function panel_of(name, chosen) {
    const panel = view.element("section", "", "panel result");
    const heading = view.element("h2", name);
    const remove = view.element("button", "×", "remove");
    remove.setAttribute("aria-label", `remove the chart of ${name}`);
    remove.addEventListener("click", () => {
      document.querySelector("#chooser summary").focus(); // otherwise the focus would be lost with the panel
      chosen.remove(name);
    });
    const scale = document.createElement("select");
    for (const kind of chooser.scales) scale.append(new Option(kind));
    scale.addEventListener("change", () => chosen.set_scale(name, scale.value));
    const label = view.element("label", "scale ", "choice");
    label.append(scale);
    const head = view.element("div", "", "head");
    head.append(heading, label, remove);
    const canvas = document.createElement("canvas");
    canvas.id = `chart-of-${name}`;
    canvas.setAttribute("role", "img");
    const place = view.element("div", "", "chart");
    place.append(canvas);
    const note = view.element("p", "", "small");
    panel.append(head, place, note);
    return { panel, canvas, scale, note, chart: null };
  }

  // place: the element that receives the panels. chosen: the object that ringside.chooser made.
  function make(place, chosen) {
    const shown = new Map();

    // series_of(name): [{ iteration, value }], the newest last. info: { units, analyses, steps }; steps: the points of the
    // run, so that all charts cover the same iterations.
    function show(series_of, info) {
      const names = chosen.choices.map(({ name }) => name);
      for (const [name, one] of shown) {
        if (names.includes(name)) continue;
        charts.forget(one.chart);
        one.panel.remove();
        shown.delete(name);
      }
      for (const { name, scale } of chosen.choices) {
        if (!shown.has(name)) {
          const one = panel_of(name, chosen);
          place.append(one.panel);
          shown.set(name, one);
          one.chart = charts.over_iterations(one.canvas.id,
            [charts.line(name, "generate", (p) => p.drawn, { spanGaps: false })], charts.log_axis(), format.scientific, [signs]);
          one.chart.options.plugins.legend.display = false;
        }
        show_one(shown.get(name), name, scale, series_of(name), info);
      }
    }

    // Within less than a decade, a log axis has hardly any labels.
    function spans_decades(finite) {
      const values = finite.map(({ value }) => value);
      const low = values.reduce((a, b) => Math.min(a, b), Infinity);
      return low > 0 && values.reduce((a, b) => Math.max(a, b), 0) >= 10 * low;
    }

    // A name may also be a property of every object (constructor).
    function of_result(object, name) {
      return Object.hasOwn(object, name) ? object[name] : undefined;
    }

    function show_one(one, name, scale, points, { units, analyses, steps }) {
      const finite = points.filter(({ value }) => typeof value === "number");
      const logarithmic = scale === "log" || (scale === "auto" && spans_decades(finite));
      const is_drawn = (value) => typeof value === "number" && (!logarithmic || value > 0);
      one.scale.value = scale;
      one.chart.signs = points.filter(({ value }) => !is_drawn(value))
        .map(({ iteration, value }) => ({ x: iteration, kind: not_finite(value) ? "not_finite" : "gap" }));
      // A point between two gaps has no visible line.
      const is_alone = (_, i) => ![i - 1, i + 1].some((next) => points[next] && is_drawn(points[next].value));
      one.chart.data.datasets[0].pointRadius = points.map((p, i) => (is_alone(p, i) ? 3 : 0));
      charts.set_value_axis(one.chart, logarithmic, of_result(units, name));
      charts.show_steps(one.chart, points.map((p) => ({ iteration: p.iteration, drawn: is_drawn(p.value) ? p.value : null })), steps);
      one.note.textContent = note_of(name, points, logarithmic, analyses);
      one.canvas.setAttribute("aria-label", `${name} over iterations. ${one.note.textContent}`);
    }

    function note_of(name, points, logarithmic, analyses) {
      if (points.length === 0 || points.every(({ value }) => absent(value))) {
        return chosen.names.includes(name) ? "No value yet." : "This run has no result of this name.";
      }
      const { iteration, value } = points[points.length - 1];
      const newest = absent(value) ? "absent" : not_finite(value) ? value : format.scientific(value);
      const notes = [`${newest} at iteration ${format.count(iteration)}`];
      const count = (which) => points.filter((p) => which(p.value)).length;
      const bad = count(not_finite);
      const missing = count(absent);
      const too_low = logarithmic ? count((v) => typeof v === "number" && v <= 0) : 0;
      if (bad > 0) notes.push(`not finite at ${format.count(bad)} ${bad === 1 ? "point" : "points"} (×)`);
      if (missing > 0) notes.push(`absent at ${format.count(missing)} (|)`);
      if (too_low > 0) notes.push(`not above 0 at ${format.count(too_low)} (|)`);
      const skipped = of_result(analyses, name);
      if (skipped > 0) notes.push(`the analysis skipped ${format.count(skipped)} steps`);
      return `${notes.join("; ")}.`;
    }

    return { show };
  }

  return { make };
})();
