// SPDX-License-Identifier: BSD-3-Clause
// The image of the live page: requested from `ringside serve` once a second while the page and the panel are visible. A
// large field is requested only after the reader has enabled it.
"use strict";
ringside.live_field = (() => {
  const { address, field, format, server, view } = ringside;

  // wake(): called when a newly wanted image is needed.
  function make(wake) {
    const panel = document.getElementById("field-panel");
    const select = document.getElementById("field-choice");
    const cell = document.getElementById("field-cell");
    const large = document.getElementById("field-large");
    const { made, draw } = field.figure();
    let known = 0; // the drawn commit
    let of_run = "";
    let offered = "";
    let is_seen = false; // until the panel comes into view: serve makes images only on request
    let refused_until = 0;
    document.getElementById("fields").append(made);
    made.hidden = true;
    for (const control of [select, cell, large]) control.parentElement.hidden = true;

    function restore() {
      cell.value = address.get("cell") === "mean" ? "mean" : "extreme"; // an address may hold anything
      large.checked = address.get("large") === "1";
      if (offered) select.value = address.get("field") || select.options[0].value;
      known = 0;
      refused_until = 0;
    }

    // As in cli/pool_view/field_image. The page explains a missing image only for such a run.
    const has_two_dimensions = (run) => Boolean(run && ((run.matrix || "").startsWith("grid:") || (run.schema || []).some(({ shape }) =>
      shape.length === 2 || (shape.length === 3 && shape.includes(1)))));

    function offer(variables) {
      const now = variables.map(({ name }) => name).join("\n");
      cell.parentElement.hidden = variables.length === 0;
      if (now !== offered) {
        offered = now;
        select.replaceChildren(...variables.map(({ name }) => new Option(name)));
        restore();
      }
      select.parentElement.hidden = variables.length < 2;
      const chosen = variables.find(({ name }) => name === select.value);
      large.parentElement.hidden = !variables.some((one) => one.large);
      const waits = chosen && chosen.large && !large.checked;
      view.text("field-hint", waits ? `${format.count(chosen.rows * chosen.columns)} entries: not drawn unless you switch it on, because reading them takes memory bandwidth`
        : "of the newest iterate, at most once a second");
      if (waits) made.hidden = true;
    }

    function say_why(why) {
      view.text("field-why", why ? `There is no image: ${why}.` : "");
      if (!why) return;
      made.hidden = true;
      known = 0;
    }

    const choice = () => [address.get("field"), cell.value, large.checked].join();

    // Nothing if serve can make no more kinds of images now; the rest of the page continues.
    async function answer_of(path, wanted) {
      try {
        return await server.ask(path);
      } catch (error) {
        if (!(error instanceof server.Refusal) || error.status !== 503) throw error;
        if (wanted === choice()) {
          say_why(error.message);
          refused_until = performance.now() + 1000 * error.retry_after_s;
        }
        return null;
      }
    }

    async function refresh(run) {
      if (run && run.run_id !== of_run) known = 0; // the next run may use the same commit numbers
      of_run = run ? run.run_id : "";
      panel.hidden = !has_two_dimensions(run);
      if (document.hidden || !is_seen || panel.hidden || performance.now() < refused_until) return;
      const wanted = choice();
      // An address may contain anything; without a name, the first field is chosen.
      const name = offered.split("\n").includes(address.get("field")) ? address.get("field") : "";
      const answer = await answer_of(`api/image?variable=${encodeURIComponent(name)}&cell=${cell.value}`
        + `&large=${large.checked ? 1 : 0}&known=${known}`, wanted);
      if (!answer || wanted !== choice()) return; // for an earlier choice
      if (answer.variables.length === 0 && !answer.why) return; // not known yet: the image and the focus remain
      offer(answer.variables);
      say_why(answer.why);
      if (!answer.image) return;
      made.hidden = false;
      known = answer.image.commit_seq;
      draw(answer.image);
      document.documentElement.dataset.fieldIteration = answer.image.iteration; // as newestSeq
    }

    function choose(key, value) {
      address.set(key, value);
      known = 0;
      refused_until = 0;
      wake();
    }
    select.addEventListener("change", () => choose("field", select.value));
    cell.addEventListener("change", () => choose("cell", cell.value === "extreme" ? "" : cell.value));
    large.addEventListener("change", () => choose("large", large.checked ? "1" : ""));
    address.on_change(restore);
    restore();
    new IntersectionObserver((seen) => {
      is_seen = seen[seen.length - 1].isIntersecting;
      if (is_seen) wake();
    }).observe(panel);
    return { refresh };
  }

  return { make };
})();
