// SPDX-License-Identifier: BSD-3-Clause
// A report: the content of a journal, a ring or a summary, as read by `ringside report`, shown once.
"use strict";
(() => {
  const data = ringside.format.parsed(document.getElementById("data").textContent);
  const { count, duration, instant, percent, scientific } = ringside.format;
  const { chooser, charts, field, marks, result_charts, view } = ringside;

  function keyed(name, colour_name) {
    const cell = view.element("td", name);
    const key = view.element("span", "", "key");
    key.style.background = `var(--${colour_name})`;
    cell.prepend(key);
    return cell;
  }

  // The two columns of the account: each side's use of its time.
  function show_account(account) {
    const whole = account.total_ns;
    const line = (name, key) => [keyed(name, key), duration(account[`${key.replace("-", "_")}_ns`]),
      percent(account[`${key.replace("-", "_")}_ns`], whole)];
    const blank = ["", "", ""];
    document.getElementById("account").append(
      view.row(["producer", "", "of the run", "analyzer", "", "of the run"], "th"),
      view.row([...line("generate", "generate"), ...line("transfer", "transfer")]),
      view.row([...blank, ...line("commit", "commit")]),
      view.row([...blank, ...line("analyze", "analyze")]),
      view.row([...line("idle", "producer-idle"), ...line("idle", "analyzer-idle")]));
    const notes = [`${count(account.steps_committed)} steps committed, ${count(account.steps_persisted)} persisted, ${count(account.steps_skipped)} skipped`];
    if (whole > 0) notes.push(`${duration(whole)} in all`);
    if (account.residual_l1 !== null && account.residual_l1 !== undefined) notes.push(`change L1 ${scientific(account.residual_l1)} after iteration ${count(account.iteration)}`);
    view.text("account-note", `${notes.join("; ")}.`);
  }

  function show_kept(kept, hint) {
    const panel = document.getElementById("kept-panel");
    panel.hidden = kept.length === 0;
    view.text("kept-hint", hint);
    document.getElementById("kept").append(
      view.row(["iteration", "step", "mean", "L1", "L∞"], "th"),
      ...kept.map((k) => view.row([count(k.iteration), count(k.step), ...["mean", "l1", "linf"].map((key) => scientific(k[key]))])));
  }

  function show_series(steps) {
    if (steps.length === 0) {
      for (const panel of document.querySelectorAll(".series")) panel.hidden = true;
      return;
    }
    show_course(steps);
    const shown = [
      charts.producer_time("producer-chart"),
      charts.analyzer_time("analyzer-chart"),
      charts.waiting("waiting-chart"),
      charts.reductions("reductions-chart"),
    ];
    for (const chart of shown) charts.show_steps(chart, steps);
    document.getElementById("reductions-panel").hidden = !steps.some((step) => step.reductions);
    const { field } = data.shown;
    if (field && field !== "x") view.text("reductions-hint", `norms of ${field} and of its change, log scale, over iterations`);
  }

  // The run's course, and a chart for each result that the reader chooses.
  function show_course(steps) {
    const { analyses, is_change, course, results, units } = data.shown;
    charts.show_course(charts.change("change-chart"), steps, data.shown);
    view.text("course-title", is_change ? "Change" : course);
    if (!is_change) view.text("course-hint", "over iterations");
    const of_analyses = new Map((data.analyses || []).map(({ name, points }) => [name, points]));
    const series_of = (name) => {
      if (of_analyses.has(name)) return of_analyses.get(name).map(([, iteration, value]) => ({ iteration, value }));
      const index = results.indexOf(name);
      return index < 0 ? [] : steps.map(({ iteration, values }) => ({ iteration, value: values[index] }));
    };
    const chosen = chooser.make(() => panels.show(series_of, { units, analyses, steps }));
    const panels = result_charts.make(document.getElementById("result-charts"), chosen);
    chosen.offer([...results, ...of_analyses.keys()], units);
    panels.show(series_of, { units, analyses, steps });
  }

  view.problem(data.run);
  if (data.ended) {
    const end = view.ending(data.ended);
    view.state(end.words, end.kind);
  } else {
    view.state(data.state, "");
  }
  const plug_ins = view.plug_in_notices(data.run);
  view.notice([...plug_ins, ...data.notices].join(" "), plug_ins.length === 0);
  show_account(data.account);
  show_series(data.steps);
  marks.show(data.marks, data.run.run_id);
  field.show_all(data.images);
  show_kept(data.kept, data.kept_hint);
  view.hand_off(data.hand_off_ns);
  document.getElementById("hand-off-panel").hidden = !data.hand_off_ns;
  const { planned } = data.run;
  const measured_ns = planned && data.account.steps_committed > 0 ? data.account.total_ns / data.account.steps_committed : null;
  const plan = planned ? `${duration(planned.step_ns)} a step (${duration(planned.low_ns)} to ${duration(planned.high_ns)})`
    + `, measured ${duration(measured_ns)}` : "";
  view.parameters(data.run, [["planned", plan], ["from", data.source], ["report written", instant(data.written_s)], ["version", data.version]]);
})();
