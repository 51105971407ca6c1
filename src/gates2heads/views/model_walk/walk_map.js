// The model as two rows of boxes: the encoder above, the decoder below.

import { boxesOf, firstWriting, partsInWords, short, wordShown, cellsOf, chance } from "./walks.js";
import { element } from "../kit/view.js";

const STEPS = { ArrowRight: 1, ArrowLeft: -1 };
const ACROSS = { ArrowDown: "decoder", ArrowUp: "encoder" };

export class WalkMap {
  /** stage: the view; choose: gets the number of the box that is clicked. */
  constructor(stage, choose) {
    this.choose = choose;
    this.node = element("div", {
      class: "g2h-map",
      role: "group",
      "aria-label": "blocks of the model",
    });
    stage.listen(this.node, "click", (event) => {
      const box = event.target.closest("button");
      if (box) choose(Number(box.dataset.place));
    });
    stage.listen(this.node, "keydown", (event) => this.walk(event));
  }

  walk(event) {
    const place = Number(event.target.closest("button")?.dataset.place);
    const [step, stack] = [STEPS[event.key], ACROSS[event.key]];
    if (Number.isNaN(place) || !(step || stack)) return;
    event.preventDefault();
    const { block } = this.boxes[place];
    const other = this.boxes.findIndex((box) => box.stack === stack && box.block === block);
    const next = step ? place + step : other;
    if (this.nodes[next]) this.nodes[next].focus();
  }

  show(result) {
    this.result = result;
    this.boxes = boxesOf(result.stages);
    this.sizes = this.boxes.map(({ stages }) => stages.at(-1).after);
    const focused = this.nodes?.indexOf(document.activeElement) ?? -1;
    this.bars = [];
    this.nodes = this.boxes.map((box, place) => this.box(box, place));
    this.said = element("p", { class: "g2h-said" });
    const begin = firstWriting(this.boxes);
    const row = (stack, nodes) =>
      element(
        "div",
        { class: `g2h-stack g2h-${stack}` },
        element("span", { class: "g2h-sidename" }, stack),
        element("div", { class: "g2h-boxes" }, ...nodes),
      );
    const handed = element(
      "p",
      { class: "g2h-handed" },
      "↓ every decoder block projects the encoder output to keys and values of its cross-attention, once",
    );
    this.node.replaceChildren(
      row("encoder", this.nodes.slice(0, begin)),
      handed,
      row("decoder", this.nodes.slice(begin)),
      this.said,
    );
    this.nodes[focused]?.focus({ preventScroll: true });
  }

  box(box, place) {
    const bar = element("i", { class: "g2h-fill" });
    const size = element("span", { class: "g2h-size" });
    this.bars.push({ bar, size });
    return element(
      "button",
      { type: "button", class: "g2h-box", "data-place": place },
      element("span", { class: "g2h-boxname" }, box.name),
      size,
      element("span", { class: "g2h-bar" }, bar),
      element("small", {}, partsInWords(box)),
    );
  }

  /** Marks the open box, and draws how large the vector at hand is when it leaves each box. */
  mark({ place, step, token }) {
    const at = (box, sizes) => sizes[box.stack === "encoder" ? token : step];
    const most = Math.max(...this.boxes.map((box, n) => at(box, this.sizes[n])), 1e-9);
    this.boxes.forEach((box, n) => {
      const size = at(box, this.sizes[n]);
      this.bars[n].bar.style.width = `${((100 * size) / most).toFixed(1)}%`;
      this.bars[n].size.textContent = short(size);
      this.nodes[n].dataset.size = size.toFixed(6);
      this.nodes[n].setAttribute("aria-pressed", n === place);
      this.nodes[n].setAttribute(
        "aria-label",
        `${box.stack}, ${box.name}: output with RMS ${short(size)}`,
      );
    });
    const { word, logProb } = cellsOf(this.result).at(-1)[step];
    this.said.replaceChildren(
      "→ final norm, output projection, softmax: ",
      element("b", {}, element("bdi", {}, `“${wordShown(word)}”`)),
      ` ${chance(logProb)}`,
    );
  }
}
