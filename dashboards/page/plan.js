// SPDX-License-Identifier: BSD-3-Clause
// A plan: what `ringside plan` predicted for each split of the cores, shown once.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { count, duration, instant, percent } = ringside.format;
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
        plugins: {
          legend: { position: "bottom", labels: {} },
          tooltip: { callbacks: { label: (item) => `${item.dataset.label}: ${seconds(item.raw)}` } },
        },
      },
    });
    chart.options.plugins.legend.labels.filter = (label) => !chart.data.datasets[label.datasetIndex].edge;
    chart.update("none");
  }

  // Two bars a split: what each side does with its time, under the mode that was chosen.
  function parts() {
    const shown = mode(best);
    view.text("parts-hint", `${shown}: left the producer, right the analyzer`);
    const bar = (key, name, stack, colour_name) => ({
      label: name, stack, colour_name, data: of_mode(shown, (row) => row[`${key}_s`]),
    });
    charts.make("parts-chart", {
      type: "bar",
      data: {
        labels: splits,
        datasets: [
          bar("generate", "generate", "producer", "generate"),
          bar("producer_idle", "producer idle", "producer", "producer-idle"),
          bar("transfer", "transfer", "analyzer", "transfer"),
          bar("commit", "commit", "analyzer", "commit"),
          bar("analyze", "analyze", "analyzer", "analyze"),
          bar("analyzer_idle", "analyzer idle", "analyzer", "analyzer-idle"),
        ],
      },
      options: {
        scales: { x: { stacked: true, title: { display: true, text: "producer + analyzer cores" } },
          y: { stacked: true, beginAtZero: true, title: { display: true, text: "seconds" } } },
        plugins: {
          legend: { position: "bottom", labels: {} },
          tooltip: { callbacks: { label: (item) => `${item.dataset.label}: ${seconds(item.raw)}` } },
        },
      },
    });
  }

  function table() {
    const line = (cells, kind = "td") => {
      const row = document.createElement("tr");
      row.append(...cells.map((cell) => view.element(kind, cell)));
      return row;
    };
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
  predicted();
  parts();
  table();
  view.parameters({}, [["node", data.node], ["figures", data.origin], ["measured", data.measured_at || "not known"],
    ["memory of the slots", data.memory], ["every", count(run.every)], ["passes", count(run.passes)],
    ["buffers", count(run.buffers)], ["slots", count(run.slots)], ["plan written", instant(data.written_s)],
    ["version", data.version]]);
  view.text("remarks", data.remarks.map((remark) => `${remark}.`).join(" "));
})();
