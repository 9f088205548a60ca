// SPDX-License-Identifier: BSD-3-Clause
// The charts (Chart.js): how each is made, and how it takes new steps. A point that stands for several steps is drawn
// with its mean. Colours come from style.css, again whenever the reader's colour scheme changes.
"use strict";
ringside.charts = (() => {
  const { duration, scientific } = ringside.format;
  const made = [];

  const kinds = {
    generate: "generate",
    transfer: "transfer",
    commit: "commit",
    analyze: "analyze",
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

  // On a log scale what is 0 or below has no place; a gap is more honest than a floor.
  const positive = (value) => (value > 0 ? value : null);

  function log_axis() {
    return { type: "logarithmic", ticks: { maxTicksLimit: 7, callback: power_of_ten } };
  }

  // Between the powers the numbers would touch each other.
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

  function over_iterations(id, datasets, y, tooltip_value) {
    return make(id, {
      type: "line",
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
  }

  function change(id) {
    return over_iterations(id, [
      line("change L1", "generate", (p) => positive(p.course)),
      line("change L∞", "producer-idle", (p) => positive(p.course_linf), { borderDash: [6, 4] }),
    ], log_axis(), scientific);
  }

  // The run's course, or the one result that the reader chose: the value with this index among those of a point. What
  // is not a change has a log scale only if all of it can be drawn there.
  function show_course(chart, points, shown, chosen, index) {
    const [first, second] = chart.data.datasets;
    const is_change = !chosen && (!shown || shown.is_change);
    const value = chosen ? (p) => (p.values ? p.values[index] : null) : (p) => p.course;
    const known = points.map(value).filter((v) => v !== null && v !== undefined);
    const logarithmic = is_change || (known.length > 0 && known.every((v) => v > 0));
    const drawn = (v) => (v === null || v === undefined ? null : logarithmic ? positive(v) : v);
    first.label = chosen || (is_change ? "change L1" : shown.course);
    first.value = (p) => drawn(value(p));
    second.label = "change L∞";
    second.hidden = !is_change;
    const { grid, ticks } = chart.options.scales.y;
    const axis = logarithmic ? log_axis() : { type: "linear", ticks: { maxTicksLimit: 7 } };
    chart.options.scales.y = { ...axis, grid, ticks: { ...axis.ticks, color: ticks.color } };
    chart.options.plugins.legend.labels.filter = ({ datasetIndex }) => datasetIndex === 0 || is_change;
    show_steps(chart, points);
  }

  // The names that a reader can choose from; the first is the run's course.
  function offer(select, shown, chosen) {
    const course = shown.is_change || !shown.course ? "change" : shown.course;
    const names = shown.results;
    const offered = [course, ...names].join("\n");
    select.parentElement.hidden = names.length < 2;
    if (select.dataset.offered === offered) return;
    select.dataset.offered = offered;
    select.replaceChildren(...["", ...names].map((name) => {
      const option = document.createElement("option");
      option.value = name;
      option.textContent = name || course;
      return option;
    }));
    select.value = names.includes(chosen) ? chosen : "";
  }

  function stacked_time(id, kinds_shown) {
    const y = { stacked: true, beginAtZero: true, title: { display: true, text: "ms per step" } };
    return readable(over_iterations(id, kinds_shown.map(area), y, (ms) => duration(ms * 1e6)));
  }

  // Times jump from step to step where a change does not.
  function readable(chart) {
    chart.most_points = 150;
    return chart;
  }

  const producer_time = (id) => stacked_time(id, ["generate", "producer_idle"]);
  const analyzer_time = (id) => stacked_time(id, ["transfer", "commit", "analyze", "analyzer_idle"]);

  function share(point, kind, others) {
    const whole = [kind, ...others].reduce((sum, k) => sum + point[`${k}_ns`], 0);
    return whole > 0 ? (100 * point[`${kind}_ns`]) / whole : null;
  }

  function waiting(id) {
    return readable(over_iterations(id, [
      line("producer waits for the analyzer", "producer-idle", (p) => share(p, "producer_idle", ["generate"])),
      line("analyzer waits for the producer", "generate",
        (p) => share(p, "analyzer_idle", ["transfer", "commit", "analyze"]), { borderDash: [6, 4] }),
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

  // Neighbours put together until few enough are left to be told apart by eye: durations add up, the rest is the last
  // one's.
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

  // One step that took a hundred times as long would leave the others a flat line: what is higher than four times
  // nearly all of them is cut off, and the chart notes it.
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

  function show_steps(chart, all_points) {
    const points = chart.most_points ? grouped(all_points, chart.most_points) : all_points;
    for (const dataset of chart.data.datasets) {
      dataset.data = points.map((point) => {
        const value = dataset.value(point);
        return { x: point.iteration, y: value === null ? NaN : value, exact: value };
      });
    }
    const x = chart.options.scales.x;
    x.min = points.length ? points[0].iteration : undefined;
    x.max = points.length > 1 ? points[points.length - 1].iteration : undefined;
    if (chart.options.scales.y.stacked && points.length) cut_peaks(chart);
    chart.update("none");
  }

  function show_hand_off(chart, times) {
    chart.data.datasets[0].data = times ? [times.p50, times.p90, times.p99, times.max] : [];
    chart.update("none");
  }

  // Chart.js itself would write 4.000000E-5.
  const plain_number = (value) => value.toLocaleString("en-US", { maximumSignificantDigits: 6 });

  // One line a label; what is beyond the colours is dashed.
  const line_colours = ["generate", "transfer", "analyze", "commit", "producer-idle", "analyzer-idle"];
  const dashes = [[], [6, 4], [2, 3], [10, 3, 2, 3]];

  // Lines of one point each have nothing to be drawn over: a bar for each.
  function bars(id, shown) {
    const labels = shown.lines.map(({ label }) => label.replace(" (", "\n(").split("\n"));  // two short lines: for a phone
    const line_height = labels.some((lines) => lines.length > 1) ? 2.2 : 1.5;
    document.getElementById(id).parentElement.style.height = `${4 + line_height * labels.length}rem`;
    const xs = shown.lines.map(({ points }) => points[0][0]);
    const common = xs.every((x) => x === xs[0]) ? ` (${shown.x}: ${scientific(xs[0])})` : "";
    return make(id, {
      type: "bar",
      data: {
        labels,
        datasets: [{
          data: shown.lines.map(({ points }) => points[0][1]),
          colour_names: shown.lines.map((_, i) => line_colours[i % line_colours.length]),
          barPercentage: 0.7,
        }],
      },
      options: {
        indexAxis: "y",
        interaction: { mode: "index", axis: "y", intersect: false },
        scales: {
          x: { beginAtZero: true, title: { display: true, text: `${shown.y}${common}` }, ticks: { callback: plain_number } },
          y: { ticks: { autoSkip: false } },
        },
        plugins: {
          legend: { display: false, labels: {} },
          tooltip: { callbacks: {
            label: (item) => `${scientific(item.parsed.x)} (${shown.x}: ${scientific(xs[item.dataIndex])})`,
          } },
        },
      },
    });
  }

  function plot(id, shown) {
    if (shown.lines.every(({ points }) => points.length === 1)) return bars(id, shown);
    return make(id, {
      type: "line",
      data: {
        datasets: shown.lines.map(({ label, points }, i) => line(label, line_colours[i % line_colours.length], null, {
          data: points.map(([x, y]) => ({ x, y })),
          pointRadius: points.length > 40 ? 0 : 4,
          pointStyle: "circle",
          borderDash: dashes[Math.floor(i / line_colours.length) % dashes.length],
        })),
      },
      options: {
        parsing: false,
        scales: {
          x: {
            type: "linear",
            title: { display: true, text: shown.x },
            ticks: { maxTicksLimit: 9, precision: shown.x.includes("threads") ? 0 : undefined, callback: plain_number },
          },
          y: { beginAtZero: true, title: { display: true, text: shown.y }, ticks: { callback: plain_number } },
        },
        plugins: {
          legend: { position: "bottom", labels: {} },
          tooltip: { callbacks: { label: (item) => `${item.dataset.label}: ${scientific(item.parsed.y)}` } },
        },
      },
    });
  }

  // The courses of several runs in one chart: of each, points [iteration, seconds, value].
  function courses(id) {
    return make(id, {
      type: "line",
      data: { datasets: [] },
      options: {
        parsing: false,
        scales: { x: iteration_axis(), y: log_axis() },
        plugins: {
          legend: { position: "bottom", labels: {} },
          tooltip: { callbacks: {
            title: (items) => (items.length ? items[0].chart.options.scales.x.title.text.replace(/^(\S+).*/, `$1 ${plain_number(items[0].parsed.x)}`) : ""),
            label: (item) => `${item.dataset.label}: ${scientific(item.dataset.data[item.dataIndex].y)}`,
          } },
        },
      },
    });
  }

  // runs: { label, points, look }; look: a number that keeps a run's line the same while others come and go. A log scale
  // is used only if all values can be drawn there, or most of a change can.
  function show_courses(chart, runs, over_time, is_change) {
    const values = runs.flatMap(({ points }) => points.map((point) => point[2])).filter((value) => value !== null);
    const logarithmic = is_change || (values.length > 0 && values.every((value) => value > 0));
    const drawn = (value) => (value === null ? NaN : logarithmic && !(value > 0) ? NaN : value);
    chart.data.datasets = runs.map(({ label, points, look }) => line(label, line_colours[look % line_colours.length], null, {
      data: points.map((point) => ({ x: point[over_time ? 1 : 0], y: drawn(point[2]) })),
      pointRadius: points.length > 1 ? 0 : 4,
      borderDash: dashes[Math.floor(look / line_colours.length) % dashes.length],
    }));
    chart.options.scales.x.title.text = over_time ? "seconds" : "iteration";
    chart.options.scales.x.ticks.precision = over_time ? undefined : 0;
    const { grid, ticks } = chart.options.scales.y;
    const axis = logarithmic ? log_axis() : { type: "linear", ticks: { maxTicksLimit: 7 } };
    chart.options.scales.y = { ...axis, grid, ticks: { ...axis.ticks, color: ticks.color } };
    paint(chart.data.datasets);
    chart.update("none");
  }

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const chart of made) {
      dress(chart);
      chart.update("none");
    }
  });

  return { analyzer_time, change, colour, courses, hand_off, make, offer, plot, producer_time, reductions, show_course, show_courses,
    show_hand_off, show_steps, waiting };
})();
