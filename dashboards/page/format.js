// SPDX-License-Identifier: BSD-3-Clause
// Figures in readable form, with their units.
"use strict";
window.ringside = window.ringside || {};
ringside.format = (() => {
  const known = (value) => typeof value === "number" && Number.isFinite(value);

  // Three digits, or all digits before the point: toPrecision alone returns "3.47e+3" for 3471.
  function short(value) {
    return value >= 999.5 ? count(value) : value.toPrecision(3);
  }

  function duration(ns) {
    if (!known(ns)) return "–";
    if (ns < 1e3) return `${Math.round(ns)} ns`;
    if (ns < 1e6) return `${short(ns / 1e3)} µs`;
    if (ns < 1e9) return `${short(ns / 1e6)} ms`;
    if (ns < 120e9) return `${short(ns / 1e9)} s`;
    const minutes = Math.floor(ns / 60e9);
    return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  }

  function count(value) {
    return known(value) ? Math.round(value).toLocaleString("en-US") : "–";
  }

  function scientific(value) {
    if (!known(value)) return "–";
    return value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e6) ? value.toExponential(3) : String(Number(value.toPrecision(6)));
  }

  function bytes(value) {
    if (!known(value)) return "–";
    const units = ["B", "kB", "MB", "GB", "TB", "PB"];
    let unit = 0;
    for (; value >= 1000 && unit < units.length - 1; ++unit) value /= 1000;
    return `${unit === 0 ? value : short(value)} ${units[unit]}`;
  }

  function percent(part, whole) {
    return known(part) && whole > 0 ? `${((100 * part) / whole).toFixed(1)} %` : "–";
  }

  function instant(seconds) {
    return seconds > 0 ? `${new Date(seconds * 1000).toISOString().slice(0, 19).replace("T", " ")} UTC` : "–";
  }

  // "2026-11-23T03:51:00Z", as in JSON.
  const utc = (text) => text.replace(/^([\d-]+)T([\d:]+)Z$/, "$1 $2 UTC");

  // JSON of serve or of a report. In foreign names, invisible characters that reorder or hide the text around them are
  // shown as escapes: the characters and the form of common/platform/printable.hpp. In JSON they occur only within
  // strings.
  const invisible = /[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e007f}]/gu;
  function parsed(json) {
    return JSON.parse(json.replace(invisible, (character) => {
      const code = character.codePointAt(0);
      return code > 0xffff ? `\\\\U${code.toString(16).padStart(8, "0")}` : `\\\\u${code.toString(16).padStart(4, "0")}`;
    }));
  }

  return { bytes, count, duration, instant, parsed, percent, scientific, short, utc };
})();
