// SPDX-License-Identifier: BSD-3-Clause
// Parts that the page and a report show in the same way, except charts. Texts are set as text, because a matrix may
// have any name.
"use strict";
ringside.view = (() => {
  const { bytes, count, duration, instant } = ringside.format;

  function text(id, value) {
    document.getElementById(id).textContent = value;
  }

  function element(name, value, classes = "") {
    const made = document.createElement(name);
    made.textContent = value;
    if (classes) made.className = classes;
    return made;
  }

  // cells: texts or elements. classes: of each text.
  function row(cells, kind = "td", classes = []) {
    const made = element("tr", "");
    made.append(...cells.map((cell, i) => (cell instanceof Node ? cell : element(kind, cell, classes[i]))));
    return made;
  }

  function definitions(id, pairs) {
    const groups = pairs.filter(([, value]) => value !== undefined && value !== "").map(([name, value]) => {
      const group = document.createElement("div");
      if (String(value).length > 80) group.className = "long";
      group.append(element("dt", name), element("dd", value));
      return group;
    });
    document.getElementById(id).replaceChildren(...groups);
  }

  // One vector of doubles, as in the runs of older versions, which have no description of it.
  const is_x_only = ({ schema }) => !schema || (schema.length === 1 && schema[0].name === "x" && schema[0].dtype === "f64"
    && schema[0].shape.length === 1);

  const variable = ({ name, dtype, shape, role, unit }) =>
    `${name} ${dtype}${shape.length ? `[${shape.join(",")}]` : ""}${role === "state" ? " state" : ""}${unit ? ` ${unit}` : ""}`;

  function problem(run) {
    const rows = run && is_x_only(run) ? `, ${count(run.rows)} rows` : "";
    text("problem", run && run.solver ? `${run.solver}${run.matrix ? ` of ${run.matrix}` : ""}${rows}` : "");
  }

  // All variables of a step.
  function step_bytes(run) {
    if (run.payload_bytes !== undefined) return bytes(run.payload_bytes);
    return run.rows === undefined ? "" : bytes(8 * run.rows);
  }

  function state(words, kind) {
    const pill = document.getElementById("state");
    pill.textContent = words;
    pill.className = `state ${kind}`;
  }

  function notice(words, calm = false) {
    const place = document.getElementById("notice");
    place.classList.toggle("calm", calm);
    place.hidden = words === "";
    place.textContent = words;
  }

  function hand_off(times) {
    const pairs = times && times.max !== undefined
      ? [["p50", duration(times.p50)], ["p90", times.p90 === undefined ? "" : duration(times.p90)],
         ["p99", duration(times.p99)], ["max", duration(times.max)]]
      : [];
    definitions("hand-off", pairs);
  }

  function parameters(run, more = []) {
    definitions("parameters", run ? [
      ["solver", run.solver],
      ["matrix", run.matrix],
      ["parameters", run.parameters],
      ["variables", is_x_only(run) ? "" : run.schema.map(variable).join(", ")],
      ["rows", run.rows === undefined || !is_x_only(run) ? "" : count(run.rows)],
      ["nonzeros", !run.nonzeros ? "" : count(run.nonzeros)],
      ["size of an iterate", step_bytes(run)],
      ["started", run.started_s === undefined ? "" : instant(run.started_s)],
      ["continued from iteration", run.from_iteration ? count(run.from_iteration) : ""],
      ["coordination", run.coordination],
      ["buffers", run.buffers],
      ["slots", run.slots],
      ["storage", run.storage],
      ["durability", run.durability],
      ["reduce", run.reduce],
      ["passes", run.passes],
      ["run", run.run_id],
      ["problem", run.problem_id],
      ...more,
    ] : []);
  }

  // How a run ended, in one line, and whether that is "good", "bad", or neither: a run that was stopped on request
  // (130) can be resumed.
  function ending(ended) {
    const words = !ended.how || ended.how === "detached" ? ended.outcome : ended.how.replaceAll("_", " ");
    if (ended.exit_code === 0) return { kind: "good", words: `run ended: ${words}` };
    if (ended.how === "stopped_by_trigger") return { kind: "", words: `run ended: ${words}` };
    if (ended.exit_code === 130) return { kind: "", words: "run ended: stopped on request" };
    return { kind: "bad", words: `run ended: ${words} (exit code ${ended.exit_code})` };
  }

  // The failed plug-ins, a sentence each.
  function plug_in_notices(run) {
    const times = (deaths) => (deaths === 1 ? "once" : `${count(deaths)} times`);
    return ((run && run.plug_ins) || []).filter(({ deaths, left_out }) => deaths > 0 || left_out).map(({ name, deaths, left_out }) =>
      `The plug-in ${name} ${[deaths > 0 && `has ended the analyzer ${times(deaths)}`, left_out && "is left out: its results are absent"]
        .filter(Boolean).join(" and ")}.`);
  }

  return { definitions, element, ending, hand_off, notice, parameters, plug_in_notices, problem, row, state, text };
})();
