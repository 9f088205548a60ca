// SPDX-License-Identifier: BSD-3-Clause
// The charts (Chart.js): making them, and adding new steps. A point that stands for several steps is drawn with its
// mean. Colours come from style.css, and are read again when the reader's colour scheme changes.
"use strict";
ringside.charts = (() => {
  const { duration, scientific } = ringside.format;
  const made = [];

  const kinds = {
    generate: "generate",
    transfer: "transfer",
    commit: "commit",
    analyze: "analyze",
    record: "record",
    producer_idle: "producer idle",
    analyzer_idle: "analyzer idle",
  };

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name.replace("_", "-")}`).trim();

  const per_step_ms = (point, kind) => point[`${kind}_ns`] / point.steps / 1e6;

  function line(label, colour_name, value, more = {}) {
    return { label, colour_name, value, data: [], pointRadius: 0, pointHitRadius: 8, borderWidth: 2, pointStyle: "line", ...more };
  }

  function area(kind) {
    return line(kinds[kind], kind, (point) => per_step_ms(point, kind), { fill: "stack", borderWidth: 1, stack: "time", pointStyle: "rect" });
  }

  function iteration_axis() {
    return { type: "linear", title: { display: true, text: "iteration" }, ticks: { maxTicksLimit: 8, precision: 0 } };
  }

  // A log scale cannot show values of 0 or below; a gap is more correct than a lower limit.
  const positive = (value) => (value > 0 ? value : null);

  function log_axis() {
    return { type: "logarithmic", ticks: { maxTicksLimit: 7, callback: power_of_ten } };
  }

  // Chart.js itself would write 4.000000E-5.
  function plain_number(value) {
    const size = Math.abs(value);
    if (value !== 0 && (size < 1e-4 || size >= 1e9)) return value.toExponential(3).replace(/\.?0*e\+?/, "e");
    return value.toLocaleString("en-US", { maximumSignificantDigits: 6 });
  }

  // Labels between the powers would overlap.
  function power_of_ten(value) {
    return Number.isInteger(Math.log10(value)) ? value.toExponential(0).replace("e+0", "") : "";
  }

  function make(id, config) {
    const canvas = document.getElementById(id);
    paint(config.data.datasets);  // before the chart is made: one with a single point keeps its first colours
    const chart = new Chart(canvas, {
      ...config,
      options: {
        animation: false,
        responsive: true,
        maintainAspectRatio: false,
        normalized: true,
        interaction: { mode: "nearest", axis: "x", intersect: false },
        ...config.options,
      },
    });
    made.push(chart);
    dress(chart);
    chart.update("none");
    return chart;
  }

  function labels_with_dashes(chart) {
    const labels = Chart.defaults.plugins.legend.labels.generateLabels(chart);
    const sign = ({ pointStyle }) => (chart.config.type === "bar" ? "rect" : pointStyle === "circle" ? "line" : pointStyle);
    return labels.map((label) => {
      const dataset = chart.data.datasets[label.datasetIndex];
      return { ...label, lineDash: dataset.borderDash, pointStyle: sign(dataset) };
    });
  }

  function dress(chart) {
    for (const scale of Object.values(chart.options.scales || {})) {
      scale.grid = { ...scale.grid, color: colour("line") };
      scale.ticks = { ...scale.ticks, color: colour("faint") };
      if (scale.title) scale.title = { ...scale.title, color: colour("faint") };
    }
    const labels = chart.options.plugins.legend.labels;
    labels.color = colour("text");
    labels.usePointStyle = true;
    labels.pointStyleWidth = 24;
    labels.generateLabels = labels_with_dashes;
    paint(chart.data.datasets);
  }

  function paint(datasets) {
    for (const dataset of datasets) {
      const names = dataset.colour_names || [dataset.colour_name];
      const colours = names.map(colour);
      dataset.borderColor = colours.length > 1 ? colours : colours[0];
      dataset.backgroundColor = dataset.borderColor;
    }
  }

  function over_iterations(id, datasets, y, tooltip_value, plugins = []) {
    const chart = make(id, {
      type: "line",
      plugins,
      data: { datasets },
      options: {
        parsing: false,
        scales: { x: iteration_axis(), y },
        plugins: {
          legend: { position: "bottom" },
          tooltip: {
            callbacks: {
              title: (items) => (items.length ? `iteration ${items[0].parsed.x}` : ""),
              label: (item) => `${item.dataset.label}: ${tooltip_value(item.dataset.data[item.dataIndex].exact)}`,
            },
          },
        },
      },
    });
    chart.is_over_iterations = true;  // marks.js draws on it
    return chart;
  }

  // Removes a chart whose canvas disappears.
  function forget(chart) {
    made.splice(made.indexOf(chart), 1);
    chart.destroy();
  }

  function change(id) {
    return over_iterations(id, [
      line("change L1", "generate", (p) => positive(p.course)),
      line("change L∞", "producer-idle", (p) => positive(p.course_linf), { borderDash: [6, 4] }),
    ], log_axis(), scientific);
  }

  // The run's course. Values other than a change have a log scale only if all of them are positive.
  function show_course(chart, points, shown) {
    const [first, second] = chart.data.datasets;
    const is_change = !shown || shown.is_change;
    const known = points.map((p) => p.course).filter((v) => v !== null && v !== undefined);
    const logarithmic = is_change || (known.length > 0 && known.every((v) => v > 0));
    first.label = is_change ? "change L1" : shown.course;
    first.value = (p) => (p.course === null || p.course === undefined ? null : logarithmic ? positive(p.course) : p.course);
    second.label = "change L∞";
    second.hidden = !is_change;
    set_value_axis(chart, logarithmic);
    chart.options.plugins.legend.labels.filter = ({ datasetIndex }) => datasetIndex === 0 || is_change;
    show_steps(chart, points);
  }

  // Adds the y axis, in its colours.
  function set_value_axis(chart, logarithmic, title = undefined) {
    const { grid, ticks } = chart.options.scales.y;
    const axis = logarithmic ? log_axis() : { type: "linear", ticks: { maxTicksLimit: 7, callback: plain_number } };
    chart.options.scales.y = { ...axis, grid, ticks: { ...axis.ticks, color: ticks.color } };
    if (title) chart.options.scales.y.title = { display: true, text: title, color: colour("faint") };
  }

  function stacked_time(id, kinds_shown) {
    const y = { stacked: true, beginAtZero: true, title: { display: true, text: "ms per step" } };
    return readable(over_iterations(id, kinds_shown.map(area), y, (ms) => duration(ms * 1e6)));
  }

  // Times vary from step to step; a change does not.
  function readable(chart) {
    chart.most_points = 150;
    return chart;
  }

  const producer_time = (id) => stacked_time(id, ["generate", "producer_idle"]);
  const analyzer_time = (id) => stacked_time(id, ["transfer", "commit", "analyze", "record", "analyzer_idle"]);

  function share(point, kind, others) {
    const whole = [kind, ...others].reduce((sum, k) => sum + point[`${k}_ns`], 0);
    return whole > 0 ? (100 * point[`${kind}_ns`]) / whole : null;
  }

  function waiting(id) {
    return readable(over_iterations(id, [
      line("producer waits for the analyzer", "producer-idle", (p) => share(p, "producer_idle", ["generate"])),
      line("analyzer waits for the producer", "generate",
        (p) => share(p, "analyzer_idle", ["transfer", "commit", "analyze", "record"]), { borderDash: [6, 4] }),
    ], { min: 0, max: 100, title: { display: true, text: "% of its time" } }, (value) => `${value.toFixed(1)} %`));
  }

  function reductions(id) {
    const of = (key) => (p) => (p.reductions ? positive(p.reductions[key]) : null);
    return over_iterations(id, [
      line("L1", "generate", of("l1")),
      line("L2", "analyze", of("l2")),
      line("L∞", "transfer", of("linf")),
      line("change L1", "generate", of("change_l1"), { borderDash: [6, 4] }),
      line("change L2", "analyze", of("change_l2"), { borderDash: [6, 4] }),
      line("change L∞", "transfer", of("change_linf"), { borderDash: [6, 4] }),
    ], log_axis(), scientific);
  }

  function hand_off(id) {
    return make(id, {
      type: "bar",
      data: {
        labels: ["p50", "p90", "p99", "max"],
        datasets: [{ data: [], colour_names: ["generate", "generate", "generate", "producer-idle"], barPercentage: 0.7 }],
      },
      options: {
        indexAxis: "y",
        scales: {
          x: { type: "logarithmic", ticks: { maxRotation: 0, autoSkipPadding: 12, callback: round_duration } },
          y: {},
        },
        plugins: {
          legend: { display: false, labels: {} },
          tooltip: { callbacks: { label: (item) => duration(item.parsed.x) } },
        },
      },
    });
  }

  // 1, 2 and 5 of each power of ten.
  function round_duration(ns) {
    const digit = Math.round(ns / 10 ** Math.floor(Math.log10(ns) + 1e-9));
    return [1, 2, 5].includes(digit) ? duration(ns).replace(/\.0+ /, " ") : "";
  }

  // Merges neighbours until few enough remain to distinguish by eye. Durations are summed; other values are the last
  // neighbour's.
  function grouped(points, most) {
    const each = Math.ceil(points.length / most);
    if (each <= 1) return points;
    const groups = [];
    for (let i = 0; i < points.length; i += each) {
      const group = points.slice(i, i + each);
      const sum = { ...group[group.length - 1] };
      for (const key of ["steps", ...Object.keys(kinds).map((kind) => `${kind}_ns`)]) {
        sum[key] = group.reduce((total, point) => total + point[key], 0);
      }
      groups.push(sum);
    }
    return groups;
  }

  // A step that took a hundred times as long would flatten the others. If the maximum exceeds four times the 95th
  // percentile, the chart cuts it off and notes this.
  function cut_peaks(chart) {
    const sums = chart.data.datasets[0].data.map((_, i) =>
      chart.data.datasets.reduce((sum, dataset) => sum + (dataset.data[i].y || 0), 0)).sort((a, b) => a - b);
    const usual = sums[Math.floor(0.95 * (sums.length - 1))];
    const highest = sums[sums.length - 1];
    const cut = highest > 4 * usual && usual > 0;
    const y = chart.options.scales.y;
    y.max = cut ? 2 * usual : undefined;
    y.title.text = cut ? `ms per step, up to ${duration(highest * 1e6)} cut off` : "ms per step";
  }

  // range, also in points: the iterations that the chart covers; without it, those of its own points.
  function show_steps(chart, all_points, range = all_points) {
    const points = chart.most_points ? grouped(all_points, chart.most_points) : all_points;
    for (const dataset of chart.data.datasets) {
      dataset.data = points.map((point) => {
        const value = dataset.value(point);
        return { x: point.iteration, y: value === null ? NaN : value, exact: value };
      });
    }
    const x = chart.options.scales.x;
    x.min = range.length ? range[0].iteration : undefined;
    x.max = range.length > 1 ? range[range.length - 1].iteration : undefined;
    if (chart.options.scales.y.stacked && points.length) cut_peaks(chart);
    chart.update("none");
  }

  function show_hand_off(chart, times) {
    chart.data.datasets[0].data = times ? [times.p50, times.p90, times.p99, times.max] : [];
    chart.update("none");
  }

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const chart of made) {
      dress(chart);
      chart.update("none");
    }
  });

  return { analyzer_time, change, colour, forget, hand_off, iteration_axis, line, log_axis, make, made, over_iterations, paint,
    plain_number, producer_time, reductions, set_value_axis, show_course, show_hand_off, show_steps, waiting };
})();
