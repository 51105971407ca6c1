// The logit lens: a row for each depth, a column for each step.

import { cellsOf, chance, depthName, rankInWords, settledAt, wordShown } from "./walks.js";
import { element } from "../kit/view.js";

const KEYS = {
  ArrowRight: [0, 1],
  ArrowLeft: [0, -1],
  ArrowDown: [1, 0],
  ArrowUp: [-1, 0],
  Home: [0, -Infinity],
  End: [0, Infinity],
};

export class WalkLens {
  /** stage: the view; choose: gets the step and the depth of the cell that is clicked. */
  constructor(stage, choose) {
    this.choose = choose;
    this.depth = 1; // whose most probable tokens are listed
    this.table = element("table", { class: "g2h-lens" });
    this.scroll = element("div", { class: "g2h-lensbox" }, this.table);
    this.named = element("div", { class: "g2h-named" });
    const caption = element(
      "p",
      { class: "g2h-caption" },
      element("b", {}, "Logit lens"),
      ": the most probable token if the final norm and the output projection follow each block directly. " +
        "The embedding and the first block often give the input token of the step, because input and output share one matrix.",
    );
    this.node = element("div", { class: "g2h-lensview" }, caption, this.scroll, this.named);
    const on = (type, handler) => stage.listen(this.table, type, handler);
    on("pointerover", (event) => event.pointerType === "mouse" && this.point(event.target));
    on("pointerleave", () => this.name(this.depth, this.step));
    on("focusin", (event) => this.point(event.target));
    on("focusout", () => this.name(this.depth, this.step));
    on("click", (event) => this.press(event.target));
    on("keydown", (event) => this.walk(event));
  }

  placeOf(node) {
    const cell = node.closest?.("button");
    return cell ? [Number(cell.dataset.depth), Number(cell.dataset.step)] : null;
  }

  point(node) {
    const place = this.placeOf(node);
    if (place) this.name(...place);
  }

  press(node) {
    const place = this.placeOf(node);
    if (!place) return;
    [this.depth] = place;
    this.choose(place[1], place[0]);
  }

  walk(event) {
    const [place, move] = [this.placeOf(event.target), KEYS[event.key]];
    if (!place || !move) return;
    event.preventDefault();
    const within = (at, count) => Math.min(Math.max(at, 0), count - 1);
    const depth = within(place[0] + move[0], this.buttons.length);
    this.buttons[depth][within(place[1] + move[1], this.buttons[0].length)].focus();
  }

  show(result) {
    this.result = result;
    this.cells = cellsOf(result);
    const focused = this.table.contains(document.activeElement)
      ? this.placeOf(document.activeElement)
      : null;
    this.buttons = this.cells.map((steps, depth) =>
      steps.map((cell, step) => this.button(cell, depth, step)),
    );
    const rows = this.buttons.map((buttons, depth) =>
      element(
        "tr",
        {},
        element("th", { scope: "row" }, depthName(depth)),
        ...buttons.map((button) => element("td", {}, button)),
      ),
    );
    const steps = this.cells[0].map((_, step) => element("th", { scope: "col" }, String(step + 1)));
    this.heads = steps;
    this.table.replaceChildren(
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "step"), ...steps)),
      element("tbody", {}, ...rows),
    );
    this.depth = Math.min(this.depth, this.cells.length - 1);
    if (focused)
      this.buttons[Math.min(focused[0], this.buttons.length - 1)][
        Math.min(focused[1], steps.length - 1)
      ].focus({ preventScroll: true });
  }

  button({ word, logProb, isFinal }, depth, step) {
    const shown = wordShown(word);
    const told = `${depthName(depth)}, step ${step + 1}: “${shown}”, ${chance(logProb)}${isFinal ? ", same as the final output" : ""}`;
    const node = element(
      "button",
      {
        type: "button",
        class: `g2h-says${isFinal ? " g2h-final" : ""}`,
        tabindex: -1,
        "data-depth": depth,
        "data-step": step,
        "data-prob": Math.exp(logProb).toFixed(6),
        "data-word": word,
        "aria-label": told,
      },
      element("bdi", {}, shown),
      element("small", {}, isFinal ? "✓ " : "", chance(logProb)),
    );
    return node;
  }

  /**
   * Marks the current step, and the cell whose most probable tokens are listed: that of the open
   * box, if it is one of the decoder's.
   */
  mark(step, { stack, block }) {
    if (stack === "decoder") this.depth = block;
    this.step = step;
    this.buttons.forEach((buttons, depth) =>
      buttons.forEach((node, at) => {
        const isChosen = depth === this.depth && at === step;
        node.setAttribute("aria-pressed", isChosen);
        node.tabIndex = isChosen ? 0 : -1;
        node.parentElement.classList.toggle("g2h-now", at === step);
      }),
    );
    this.heads.forEach((node, at) => node.classList.toggle("g2h-now", at === step));
    this.inSight(step);
    this.name(this.depth, step);
  }

  /** Scrolls the table, and only the table, so that a column is in sight. */
  inSight(step) {
    const cell = this.heads[step];
    const [left, right] = [cell.offsetLeft, cell.offsetLeft + cell.offsetWidth];
    const name = this.table.querySelector("th").offsetWidth;
    const { scrollLeft, clientWidth } = this.scroll;
    if (left < scrollLeft + name) this.scroll.scrollLeft = left - name;
    else if (right > scrollLeft + clientWidth) this.scroll.scrollLeft = right - clientWidth;
  }

  /** The most probable tokens of one cell, and the rank of the output token. */
  name(depth, step) {
    const { readouts, target } = this.result;
    const rank = readouts.rank[depth][step];
    const settled = settledAt(this.cells, step);
    const since =
      settled === this.cells.length - 1
        ? "only after the last block"
        : `from ${depthName(settled).replace("after ", "")} onwards`;
    const most = readouts.words[depth][step].map((word, place) => {
      const logProb = readouts.logProbs[depth][step][place];
      const bar = element("i", { class: "g2h-fill" });
      bar.style.width = `${(100 * Math.exp(logProb)).toFixed(1)}%`;
      return element(
        "li",
        {
          "data-prob": Math.exp(logProb).toFixed(6),
          "data-word": word,
          class: word === target[step] ? "g2h-final" : "",
        },
        element("bdi", {}, wordShown(word)),
        element("span", { class: "g2h-bar" }, bar),
        element("span", { class: "g2h-size" }, chance(logProb)),
      );
    });
    const own = element("bdi", {}, `“${wordShown(target[step])}”`);
    const told = element(
      "p",
      {},
      `Step ${step + 1}, ${depthName(depth)}: the output token `,
      own,
      ` has ${rankInWords(rank)} (probability ${chance(readouts.written[depth][step])}); it ranks first ${since}.`,
    );
    this.named.dataset.rank = rank;
    this.named.replaceChildren(told, element("ol", {}, ...most));
  }
}
