// The attention weights as a map: a row for each output character, a column for each of the source.

import { rowOf, sign } from "./readings.js";
import { element } from "../kit/view.js";

const [LEAST_CELL, MOST_CELL] = [8, 24]; // pixels
const LEGIBLE = 10; // below this many pixels a cell names only the row and column in question

export class WeightMap {
  /** @param callbacks onStep(step), for a row that was clicked, and listen(node, event, handler) */
  constructor({ onStep, listen }) {
    this.canvas = element("canvas", { "aria-hidden": "true" });
    this.columns = element("div", { class: "g2h-columns", "aria-hidden": "true" });
    this.labels = element("div", { class: "g2h-rows" });
    this.scroll = element(
      "div",
      {
        class: "g2h-scroll",
        tabindex: 0,
        role: "group",
        "aria-label": "attention weights; the up and down arrow keys change the step",
      },
      element("div", { class: "g2h-plane" }, this.columns, this.canvas),
    );
    this.map = element("div", { class: "g2h-map" }, this.labels, this.scroll);
    this.noMap = element(
      "p",
      { class: "g2h-nothing" },
      "This model has no attention, so there are no weights to show. Its decoder sees the source only through the last states of the encoder.",
    );
    this.key = element(
      "p",
      { class: "g2h-legend g2h-key" },
      "One row per output character, one column per source character; the stronger the colour, the larger the weight. ␣ is a space, ∎ the end of the sequence. An encoder state also depends on the neighbouring characters, so attending to a neighbour is not an error.",
    );
    this.nodes = [this.map, this.key, this.noMap];
    listen(this.canvas, "pointerdown", (event) => onStep(this.stepAt(event)));
    listen(this.canvas, "pointermove", (event) => this.point(event));
    listen(this.canvas, "pointerleave", () => this.point(null));
    listen(this.labels, "click", (event) => {
      const row = event.target.closest("[data-step]");
      if (row) onStep(Number(row.dataset.step));
    });
    listen(this.scroll, "keydown", (event) => {
      const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      onStep(this.step + by);
    });
  }

  stepAt(event) {
    return Math.floor(event.offsetY / this.cell);
  }

  /** Draws the weights of a result, if it has any, with one step marked. */
  draw(result, step) {
    Object.assign(this, { result, step });
    this.map.hidden = this.key.hidden = !result.weights;
    this.noMap.hidden = Boolean(result.weights);
    if (!result.weights || !this.scroll.clientWidth) return;
    const [rows, columns] = result.weights.shape;
    this.cell = Math.min(
      Math.max(Math.floor(this.scroll.clientWidth / columns), LEAST_CELL),
      MOST_CELL,
    );
    this.map.style.setProperty("--g2h-cell", `${this.cell}px`);
    const isDense = this.cell < LEGIBLE;
    this.map.classList.toggle("g2h-dense", isDense);
    const most = rowOf(result.weights, step);
    const largest = most.indexOf(Math.max(...most));
    const named = (token, isNamed) => (isDense && !isNamed ? "" : sign(token));
    this.columns.replaceChildren(
      ...result.source.map((token, at) => element("span", {}, named(token, at === largest))),
    );
    this.labels.replaceChildren(
      ...result.target.map((token, row) =>
        element(
          "span",
          { "data-step": row, class: row === step ? "g2h-now" : null },
          named(token, row === step),
        ),
      ),
    );
    const ratio = globalThis.devicePixelRatio || 1;
    Object.assign(this.canvas, {
      width: columns * this.cell * ratio,
      height: rows * this.cell * ratio,
    });
    Object.assign(this.canvas.style, {
      width: `${columns * this.cell}px`,
      height: `${rows * this.cell}px`,
    });
    const pen = this.canvas.getContext("2d");
    const style = getComputedStyle(this.scroll);
    pen.scale(ratio, ratio);
    pen.fillStyle = style.getPropertyValue("color"); // the sheet gives the region the map's colour
    for (let t = 0; t < rows; t++) {
      for (let s = 0; s < columns; s++) {
        pen.globalAlpha = Math.min(0.04 + result.weights.data[t * columns + s], 1);
        pen.fillRect(s * this.cell, t * this.cell, this.cell - 1, this.cell - 1);
      }
    }
    pen.globalAlpha = 1;
    pen.strokeStyle = style.outlineColor;
    pen.lineWidth = 2;
    pen.strokeRect(1, step * this.cell, columns * this.cell - 3, this.cell - 1);
    this.canvas.dataset.step = step;
    this.comeIntoView(rowOf(result.weights, step));
  }

  /** On a narrow page the map scrolls: to the column with most weight, if it is out of sight. */
  comeIntoView(weights) {
    const left = weights.indexOf(Math.max(...weights)) * this.cell;
    const { scrollLeft, clientWidth } = this.scroll;
    if (left >= scrollLeft && left + this.cell <= scrollLeft + clientWidth) return;
    this.scroll.scrollLeft = left - clientWidth / 2;
  }

  point(event) {
    if (!event || !this.result?.weights) return (this.canvas.title = "");
    const [rows, columns] = this.result.weights.shape;
    const [t, s] = [this.stepAt(event), Math.floor(event.offsetX / this.cell)];
    if (t >= rows || s >= columns || s < 0 || t < 0) return;
    const weight = this.result.weights.data[t * columns + s];
    this.canvas.title = `${sign(this.result.target[t])} attends to ${sign(this.result.source[s])}: ${weight.toFixed(3)}`;
  }
}
