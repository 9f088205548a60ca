// SPDX-License-Identifier: BSD-3-Clause
// The image of the live page: asks `ringside serve` for it once a second while the page and the panel are seen. A large
// field is asked for only after the reader has switched that on.
"use strict";
ringside.live_field = (() => {
  const { address, field, format, view } = ringside;

  function make(ask) {
    const panel = document.getElementById("field-panel");
    const select = document.getElementById("field-choice");
    const cell = document.getElementById("field-cell");
    const large = document.getElementById("field-large");
    const { made, draw } = field.figure();
    let known = 0; // the commit that is drawn
    let of_run = "";
    let offered = "";
    let is_seen = true;
    document.getElementById("fields").append(made);
    made.hidden = true;

    function restore() {
      cell.value = address.get("cell") === "mean" ? "mean" : "extreme"; // an address may hold anything
      large.checked = address.get("large") === "1";
      if (offered) select.value = address.get("field") || select.options[0].value;
      known = 0;
    }

    // As cli/pool_view/field_grid: why such a run has no image is worth a word, of another run it is not.
    const has_two_dimensions = (run) => Boolean(run && ((run.matrix || "").startsWith("grid:") || (run.schema || []).some(({ shape }) =>
      shape.length === 2 || (shape.length === 3 && shape.includes(1)))));

    function offer(variables, why, run) {
      const now = variables.map(({ name }) => name).join("\n");
      panel.hidden = variables.length === 0 && !(why && has_two_dimensions(run));
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

    async function refresh(run) {
      if (document.hidden || !is_seen) return;
      if (run && run.run_id !== of_run) known = 0; // the next run may number its commits as the last one did
      of_run = run ? run.run_id : "";
      const wanted = [address.get("field"), cell.value, large.checked].join();
      // An address may hold anything; without a name it is the first one that there is.
      const name = offered.split("\n").includes(address.get("field")) ? address.get("field") : "";
      const answer = await ask(`/api/image?variable=${encodeURIComponent(name)}&cell=${cell.value}`
        + `&large=${large.checked ? 1 : 0}&known=${known}`);
      if (wanted !== [address.get("field"), cell.value, large.checked].join()) return; // of an earlier choice
      if (answer.variables.length === 0 && !answer.why) return; // not known yet: what is shown stays, and the focus with it
      offer(answer.variables, answer.why, run);
      view.text("field-why", answer.why ? `There is no image: ${answer.why}.` : "");
      if (answer.why) made.hidden = true;
      if (!answer.image) return;
      made.hidden = false;
      known = answer.image.commit_seq;
      draw(answer.image);
      document.documentElement.dataset.fieldIteration = answer.image.iteration; // as newestSeq
    }

    function choose(key, value) {
      address.set(key, value);
      known = 0;
    }
    select.addEventListener("change", () => choose("field", select.value));
    cell.addEventListener("change", () => choose("cell", cell.value === "extreme" ? "" : cell.value));
    large.addEventListener("change", () => choose("large", large.checked ? "1" : ""));
    address.on_change(restore);
    restore();
    // A hidden panel counts as seen: only an answer shows whether there is a field to draw.
    new IntersectionObserver((seen) => { is_seen = panel.hidden || seen[seen.length - 1].isIntersecting; }).observe(panel);
    return { refresh };
  }

  return { make };
})();
