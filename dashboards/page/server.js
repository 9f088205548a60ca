// SPDX-License-Identifier: BSD-3-Clause
// Requests to `ringside serve`, and the page's output when a request fails. Serve counts as unreachable only if a
// request got no reply; any other error is the page's own, and is shown as such.
"use strict";
ringside.server = (() => {
  const { view } = ringside;

  class NoAnswer extends Error {}

  class Refusal extends Error {
    constructor(answer, message) {
      super(message);
      this.status = answer.status;
      this.retry_after_s = Number(answer.headers.get("Retry-After")) || 0;
    }
  }

  async function answer_of(path) {
    try {
      const answer = await fetch(path, { credentials: "same-origin", cache: "no-store" });
      return [answer, await answer.text()];
    } catch (error) {
      throw new NoAnswer(error.message);
    }
  }

  async function ask(path) {
    const [answer, text] = await answer_of(path);
    if (answer.ok) return ringside.format.parsed(text);
    if (answer.status === 401) throw new Refusal(answer, "the token is no longer valid: open the page with ?token=… again");
    throw new Refusal(answer, answer.status === 503 ? text.trim() : `${path}: ${answer.status}`);
  }

  function show_failure(error) {
    if (error instanceof NoAnswer || error instanceof Refusal) {
      view.state("not connected", "bad");
      view.notice(error instanceof NoAnswer ? "ringside serve does not answer; the page shows its last data." : error.message);
      return;
    }
    view.state("the page failed", "bad");
    view.notice(`This page has a fault, and does not show all data of ringside serve: ${error.message}`);
    console.error(error);
  }

  return { NoAnswer, Refusal, ask, show_failure };
})();
