// SPDX-License-Identifier: BSD-3-Clause
// The page of runs: lists the runs that `ringside serve --runs` finds, draws the courses of chosen runs in one chart,
// and links to each run's report.
"use strict";
(() => {
  const every_ms = 2000;
  const most_chosen = 12; // distinguishable lines
  const { count, duration, instant, percent, scientific } = ringside.format;
  const { charts, view } = ringside;
  const { ask, show_failure } = ringside.server;
  const chart = charts.courses("course-chart");
  const over = document.getElementById("over");
  const chosen = new Map(); // key -> { look, course, stamp }
  let runs = [];
  let sorted_by = "started";
  let descending = true;

  const share = (value) => (value === null ? "–" : percent(value, 1));
  const columns = [
    { id: "name", title: "pool", value: (run) => run.name },
    { id: "problem", title: "problem", value: (run) => [run.solver, run.matrix].filter(Boolean).join(" of ") },
    { id: "state", title: "state", value: (run) => run.state },
    { id: "iteration", title: "iteration", value: (run) => run.iteration, text: count },
    { id: "last", title: "residual", value: (run) => run.last, text: scientific },
    { id: "time", title: "time", value: (run) => run.elapsed_ns, text: duration },
    { id: "producer", title: "producer idle", value: (run) => run.producer_idle_share, text: share },
    { id: "analyzer", title: "analyzer idle", value: (run) => run.analyzer_idle_share, text: share },
    { id: "started", title: "started", value: (run) => run.started_s, text: instant },
  ];

  function sort_by(id) {
    descending = sorted_by === id ? !descending : false;
    sorted_by = id;
    show_table();
  }

  function show_head() {
    const row = document.createElement("tr");
    row.append(view.element("th", "chart"));
    for (const { id, title } of columns) {
      const cell = document.createElement("th");
      if (id === "problem" || id === "state") cell.className = "words";
      const button = view.element("button", title);
      button.id = `sort-${id}`;
      button.type = "button";
      button.addEventListener("click", () => sort_by(id));
      cell.append(button);
      row.append(cell);
    }
    document.getElementById("head").replaceChildren(row);
  }

  function in_order() {
    const { value } = columns.find(({ id }) => id === sorted_by);
    const less = (a, b) => (typeof a === "string" ? a.localeCompare(b) : a - b);
    return [...runs].sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      if (x === null || y === null) return (x === null) - (y === null); // unknown values come last
      return descending ? less(y, x) : less(x, y);
    });
  }

  // Rows are made once and then moved, so that a control keeps the keyboard's focus.
  const rows = new Map();
  function row_of(run) {
    if (rows.has(run.key)) return rows.get(run.key);
    const row = document.createElement("tr");
    const box = document.createElement("input");
    box.type = "checkbox";
    box.setAttribute("aria-label", `draw ${run.name} ${run.run_id.slice(0, 8)}`);
    box.addEventListener("change", () => choose(run.key, box).catch(show_failure));
    const place = document.createElement("td");
    place.append(box);
    row.append(place, ...columns.map(() => document.createElement("td")));
    const link = view.element("a", run.name);
    link.href = `report?run=${run.key}`;
    row.children[1].append(link);
    for (const i of [2, 3]) row.children[i].className = "words";
    rows.set(run.key, row);
    return row;
  }

  function show_table() {
    document.querySelectorAll("#head th").forEach((cell, i) => {
      const is_sorted = i > 0 && columns[i - 1].id === sorted_by;
      cell.setAttribute("aria-sort", is_sorted ? (descending ? "descending" : "ascending") : "none");
    });
    const shown = in_order().map((run) => {
      const row = row_of(run);
      columns.forEach(({ id, value, text }, i) => {
        const words = text ? text(value(run)) : value(run);
        if (id !== "name") row.children[i + 1].textContent = words;
      });
      return row;
    });
    const body = document.getElementById("runs");
    if (shown.length !== body.children.length || shown.some((row, i) => body.children[i] !== row)) {
      const focused = document.activeElement;
      body.replaceChildren(...shown);
      if (body.contains(focused)) focused.focus();
    }
    view.text("runs-hint", `${count(runs.length)}, ${count(runs.filter((run) => run.state === "running").length)} running`);
  }

  async function choose(key, box) {
    if (!box.checked) {
      chosen.delete(key);
    } else if (chosen.size >= most_chosen) {
      box.checked = false;
      view.notice(`At most ${most_chosen} runs are drawn at once.`, true);
      return;
    } else {
      const looks = new Set([...chosen.values()].map(({ look }) => look));
      let look = 0;
      while (looks.has(look)) ++look;
      chosen.set(key, { look, course: [], stamp: "" });
    }
    await refresh_courses();
  }

  async function refresh_courses() {
    for (const [key, one] of chosen) {
      const run = runs.find((candidate) => candidate.key === key);
      if (!run) {
        chosen.delete(key);
      } else if (one.stamp !== `${run.steps}`) {
        one.course = (await ask(`api/course?run=${key}`)).course;
        one.stamp = `${run.steps}`;
      }
    }
    draw();
  }

  function draw() {
    const drawn = [...chosen].map(([key, { look, course }]) => ({ run: runs.find((run) => run.key === key), look, course }))
      .filter(({ run }) => run);
    charts.show_courses(chart, drawn.map(({ run, look, course }) => ({ label: `${run.name} ${run.run_id.slice(0, 8)}`, points: course, look })),
      over.value === "time", drawn.every(({ run }) => run.course_is_change));
    const names = [...new Set(drawn.map(({ run }) => run.course))];
    view.text("course-hint", drawn.length === 0 ? "choose runs in the table" : names.join(", "));
  }

  async function turn() {
    try {
      const answer = await ask("api/runs");
      runs = answer.runs;
      show_table();
      await refresh_courses();
      view.state("connected", "good");
      const notices = answer.faults.map(({ name, why }) => `${name}: ${why}.`);
      if (answer.left_out) notices.push(`Left out: ${answer.left_out}.`);
      if (runs.length === 0) notices.push("No run was found here.");
      view.notice(notices.join(" "), answer.faults.length === 0);
      document.documentElement.dataset.runs = runs.length;
    } catch (error) {
      show_failure(error);
    }
    setTimeout(turn, document.hidden ? 5 * every_ms : every_ms);
  }

  over.addEventListener("change", draw);
  show_head();
  turn();
})();
