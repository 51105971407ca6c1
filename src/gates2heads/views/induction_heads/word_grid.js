// The words of an answer in a grid, one of them selected, with a panel of what comes next.

import { share } from "../kit/shares.js";
import { element, inside } from "../kit/view.js";
import { kindsOf, secondHalf, shade, wordNamed } from "./repeats.js";

const LEAST = 0.05; // a smaller weight has no number on its word

let grids = 0; // on this page, so that each names its words in its own way

export class WordGrid {
  /** stage: the view; pick: receives the position of the selected word. */
  constructor(stage, pick) {
    this.number = ++grids;
    this.pick = pick;
    this.picture = element("div", {
      class: "g2h-words g2h-dim",
      role: "listbox",
      tabindex: 0,
      lang: "en",
      "aria-label": "words, with their surprisal and the attention that they receive",
    });
    this.pointed = element("p", { class: "g2h-pointed" });
    this.panel = element("div", {
      class: "g2h-panel g2h-dim",
      role: "group",
      "aria-label": "the most probable next words",
    });
    const words = element("div", {}, this.picture, this.pointed);
    this.node = element("div", { class: "g2h-both" }, words, this.panel);
    const on = (type, handler) => stage.listen(this.picture, type, handler);
    on("keydown", (event) => this.walk(event));
    on("click", ({ target }) => this.press(target));
    on("pointerover", ({ target }) => this.point(target));
    on("pointerleave", () => this.point(null));
  }

  /** Shows an answer, with a row of weights: what the selected word attends to. */
  show(answer, row, word) {
    Object.assign(this, { now: answer, row, word });
    const { tokens } = answer;
    const [kinds, half] = [kindsOf(tokens), secondHalf(tokens)];
    this.nodes = tokens.map((token, at) => this.wordNode(token, at, kinds[at], at === half));
    this.picture.replaceChildren(...this.nodes);
    this.picture.setAttribute("aria-activedescendant", this.idOf(word));
    this.drawPanel(word);
    this.point(null);
  }

  idOf(at) {
    return `g2h-induction-${this.number}-${at}`;
  }

  wordNode(token, at, kind, begins) {
    const weight = this.row[at];
    const bits = at ? this.now.bits[at - 1] : 0;
    const attributes = {
      class: "g2h-word",
      role: "option",
      id: this.idOf(at),
      "data-at": at,
      "data-bits": at ? bits : null,
      "data-weight": weight.toFixed(6),
      "data-kind": kind,
      "data-begins": begins && "",
      "aria-selected": at === this.word && "true",
      "aria-label": this.inWordsOf(at),
      style: `--g2h-bits: ${(100 * shade(bits)).toFixed(0)}%; --g2h-weight: ${(100 * weight).toFixed(1)}%`,
    };
    const number = weight >= LEAST ? weight.toFixed(2) : "\u00a0";
    return element(
      "span",
      attributes,
      element("span", {}, wordNamed(token)),
      element("small", {}, number),
      element("i", { "aria-hidden": "true" }),
    );
  }

  /** A word in numbers. */
  inWordsOf(at) {
    const { tokens, bits } = this.now;
    const received = `attention weight ${share(this.row[at])}`;
    if (!at) return `start of the sequence: ${received}`;
    return `${tokens[at]}, word ${at}: ${bits[at - 1].toFixed(1)} bits, ${received}`;
  }

  /** The five most probable next words, and the next word of the text. */
  drawPanel(at) {
    const { tokens, bits, top } = this.now;
    const actual = tokens[at + 1];
    const rows = top[at].map(([word, prob]) => this.line(word, prob, word === actual));
    const isListed = actual === undefined || top[at].some(([word]) => word === actual);
    if (!isListed) rows.push(this.line(actual, 2 ** -bits[at], true));
    this.panel.dataset.at = at;
    this.panel.replaceChildren(
      element(
        "p",
        { class: "g2h-name" },
        at ? `after word ${at}, “${tokens[at]}”` : "at the start",
      ),
      element("p", { class: "g2h-told" }, "most probable next words; ▸ next word of the text"),
      ...rows,
    );
  }

  line(word, prob, isActual) {
    const attributes = {
      class: "g2h-row",
      "data-piece": word,
      "data-prob": prob,
      "data-actual": isActual && "",
      style: `--g2h-share: ${(100 * prob).toFixed(2)}%`,
    };
    const name = element("span", {}, isActual ? `▸ ${word}` : word);
    return element("p", attributes, name, element("span", {}, share(prob)));
  }

  // ---- pointing and walking

  placeOf(target) {
    const node = target?.closest?.(".g2h-word");
    return node ? Number(node.dataset.at) : null;
  }

  point(target) {
    const at = this.placeOf(target);
    this.pointed.textContent = at === null ? "\u00a0" : this.inWordsOf(at);
  }

  press(target) {
    const word = this.placeOf(target);
    if (word !== null) this.pick(word);
  }

  walk(event) {
    const { word } = this;
    const to = {
      ArrowLeft: word - 1,
      ArrowRight: word + 1,
      Home: 0,
      End: this.nodes.length - 1,
      ArrowUp: this.lineAway(word, -1),
      ArrowDown: this.lineAway(word, 1),
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.pick(inside(to, this.nodes.length));
    this.nodes[this.word].scrollIntoView({ block: "nearest" });
  }

  /** The word above or below another, nearest to it. */
  lineAway(word, step) {
    const boxes = this.nodes.map((node) => node.getBoundingClientRect());
    const here = boxes[word];
    const rows = [...new Set(boxes.map(({ top }) => top))].sort((a, b) => a - b);
    const row = rows[rows.indexOf(here.top) + step];
    const places = boxes.flatMap(({ top }, at) => (top === row ? [at] : []));
    const apart = (at) => Math.abs(boxes[at].left - here.left);
    return places.length
      ? places.reduce((best, at) => (apart(at) < apart(best) ? at : best))
      : word;
  }
}
