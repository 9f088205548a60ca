// SPDX-License-Identifier: BSD-3-Clause
// A field of two dimensions as an image. The colours are viridis, by S. van der Walt and N. Smith (CC0): ten evenly
// spaced colours, as in viridisLite 0.4 for R with n = 10, interpolated linearly. It is perceptually uniform, and
// readable by colour-blind people and in grey. Entries that are not finite have a red that viridis lacks.
"use strict";
ringside.field = (() => {
  const { charts, format, view } = ringside;
  const viridis = ["440154", "482878", "3e4a89", "31688e", "26828e", "1f9e89", "35b779", "6dcd59", "b4de2c", "fde725"]
    .map((hex) => [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  const highest = 254; // the level of the maximum
  const not_finite = 255;

  function colour_of(level) {
    const place = (level / highest) * (viridis.length - 1);
    const low = Math.min(Math.floor(place), viridis.length - 2);
    return viridis[low].map((part, i) => Math.round(part + (viridis[low + 1][i] - part) * (place - low)));
  }

  function table() {
    const colours = Array.from({ length: highest + 1 }, (_, level) => colour_of(level));
    colours[not_finite] = charts.colour("not-finite").match(/\w\w/g).map((part) => parseInt(part, 16));
    return colours;
  }

  function draw_cells(canvas, image) {
    const cells = atob(image.cells);
    const colours = table();
    canvas.width = image.image_columns;
    canvas.height = image.image_rows;
    const pixels = new ImageData(image.image_columns, image.image_rows);
    for (let i = 0; i < cells.length; ++i) pixels.data.set([...colours[cells.charCodeAt(i)], 255], 4 * i);
    canvas.getContext("2d").putImageData(pixels, 0, 0);
  }

  function draw_legend(canvas) {
    canvas.width = highest + 1;
    canvas.height = 1;
    const pixels = new ImageData(highest + 1, 1);
    for (let level = 0; level <= highest; ++level) pixels.data.set([...colour_of(level), 255], 4 * level);
    canvas.getContext("2d").putImageData(pixels, 0, 0);
  }

  const words = { extreme: "the entry farthest from the field's mean", mean: "the mean" };

  function caption(image) {
    const notes = [`${image.name}, ${format.count(image.rows)} × ${format.count(image.columns)} ${image.dtype}, iteration ${format.count(image.iteration)}`];
    const high = image.rows / image.image_rows;
    const wide = image.columns / image.image_columns;
    const about = (entries) => (Number.isInteger(entries) ? entries : `about ${entries.toPrecision(2)}`);
    if (high > 1 || wide > 1) notes.push(`a cell shows ${words[image.cell]} of ${about(high)} × ${about(wide)} entries`);
    if (image.dtype.startsWith("c")) notes.push("modulus");
    if (image.not_finite > 0) notes.push(image.not_finite === 1 ? "1 entry is not finite" : `${format.count(image.not_finite)} entries are not finite`);
    return `${notes.join("; ")}.`;
  }

  // Draws into an element with the canvases and texts of a figure; redraws if the colour scheme changes.
  function figure() {
    const made = document.createElement("figure");
    made.className = "field";
    made.innerHTML = `<canvas class="cells" role="img"></canvas>
      <div class="about">
        <div class="scale"><canvas class="colours" aria-hidden="true"></canvas><span class="min"></span><span class="max"></span></div>
        <span class="no"><span class="key"></span>not finite</span>
        <figcaption></figcaption>
      </div>`;
    const part = (selector) => made.querySelector(selector);
    let drawn = null;
    function draw(image) {
      drawn = image;
      const canvas = part(".cells");
      draw_cells(canvas, image);
      draw_legend(part(".colours"));
      // A very long field would appear as a line: its sides are drawn at most 1 to 8, and the caption has the true
      // sizes.
      canvas.style.aspectRatio = String(Math.min(8, Math.max(1 / 8, image.columns / image.rows)));
      canvas.setAttribute("aria-label", `Image of ${caption(image)} From ${format.scientific(image.min)} to ${format.scientific(image.max)}.`);
      const unit = image.unit ? ` ${image.unit}` : "";
      part(".min").textContent = `min ${format.scientific(image.min)}${unit}`;
      part(".max").textContent = `max ${format.scientific(image.max)}${unit}`;
      part(".no").hidden = image.not_finite === 0;
      part("figcaption").textContent = caption(image);
    }
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawn && draw(drawn));
    return { made, draw };
  }

  // The images of a report.
  function show_all(images) {
    document.getElementById("field-panel").hidden = images.length === 0;
    for (const image of images) {
      const { made, draw } = figure();
      document.getElementById("fields").append(made);
      draw(image);
    }
  }

  return { figure, show_all };
})();
