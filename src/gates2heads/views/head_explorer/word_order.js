// The words of a sentence in a row, to be reordered by mouse, finger or keys.

import { inOrder, isUnmoved, moved, shuffled, unmoved, wordsIn } from "../kit/heads.js";
import { element } from "../kit/view.js";

const STEPS = { ArrowRight: 1, ArrowLeft: -1 };

export class WordOrder {
  /** stage: the view; change: receives each new order. */
  constructor(stage, change) {
    this.change = change;
    this.picked = 0;
    this.row = element("div", {
      class: "g2h-words",
      role: "group",
      lang: "de",
      "aria-label": "word order; the arrow keys select a word, Shift and an arrow key move it",
    });
    const button = (text, action, label) => {
      const node = element("button", { type: "button", "aria-label": label }, text);
      stage.listen(node, "click", action);
      return node;
    };
    this.left = button("←", () => this.move(this.picked, this.picked - 1), "move the word left");
    this.right = button("→", () => this.move(this.picked, this.picked + 1), "move the word right");
    this.shuffle = button("Shuffle the words", () => this.change(shuffled(this.order.length)));
    this.back = button("Original order", () => this.change(unmoved(this.order.length)));
    this.node = element(
      "div",
      { class: "g2h-order" },
      this.row,
      element("div", { class: "g2h-buttons" }, this.shuffle, this.left, this.right, this.back),
    );
    this.hear(stage);
  }

  hear(stage) {
    const on = (type, handler) => stage.listen(this.row, type, handler);
    on("click", (event) => this.pick(this.placeOf(event.target)));
    on("keydown", (event) => this.walk(event));
    on("dragstart", (event) => {
      this.dragged = this.placeOf(event.target);
      event.dataTransfer.setData("text/plain", this.words[this.order[this.dragged]]);
      event.dataTransfer.effectAllowed = "move";
    });
    on("dragover", (event) => this.dragged !== null && event.preventDefault());
    on("drop", (event) => {
      event.preventDefault();
      this.move(this.dragged, this.placeOf(event.target));
    });
    on("dragend", () => (this.dragged = null));
  }

  placeOf(node) {
    const word = node.closest(".g2h-word");
    return word ? Number(word.dataset.place) : null;
  }

  /** Shows a text with its words in an order; both as the view's traits hold them. */
  show(text, order) {
    const { words, end } = wordsIn(text);
    this.words = words;
    this.order =
      inOrder(text, order) === text && order.length !== words.length
        ? unmoved(words.length)
        : order;
    this.picked = Math.min(this.picked, Math.max(words.length - 1, 0));
    const hadFocus = this.row.contains(document.activeElement);
    this.row.replaceChildren(
      ...this.order.map((from, place) => this.wordNode(words[from], place, from)),
      end,
    );
    if (hadFocus) this.row.children[this.picked]?.focus();
    this.mark();
  }

  wordNode(text, place, from) {
    const node = element(
      "button",
      {
        type: "button",
        class: "g2h-word",
        draggable: "true",
        dir: "auto",
        "data-place": place,
      },
      text,
    );
    node.classList.toggle("g2h-moved", from !== place);
    return node;
  }

  mark() {
    [...this.row.children].forEach((node, place) => {
      node.tabIndex = place === this.picked ? 0 : -1;
      node.setAttribute("aria-pressed", place === this.picked);
    });
    const last = this.order.length - 1;
    this.left.disabled = this.picked <= 0;
    this.right.disabled = this.picked >= last;
    this.shuffle.disabled = last < 1;
    this.back.disabled = isUnmoved(this.order);
  }

  pick(place) {
    if (place === null) return;
    this.picked = place;
    this.mark();
  }

  move(from, to) {
    if (from === null || to === null || to < 0 || to >= this.order.length) return;
    this.picked = to;
    this.change(moved(this.order, from, to));
  }

  walk(event) {
    const step = STEPS[event.key];
    const at = this.placeOf(event.target);
    if (!step || at === null) return;
    event.preventDefault();
    if (event.shiftKey) {
      this.move(at, at + step);
      return;
    }
    this.pick(Math.min(Math.max(at + step, 0), this.order.length - 1));
    this.row.children[this.picked].focus();
  }
}
