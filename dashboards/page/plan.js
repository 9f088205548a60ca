// SPDX-License-Identifier: BSD-3-Clause
// A plan: the prediction of `ringside plan` for each split of the cores, shown once.
"use strict";
(() => {
  const data = ringside.format.parsed(document.getElementById("data").textContent);
  const { count, duration, instant, percent, utc } = ringside.format;
  const { charts, view } = ringside;
  // Not in minutes: neighbouring splits must differ.
  const seconds = (s) => (s < 1 ? duration(s * 1e9) : s < 1000 ? `${s.toPrecision(4)} s` : `${count(s)} s`);
  const split = (row) => `${row.producer_cores} + ${row.analyzer_cores}`;
  const mode = (row) => `--reduce ${row.reduce}${row.elastic ? ", --elastic" : ""}`;
  const best = data.rows[data.best];
  const splits = [...new Set(data.rows.map(split))];
  const modes = [...new Set(data.rows.map(mode))];
  const colours = ["generate", "analyze", "transfer", "commit"];
  const dashes = [[], [8, 4], [2, 3], [10, 3, 2, 3]];

  const of_mode = (wanted, value) => splits.map((name) => {
    const row = data.rows.find((candidate) => mode(candidate) === wanted && split(candidate) === name);
    return row ? value(row) : null;
  });

  const plugins = () => ({
    legend: { position: "bottom", labels: {} },
    tooltip: { callbacks: { label: (item) => `${item.dataset.label}: ${seconds(item.raw)}` } },
  });

  function predicted() {
    const few = splits.length < 3;
    const sets = modes.flatMap((wanted, i) => {
      const look = { colour_name: colours[i % 4], borderDash: dashes[i % 4], pointStyle: few ? "circle" : "line" };
      const edge = { ...look, borderWidth: 1, borderDash: [1, 3], pointRadius: few ? 2 : 0, edge: true };
      return [
        { ...look, label: wanted, data: of_mode(wanted, (r) => r.total_s), borderWidth: 2, pointRadius: few ? 4 : 2 },
        { ...edge, label: `${wanted}, 5 % of samples`, data: of_mode(wanted, (r) => r.low_s) },
        { ...edge, label: `${wanted}, 95 % of samples`, data: of_mode(wanted, (r) => r.high_s) },
      ];
    });
    const chart = charts.make("total-chart", {
      type: "line",
      data: { labels: splits, datasets: sets },
      options: {
        scales: { x: { title: { display: true, text: "producer + analyzer cores" } },
          y: { beginAtZero: true, title: { display: true, text: "seconds" } } },
        plugins: plugins(),
      },
    });
    chart.options.plugins.legend.labels.filter = (label) => !chart.data.datasets[label.datasetIndex].edge;
    chart.update("none");
  }

  // A single split gives no curve: two bars per mode instead, and a thin line for the interval of the total.
  function predicted_of_one_split() {
    const rows = [...data.rows].sort((a, b) => a.expected_s - b.expected_s);
    const whiskers = {
      id: "whiskers",
      afterDatasetsDraw({ ctx, scales: { x, y } }) {
        ctx.save();
        ctx.strokeStyle = charts.colour("text");
        ctx.lineWidth = 1.5;
        rows.forEach((row, i) => {
          const middle = y.getPixelForValue(i);
          const [low, high] = [row.low_s, row.high_s].map((s) => x.getPixelForValue(s));
          ctx.beginPath();
          for (const end of [low, high]) {
            ctx.moveTo(end, middle - 6);
            ctx.lineTo(end, middle + 6);
          }
          ctx.moveTo(low, middle);
          ctx.lineTo(high, middle);
          ctx.stroke();
        });
        ctx.restore();
      },
    };
    view.text("total-title", `Predicted time with ${splits[0]} cores`);
    view.text("total-hint", "upper bar: producer, lower bar: analyzer; 90 % of the samples end within the thin line");
    const canvas = document.getElementById("total-chart");
    canvas.setAttribute("aria-label", "Predicted working and waiting times of both sides in each mode");
    canvas.parentElement.style.height = `${4 + 4 * rows.length}rem`;
    document.getElementById("parts").hidden = true;  // the bars show them
    charts.make("total-chart", {
      type: "bar",
      plugins: [whiskers],
      data: { labels: rows.map((row) => mode(row).split(", ")), datasets: bars((value) => rows.map(value)) },
      options: {
        indexAxis: "y",
        interaction: { mode: "index", axis: "y", intersect: false },
        scales: { y: { stacked: true, grid: { display: false } },
          x: { stacked: true, beginAtZero: true, suggestedMax: Math.max(...rows.map((row) => row.high_s)),
            title: { display: true, text: "seconds" } } },
        plugins: {
          legend: { position: "bottom", labels: {} },
          tooltip: { callbacks: {
            title: ([item]) => mode(rows[item.dataIndex]),
            label: (item) => `${item.dataset.label}: ${seconds(item.raw)}`,
            footer: ([item]) => {
              const row = rows[item.dataIndex];
              return `total: ${seconds(row.total_s)}, 90 % between ${seconds(row.low_s)} and ${seconds(row.high_s)}`;
            },
          } },
        },
      },
    });
  }

  // How each side uses its time: two stacks.
  function bars(values) {
    const bar = (key, name, stack, colour_name) => ({ label: name, stack, colour_name, data: values((row) => row[`${key}_s`]) });
    return [
      bar("generate", "generate", "producer", "generate"),
      bar("producer_idle", "producer idle", "producer", "producer-idle"),
      bar("transfer", "transfer", "analyzer", "transfer"),
      bar("commit", "commit", "analyzer", "commit"),
      bar("analyze", "analyze", "analyzer", "analyze"),
      bar("analyzer_idle", "analyzer idle", "analyzer", "analyzer-idle"),
    ];
  }

  // Two bars per split, under the chosen mode.
  function parts() {
    const shown = mode(best);
    view.text("parts-hint", `${shown}: left the producer, right the analyzer`);
    charts.make("parts-chart", {
      type: "bar",
      data: { labels: splits, datasets: bars((value) => of_mode(shown, value)) },
      options: {
        scales: { x: { stacked: true, title: { display: true, text: "producer + analyzer cores" } },
          y: { stacked: true, beginAtZero: true, title: { display: true, text: "seconds" } } },
        plugins: plugins(),
      },
    });
  }

  function table() {
    const classes = ["words", "words", "", "", "", "", "", "words"];
    const line = (cells, kind) => view.row(cells, kind, classes);
    const sorted = [...data.rows].sort((a, b) => a.expected_s - b.expected_s);
    document.getElementById("rows").append(
      line(["cores", "mode", "predicted", "expected", "90 % between", "producer idle", "analyzer idle", "limited by"], "th"),
      ...sorted.map((row) => line([split(row), mode(row), seconds(row.total_s), seconds(row.expected_s),
        `${seconds(row.low_s)} to ${seconds(row.high_s)}`, percent(row.producer_idle_s, row.total_s),
        percent(row.analyzer_idle_s, row.total_s), row.bottleneck])));
  }

  const { problem, run } = data;
  view.text("problem", `${problem.solver}${problem.matrix ? ` of ${problem.matrix}` : ""}: ${count(problem.rows)} rows, `
    + `${count(problem.nonzeros)} nonzeros, ${count(run.iterations)} iterations`);
  view.text("choice", `least expected: ${split(best)} cores, ${mode(best)}, ${seconds(best.expected_s)}`);
  if (splits.length === 1) {
    predicted_of_one_split();
  } else {
    predicted();
    parts();
  }
  table();
  view.parameters({}, [["node", data.node], ["figures", data.origin], ["measured", utc(data.measured_at || "not known")],
    ["memory of the slots", data.memory], ["every", count(run.every)], ["passes", count(run.passes)],
    ["buffers", count(run.buffers)], ["slots", count(run.slots)], ["plan written", instant(data.written_s)],
    ["version", data.version]]);
  document.getElementById("remarks").append(...data.remarks.map((remark) => view.element("p", remark, "small")));
})();
