// SPDX-License-Identifier: BSD-3-Clause
// Charts of several runs or of none: the plot of an experiment, and the courses of several runs.
"use strict";
Object.assign(ringside.charts, (() => {
  const { iteration_axis, line, log_axis, make, paint, plain_number, set_value_axis } = ringside.charts;
  const { scientific } = ringside.format;

  // One line per label; lines beyond the number of colours are dashed.
  const line_colours = ["generate", "transfer", "analyze", "commit", "producer-idle", "analyzer-idle"];
  const dashes = [[], [6, 4], [2, 3], [10, 3, 2, 3]];

  // Lines of a single point each are drawn as bars.
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

  // The courses of several runs in one chart, each with points [iteration, seconds, value].
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

  // runs: { label, points, look }; look: a number that keeps a run's line style when others are added or removed. The
  // scale is log only if it can show all values, or most values of a change.
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
    set_value_axis(chart, logarithmic);
    paint(chart.data.datasets);
    chart.update("none");
  }

  return { courses, plot, show_courses };
})());
