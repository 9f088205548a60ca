// SPDX-License-Identifier: BSD-3-Clause
// The page of `ringside experiment`: its plots and tables, from the object that --json prints.
"use strict";
(() => {
  const data = ringside.format.parsed(document.getElementById("data").textContent);
  const { count, utc } = ringside.format;
  const { charts, view } = ringside;
  const machine = document.getElementById("machine").closest("section");

  function panel(title) {
    const section = document.createElement("section");
    section.className = "panel wide";
    section.append(view.element("h2", title));
    machine.before(section);
    return section;
  }

  function show_plot(plot, number) {
    if (plot.lines.length === 0) return;
    const place = view.element("div", "", "chart");
    const canvas = document.createElement("canvas");
    canvas.id = `plot-${number}`;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", plot.title);
    place.append(canvas);
    panel(plot.title).append(place);
    charts.plot(canvas.id, plot);
  }

  const lacks = (value) => typeof value === "string" && value.startsWith("n/a: ");

  // A value with its column's number of digits. The reasons of n/a values are below the table.
  function cell(value, column) {
    if (lacks(value)) return "n/a";
    if (typeof value !== "number") return value === null ? "–" : value;
    return column.digits === 0 && Math.abs(value) >= 1e7 ? value.toExponential(3) : value.toFixed(column.digits);
  }

  const is_word = (value) => typeof value === "string" && !lacks(value);

  function machine_value(value) {
    if (Array.isArray(value)) return value.map((number) => number.toFixed(2)).join(" ");
    return typeof value === "number" ? count(value) : utc(String(value));
  }

  function show_table(table) {
    const place = view.element("div", "", "scroll");
    const shown = document.createElement("table");
    const classes = table.columns.map(({ key }) => (table.rows.some((of) => is_word(of[key])) ? "words" : ""));
    shown.append(
      view.row(table.columns.map(({ head, unit }) => (unit ? `${head} (${unit})` : head)), "th", classes),
      ...table.rows.map((of) => view.row(table.columns.map((column) => cell(of[column.key], column)), "td", classes)));
    place.append(shown);
    const lacking = new Map();  // reason -> heads of the columns
    table.rows.forEach((of) => table.columns.filter(({ key }) => lacks(of[key])).forEach(({ key, head }) => {
      lacking.set(of[key], (lacking.get(of[key]) ?? new Set()).add(head));
    }));
    // For whole rows, the columns are not listed.
    const shown_reason = ([reason, heads]) =>
      lacking.size === 1 || heads.size > 3 ? reason : reason.replace("n/a", `n/a (${[...heads].join(", ")})`);
    panel(table.title).append(place, ...[...lacking].map((entry) => view.element("p", shown_reason(entry), "small")));
  }

  view.text("title", `Ringside experiment: ${data.experiment}`);
  view.text("does", data.does);
  view.text("source", data.source);
  view.notice(data.remarks.join(" "), true);
  data.plots.forEach(show_plot);
  Object.values(data.tables).forEach(show_table);
  view.definitions("machine", Object.entries(data.machine).map(([key, value]) => [key.replaceAll("_", " "), machine_value(value)]));
})();
