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
    return { label, colour_name, value, data: [], pointRadius: 0, pointHitRadius: 8, borderWidth: 2, ...more };
  }

  function area(kind) {
    return line(kinds[kind], kind, (point) => per_step_ms(point, kind), { fill: "stack", borderWidth: 1, stack: "time" });
  }

  function iteration_axis() {
    return { type: "linear", title: { display: true, text: "iteration" }, ticks: { maxTicksLimit: 8, precision: 0 } };
  }

  // On a log scale what is 0 or below has no place; a gap is more honest than a floor.
  const positive = (value) => (value > 0 ? value : null);

  function log_axis() {
    return { type: "logarithmic", ticks: { maxTicksLimit: 7, callback: (value) => value.toExponential(0) } };
  }

  function make(id, config) {
    const canvas = document.getElementById(id);
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

  function dress(chart) {
    for (const scale of Object.values(chart.options.scales || {})) {
      scale.grid = { ...scale.grid, color: colour("line") };
      scale.ticks = { ...scale.ticks, color: colour("faint") };
      if (scale.title) scale.title = { ...scale.title, color: colour("faint") };
    }
    const labels = chart.options.plugins.legend.labels;
    labels.color = colour("text");
    labels.boxWidth = 14;
    labels.boxHeight = 10;
    for (const dataset of chart.data.datasets) {
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

  function residual(id) {
    return over_iterations(id, [
      line("residual L1", "generate", (p) => positive(p.residual_l1)),
      line("residual L∞", "producer-idle", (p) => positive(p.residual_linf), { borderDash: [6, 4] }),
    ], log_axis(), scientific);
  }

  function stacked_time(id, kinds_shown) {
    const y = { stacked: true, beginAtZero: true, title: { display: true, text: "ms per step" } };
    return over_iterations(id, kinds_shown.map(area), y, (ms) => duration(ms * 1e6));
  }

  const producer_time = (id) => stacked_time(id, ["generate", "producer_idle"]);
  const analyzer_time = (id) => stacked_time(id, ["transfer", "commit", "analyze", "analyzer_idle"]);

  function share(point, kind, others) {
    const whole = [kind, ...others].reduce((sum, k) => sum + point[`${k}_ns`], 0);
    return whole > 0 ? (100 * point[`${kind}_ns`]) / whole : null;
  }

  function waiting(id) {
    return over_iterations(id, [
      line("producer waits for the analyzer", "producer-idle", (p) => share(p, "producer_idle", ["generate"])),
      line("analyzer waits for the producer", "generate",
        (p) => share(p, "analyzer_idle", ["transfer", "commit", "analyze"]), { borderDash: [6, 4] }),
    ], { min: 0, max: 100, title: { display: true, text: "% of the step" } }, (value) => `${value.toFixed(1)} %`);
  }

  function reductions(id) {
    const of = (key) => (p) => positive(p.reductions[key]);
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
          x: { type: "logarithmic", ticks: { maxTicksLimit: 6, maxRotation: 0, callback: decade } },
          y: {},
        },
        plugins: {
          legend: { display: false, labels: {} },
          tooltip: { callbacks: { label: (item) => duration(item.parsed.x) } },
        },
      },
    });
  }

  // 1, 10, 100 … only: between them the numbers would touch each other.
  function decade(ns) {
    return Number.isInteger(Math.log10(ns)) ? duration(ns).replace(".00", "").replace(/(\d)\.0 /, "$1 ") : "";
  }

  function show_steps(chart, points) {
    for (const dataset of chart.data.datasets) {
      dataset.data = points.map((point) => {
        const value = dataset.value(point);
        return { x: point.iteration, y: value === null ? NaN : value, exact: value };
      });
    }
    const x = chart.options.scales.x;
    x.min = points.length ? points[0].iteration : undefined;
    x.max = points.length > 1 ? points[points.length - 1].iteration : undefined;
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

  return { analyzer_time, hand_off, producer_time, reductions, residual, show_hand_off, show_steps, waiting };
})();
