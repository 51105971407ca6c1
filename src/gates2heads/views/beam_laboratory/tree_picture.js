// The tree of a search as a picture that can be pressed: columns of candidates, and the ways
// between.

import { CELL, cellInWords, neighbour, signOf, written } from "./search_tree.js";
import { drawn, element } from "../kit/view.js";

const ORDER = { pruned: 0, kept: 1, best: 2 }; // what matters is drawn over the rest
const LEGEND = [
  ["kept", "kept"],
  ["pruned", "pruned"],
  ["ended", "finished"],
];

export class TreePicture {
  /**
   * @param {object} stage with `root` and `listen`; onPress and onPoint receive the index of a node
   */
  constructor(stage, { onPress, onPoint }) {
    this.plane = element("div", { class: "g2h-plane" });
    this.scroll = element("div", { class: "g2h-scroll" }, this.plane);
    this.hidden = element("p", { class: "g2h-legend g2h-hidden-steps" });
    this.legend = element(
      "p",
      { class: "g2h-legend" },
      ...LEGEND.map(([fate, name]) =>
        element("span", {}, element("i", { class: "g2h-cell", "data-fate": fate }), name),
      ),
      element("span", {}, "★ best hypothesis"),
      element("span", {}, "G greedy search"),
      element("span", {}, "▸ forced by you"),
      element("span", {}, "numbers: cumulative log P; “·” marks a token that continues a word"),
    );
    this.node = element(
      "div",
      {
        class: "g2h-tree",
        role: "group",
        "aria-label": "search tree; arrows move, Enter forces the search",
      },
      this.scroll,
      this.hidden,
      this.legend,
    );
    stage.root.append(this.node);
    stage.listen(this.scroll, "scroll", () => this.tellHidden());
    const resizes = new ResizeObserver(() => this.tellHidden());
    resizes.observe(this.scroll);
    stage.undo.push(() => resizes.disconnect());
    const placeOf = (event) => {
      const cell = event.target.closest("button.g2h-cell");
      return cell && Number(cell.dataset.place);
    };
    const heard = (handler) => (event) => {
      const place = placeOf(event);
      if (place !== null) handler(place, event);
    };
    const spot = ({ clientX, clientY }) => `${clientX} ${clientY}`;
    stage.listen(
      this.plane,
      "click",
      heard((place, event) => {
        this.pressed = spot(event);
        onPress(place);
      }),
    );
    stage.listen(
      this.plane,
      "pointerover",
      heard((place, event) => {
        if (spot(event) !== this.pressed) onPoint(place); // else the tree moved, not the pointer
      }),
    );
    stage.listen(
      this.plane,
      "focusin",
      heard((place) => {
        this.rove(place);
        onPoint(place);
      }),
    );
    stage.listen(
      this.plane,
      "keydown",
      heard((place, event) => {
        const next = neighbour(this.layout, this.nodes, place, event.key);
        if (next === null) return;
        event.preventDefault();
        this.buttons.get(next).focus();
      }),
    );
  }

  /** After the next drawing, the keyboard goes on from where the search was forced to. */
  focusSoon() {
    this.isAwaited = true;
  }

  draw(nodes, layout, upTo) {
    const hadFocus = this.plane.contains(document.activeElement);
    Object.assign(this, { nodes, layout, upTo });
    Object.assign(this.plane.style, { width: `${layout.width}px`, height: `${layout.height}px` });
    this.buttons = new Map(layout.cells.map((cell) => [cell.place, this.button(cell)]));
    const heads = Array.from({ length: upTo }, (_, step) => {
      const head = element(
        "span",
        { class: "g2h-head", "aria-hidden": "true" },
        step ? `${step + 1}` : "step 1",
      );
      head.style.left = `${step * (CELL.width + CELL.across)}px`;
      return head;
    });
    this.plane.replaceChildren(this.lines(layout), ...heads, ...this.buttons.values());
    this.tellHidden();
    const forced = layout.cells.findLast((cell) => cell.isForced);
    const start = (forced ?? layout.cells[0])?.place;
    if (start === undefined) return;
    this.rove(start);
    if (this.isAwaited || hadFocus) this.buttons.get(start).focus({ preventScroll: true });
    this.isAwaited = false;
  }

  /** Says which steps lie beyond the right edge: not every browser shows a scrollbar. */
  tellHidden() {
    const { scrollLeft, clientWidth, scrollWidth } = this.scroll;
    const first = Math.floor((scrollLeft + clientWidth) / (CELL.width + CELL.across)) + 1;
    const isHidden = scrollWidth - clientWidth - scrollLeft > CELL.across && first <= this.upTo;
    const steps = first === this.upTo ? `step ${first}` : `steps ${first} to ${this.upTo}`;
    this.hidden.textContent = isHidden ? `Scroll to the right to see ${steps}. →` : "";
  }

  toEnd() {
    this.scroll.scrollLeft = this.scroll.scrollWidth;
  }

  /** One cell is reached by Tab, the others from it by arrows. */
  rove(place) {
    for (const [at, button] of this.buttons) button.tabIndex = at === place ? 0 : -1;
  }

  button(cell) {
    const node = this.nodes[cell.place];
    const sign = signOf(node.piece, node.length === 1);
    const marks = `${cell.isForced ? "▸" : ""}${cell.isBest ? "★" : ""}${cell.isGreedy ? "G" : ""}`;
    const button = element(
      "button",
      {
        type: "button",
        class: "g2h-cell",
        tabindex: -1,
        title: sign.length > 8 ? sign : null,
        "aria-label": cellInWords(node, cell),
        "data-place": cell.place,
        "data-fate": cell.fate,
        "data-log-prob": node.log_prob.toFixed(4),
        "data-best": cell.isBest,
        "data-greedy": cell.isGreedy,
        "data-forced": cell.isForced,
      },
      element("bdi", {}, sign),
      element("small", {}, element("span", {}, marks), written(node.log_prob)),
    );
    Object.assign(button.style, {
      left: `${cell.x}px`,
      top: `${cell.y}px`,
      width: `${CELL.width}px`,
      height: `${CELL.height}px`,
    });
    return button;
  }

  lines({ cells, edges, cuts, width, height }) {
    const svg = drawn("svg", { width, height, "aria-hidden": "true" });
    const at = new Map(cells.map((cell) => [cell.place, cell]));
    const line = (d, kind) => svg.append(drawn("path", { d, class: `g2h-${kind}` }));
    for (const { x, y } of cuts) line(`M${x - 6},${y} h${CELL.width + 12}`, "cut");
    for (const { from, to, kind, isGreedy } of [...edges].sort(
      (a, b) => ORDER[a.kind] - ORDER[b.kind],
    )) {
      const [a, b] = [at.get(from), at.get(to)];
      const [x, y, end] = [a.x + CELL.width, a.y + CELL.height / 2, b.y + CELL.height / 2];
      const bend = x + CELL.across / 2;
      const path = `M${x},${y} C${bend},${y} ${bend},${end} ${b.x},${end}`;
      line(path, kind);
      if (isGreedy) line(path, "greedy");
    }
    return svg;
  }
}
