// SPDX-License-Identifier: BSD-3-Clause
// A comparison of two or more runs by `ringside compare`, shown once.
"use strict";
(() => {
  const data = ringside.format.parsed(document.getElementById("data").textContent);
  const { count, duration, instant, percent, scientific, utc } = ringside.format;
  const { charts, view } = ringside;
  const letters = data.runs.map((_, i) => String.fromCharCode(65 + i));
  const seconds = (s) => (s === null ? "–" : duration(s * 1e9));

  function fill(id, head, rows) {
    document.getElementById(id).append(view.row(head, "th"), ...rows.map((cells) => view.row(cells)));
  }

  // Cells with text are aligned left, because readers do not compare their digits.
  function words(id) {
    for (const cell of document.querySelectorAll(`#${id} th, #${id} td`)) cell.classList.add("words");
  }

  function show_runs() {
    fill("runs", ["", "source", "run", "started", "state", "iterations", "last", "notes"], data.runs.map((run, i) => [letters[i],
      run.source, run.run_id ? run.run_id.slice(0, 8) : "–", run.started ? utc(run.started) : "–", run.state || "–",
      count(run.iterations), scientific(run.last), run.notices.join("; ")]));
    words("runs");
  }

  function difference(found, a, b) {
    if (found.kind === "record") {
      return found.results.slice(0, 4).map((result) => `${result.name} is ${result.first} in ${a} and ${result.second} in ${b}`).join("; ")
        + (found.results.length > 4 ? `; ${count(found.results.length - 4)} more results differ` : "");
    }
    const place = found.index.length ? `${found.variable}[${found.index.join(", ")}]` : found.variable;
    const unit = found.distance_unit === "ulps" ? (found.distance === 1 ? " ulp" : " ulps") : " apart";
    const distance = found.distance === null ? "a value is not finite" : `${count(found.distance)}${unit}`;
    return `${place} is ${found.first} in ${a} and ${found.second} in ${b}: ${distance}`
      + `${found.part ? ` in the ${found.part}` : ""}; ${count(found.entries_differing)} of ${count(found.entries)} values differ`;
  }

  function show_differences() {
    fill("differences", ["runs", "first difference", "what differs", "equal before it"], data.pairs.map((pair, i) => {
      const found = pair.first_difference;
      const equal = pair.equal_ranges.map((range) => `${count(range.first_iteration)} to ${count(range.last_iteration)} by ${range.by}`);
      const nothing = [pair.iterates_not_compared, pair.records_not_compared].filter(Boolean).join("; ");
      const b = letters[i + 1];
      return [`${letters[0]} and ${b}`,
        found ? `${found.kind} of iteration ${count(found.iteration)}` : pair.equal ? "none" : "not compared",
        found ? difference(found, letters[0], b) : nothing, equal.join("; ") || "–"];
    }));
    words("differences");
  }

  function show_courses() {
    const shown = data.runs.map((run, i) => ({ label: `${letters[i]} ${run.source}`, points: run.series, look: i }))
      .filter(({ points }) => points.length > 0);
    document.getElementById("course-panel").hidden = shown.length === 0;
    if (shown.length === 0) return;
    const names = [...new Set(data.runs.map((run) => run.course).filter(Boolean))];
    const is_change = data.runs.every((run) => run.course_is_change);
    view.text("course-title", names.length === 1 ? names[0] : "Residual of each");
    view.text("course-hint", is_change ? "log scale" : "");
    const chart = charts.courses("course-chart");
    const over = document.getElementById("over");
    const show = () => charts.show_courses(chart, shown, over.value === "time", is_change);
    over.addEventListener("change", show);
    show();
  }

  function show_residuals() {
    document.getElementById("residuals-panel").hidden = data.residuals.length === 0;
    fill("residuals", ["residual", ...letters.flatMap((letter) => [`${letter} iteration`, `${letter} time`])],
      data.residuals.map(({ residual, reached }) => [scientific(residual),
        ...reached.flatMap((point) => (point ? [count(point.iteration), seconds(point.seconds)] : ["–", "–"]))]));
  }

  function show_times() {
    const lines = [["generate", "generate_s"], ["producer idle", "producer_idle_s"], ["transfer", "transfer_s"],
      ["commit", "commit_s"], ["analyze", "analyze_s"], ["record", "record_s"], ["analyzer idle", "analyzer_idle_s"], ["total", "total_s"]];
    const shares = [["producer idle", "producer_idle_share"], ["analyzer idle", "analyzer_idle_share"]];
    fill("times", ["", ...letters], [
      ...lines.map(([name, key]) => [name, ...data.runs.map(({ times }) => seconds(times[key]))]),
      ...shares.map(([name, key]) => [name, ...data.runs.map(({ times }) => (times[key] === null ? "–" : percent(times[key], 1)))])]);
  }

  function show_facts() {
    const known_once = data.facts_of_one_run > 0 ? `, ${data.facts_of_one_run} known for one run only` : "";
    view.text("facts-hint", `what differs; ${data.facts_equal} equal${known_once}`);
    fill("facts", ["", ...letters], data.facts_differing.map(({ group, name, values }) =>
      [`${group} ${name}`, ...values.map((value) => (value === null ? "–" : String(value)))]));
    words("facts");
  }

  const problem = (data.runs.find((run) => run.facts.problem) || { facts: {} }).facts.problem || {};
  const { same_problem: same } = data;
  view.text("problem", same === false ? "" : [problem.solver, problem.matrix].filter(Boolean).join(" of "));
  view.notice(same === false ? "These are runs of different problems." : "");
  const compared = data.pairs.some((pair) => pair.equal_ranges.length || pair.first_difference);
  view.state(data.equal ? "equal" : compared ? "different" : "not compared step by step", data.equal ? "good" : "");
  show_runs();
  show_differences();
  show_courses();
  show_residuals();
  show_times();
  show_facts();
  view.definitions("parameters", [["written", instant(data.written_s)], ["version", data.version]]);
})();
