// SPDX-License-Identifier: BSD-3-Clause
// The live page: once a second it requests new data from `ringside serve` and shows them. It computes only what it
// shows. If no reply comes, the page reports this and keeps the last state.
"use strict";
(() => {
  const every_ms = 1000;
  const most_points = 3000; // then all points are requested again: the server groups older ones
  const { bytes, count, duration, percent, scientific, short } = ringside.format;
  const { charts, chooser, live_field, marks, result_charts, ring, view } = ringside;
  const { ask, show_failure } = ringside.server;
  const panels = {
    change: charts.change("change-chart"),
    producer: charts.producer_time("producer-chart"),
    analyzer: charts.analyzer_time("analyzer-chart"),
  };
  const hand_off_panel = charts.hand_off("hand-off-chart");
  const chosen = chooser.make(() => redraw());
  const result_panels = result_charts.make(document.getElementById("result-charts"), chosen);
  const image = live_field.make(() => wake());
  let points = []; // each with `of`: the values of the requested results, by name
  let analyses = new Map(); // name: [{ seq, iteration, value }]
  let run_id = null;
  let newest_seq = 0;
  let asked_for = []; // the names of results whose values are in the points
  let shown = null; // the available results

  function forget() {
    points = [];
    analyses = new Map();
    newest_seq = 0;
    asked_for = names_chosen();
  }

  const names_chosen = () => chosen.choices.map(({ name }) => name);

  // An analysis may reply after the step's record has arrived; values already taken are skipped.
  function take_analyses(told) {
    for (const { name, points: more } of told) {
      const known = analyses.get(name) || [];
      const newest = known.length ? known[known.length - 1].seq : 0;
      known.push(...more.filter(([seq]) => seq > newest).map(([seq, iteration, value]) => ({ seq, iteration, value })));
      analyses.set(name, known);
    }
  }

  async function take_steps() {
    for (let more = true; more;) {
      const asked = asked_for;
      const results = asked.length ? `&results=${encodeURIComponent(asked.join(","))}` : "";
      const answer = await ask(`api/steps?from=${newest_seq + 1}${results}`);
      if (asked !== asked_for) continue; // the steps are requested again, with the new results
      const began_anew = answer.run_id !== run_id || answer.newest_seq < newest_seq;
      const was_empty = newest_seq === 0;
      run_id = answer.run_id;
      if (began_anew && !was_empty) {
        forget();
        continue;
      }
      for (const { values, ...step } of answer.steps) {
        points.push({ ...step, of: Object.fromEntries(asked.map((name, i) => [name, values[i]])) });
      }
      take_analyses(answer.analyses);
      if (answer.steps.length) newest_seq = answer.steps[answer.steps.length - 1].seq;
      more = answer.more;
    }
  }

  async function refresh_steps() {
    const before = newest_seq;
    const longest = Math.max(points.length, ...[...analyses.values()].map((known) => known.length));
    if (longest > most_points || names_chosen().some((name) => !asked_for.includes(name))) forget();
    await take_steps();
    show_results();
    if (newest_seq === before && points.length) return;
    charts.show_course(panels.change, points, shown);
    for (const chart of [panels.producer, panels.analyzer]) charts.show_steps(chart, points);
    const is_change = !shown || shown.is_change;
    view.text("course-title", is_change ? "Change" : shown.course);
    view.text("course-hint", is_change ? "L1 and L∞ norm of x_k − x_{k−1}, log scale, over iterations" : "over iterations");
  }

  function show_results() {
    const series_of = (name) => analyses.get(name) || (asked_for.includes(name)
      ? points.map(({ iteration, of }) => ({ iteration, value: of[name] })) : []);
    result_panels.show(series_of, { units: (shown && shown.units) || {}, analyses: (shown && shown.analyses) || {}, steps: points });
  }

  // After the reader's choice: shows available data at once, and requests the rest without waiting for the next turn.
  function redraw() {
    show_results();
    wake();
  }

  function show_choice(status) {
    shown = status.shown;
    if (shown) chosen.offer([...shown.results, ...Object.keys(shown.analyses)], shown.units);
  }

  // Over the newest points that make up about ten seconds.
  function rate(now) {
    const recent = points.filter((point) => point.at_s > now - 10);
    if (recent.length < 2) return "";
    const seconds = recent[recent.length - 1].at_s - recent[0].at_s;
    const steps = recent.slice(1).reduce((sum, point) => sum + point.steps, 0);
    return seconds > 0 ? `${short(steps / seconds)} steps/s` : "";
  }

  function show_tiles(status) {
    const { last, totals, run } = status;
    view.text("iteration", last ? count(last.iteration) : "–");
    view.text("rate", last && !status.ended ? rate(status.now_s) : "");
    const { shown: names } = status;
    view.text("change-title", names && !names.is_change ? names.course : "change L1");
    view.text("change", last ? scientific(last.course) : "–");
    view.text("change-linf", last && last.course_linf !== null ? `L∞ ${scientific(last.course_linf)}` : "");
    view.text("committed", totals ? count(totals.steps_committed) : "–");
    view.text("persisted", totals ? persisted_words(totals, run) : "");
    if (!totals) return;
    const producer = totals.generate_ns + totals.producer_idle_ns;
    const analyzer = totals.transfer_ns + totals.commit_ns + totals.analyze_ns + totals.record_ns + totals.analyzer_idle_ns;
    view.text("producer-idle", percent(totals.producer_idle_ns, producer));
    view.text("producer-idle-time", `${duration(totals.producer_idle_ns)} of ${duration(producer)}`);
    view.text("analyzer-idle", percent(totals.analyzer_idle_ns, analyzer));
    view.text("analyzer-idle-time", `${duration(totals.analyzer_idle_ns)} of ${duration(analyzer)}`);
    const seconds = totals.transfer_ns / 1e9;
    view.text("bandwidth", seconds > 0 ? `${bytes(totals.bytes_transferred / seconds)}/s` : "–");
    view.text("transferred", bytes(totals.bytes_transferred));
  }

  function persisted_words(totals, run) {
    const skipped = totals.steps_skipped > 0 ? `, ${count(totals.steps_skipped)} skipped` : "";
    const persisted = run.durability === "process" ? "kept across the death of processes" : `${count(totals.steps_persisted)} persisted`;
    return persisted + skipped;
  }

  function show_state(status) {
    const { analyzer, ended, run } = status;
    const notices = [];
    if (!analyzer.up && ended) {
      notices.push("The analyzer has ended, too; the page shows its last data.");
    } else if (!analyzer.up) {
      const words = analyzer.was_up ? `The analyzer has been away since ${ringside.format.instant(analyzer.since_s)}` : "No analyzer has sent data yet";
      notices.push(run ? `${words}; the page shows its last data.` : `${words}.`);
    }
    if (analyzer.changes > 0) notices.push(`Another analyzer took over (${analyzer.changes} so far).`);
    if (analyzer.journal_error) notices.push(`The journal is no longer written: ${analyzer.journal_error}.`);
    if (status.totals && status.totals.steps_before > 0) {
      notices.push(`The first ${count(status.totals.steps_before)} steps are no longer in the journal: sums are over the rest.`);
    }
    if (status.totals && status.totals.records_missing > 0) {
      notices.push(`${count(status.totals.records_missing)} committed steps have no record.`);
    }
    notices.push(...view.plug_in_notices(run));
    if (ended && ended.text) notices.push(`The run ended: ${ended.text}`);
    view.notice(notices.join(" "), Boolean(ended) && view.ending(ended).kind !== "bad");
    if (ended) {
      const end = view.ending(ended);
      view.state(end.words, end.kind);
    } else if (!analyzer.up) {
      view.state("analyzer away", "bad");
    } else {
      view.state(run ? "live" : "waiting for a run", "good");
    }
  }

  function show(status) {
    view.problem(status.run);
    show_state(status);
    show_tiles(status);
    ring.show(status);
    marks.show(status.marks, status.run && status.run.run_id);
    charts.show_hand_off(hand_off_panel, status.hand_off_ns);
    view.hand_off(status.hand_off_ns);
    view.parameters(status.run, [["pool", status.analyzer.pool], ["journal", status.analyzer.journal], ["version", status.version]]);
  }

  let wake = () => {};
  let woken = new Promise((then) => { wake = then; });

  async function turn() {
    try {
      const status = await ask("api/status");
      show_choice(status);
      await refresh_steps();
      show(status);
      await image.refresh(status.run);
      // For programs that drive the page: the page shows this reply.
      document.documentElement.dataset.newestSeq = status.newest_seq;
    } catch (error) {
      show_failure(error);
    }
    await Promise.race([woken, new Promise((then) => setTimeout(then, document.hidden ? 5 * every_ms : every_ms))]);
    woken = new Promise((then) => { wake = then; });
    turn();
  }

  turn();
})();
