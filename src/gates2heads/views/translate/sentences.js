// Two sentences, one above the other, and which words of one attend to which words of the other.

import { chosenMap, visible, wordMap, wordsOf } from "../../browser/live/pieces.js";
import { direction, drawn, element } from "../kit/view.js";

const LINK_WIDTH = 9; // pixels of a link that carries all the weight
const FAINT = 0.12; // links below it are drawn for the chosen word only
const LEAST = 0.02; // a thinner link cannot be seen
const FLIP = 0.65; // from this weight on, the shade asks for the other ink
const NAMED = 3; // how many words the sentence about a word names at most
const WORTH_NAMING = 0.05;
const STEPS = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity };
const CONTROLS = "button, select, input, textarea, label, summary, a";
const ACROSS = { ArrowUp: "source", ArrowDown: "target" };

const quoted = (word) => ["“", element("bdi", {}, visible(word.text)), "”"];
const same = (one, other) => one?.side === other?.side && one?.place === other?.place;

/** The places of the largest weights, largest first, that are worth a word. */
export function strongest(weights) {
  const places = weights.map((_, place) => place).sort((a, b) => weights[b] - weights[a]);
  return places.slice(0, NAMED).filter((place, rank) => !rank || weights[place] >= WORTH_NAMING);
}

/**
 * The picture: words are buttons; the one that is pointed at, or else the one that was picked, is
 * linked with the words of the other side, whose shades are the weights. A click elsewhere, or a
 * second click on the picked word, returns to the word that is shown first.
 */
export class Sentences {
  /** stage: the view; names: {source: [name, language], target: …}; say: receives the selection. */
  constructor(stage, names, say) {
    this.say = say;
    this.result = null;
    this.svg = drawn("svg", { "aria-hidden": "true" });
    this.node = element("div", { class: "g2h-sentences" }, this.svg);
    this.rows = {};
    for (const [side, [name, lang]] of Object.entries(names)) {
      const label = `${name} words; the arrow keys move, Enter selects a word`;
      const row = {
        class: "g2h-words",
        role: "group",
        "aria-label": label,
        lang,
        "data-side": side,
      };
      this.rows[side] = element("div", row);
      const head = element("span", { class: "g2h-name", "aria-hidden": "true" }, name);
      this.node.append(head, this.rows[side]);
    }
    this.hear(stage);
    this.resizes = new ResizeObserver(() => this.drawLinks());
    this.resizes.observe(this.node);
  }

  hear(stage) {
    const on = (type, handler) => stage.listen(this.node, type, handler);
    on("pointerover", (event) => event.pointerType === "mouse" && this.point(event.target));
    on("pointerleave", () => this.point(null));
    on("focusin", (event) => this.point(event.target));
    on("focusout", () => this.point(null));
    on("keydown", (event) => this.walk(event));
    on("click", (event) => this.pick(event.target));
    stage.listen(document, "click", (event) => this.release(event.target));
  }

  // ---- words

  /** Takes away words, links and weights. */
  clear() {
    this.fill("source", []);
    this.fill("target", []);
  }

  /** Words that are written meanwhile: they have no weights yet, so no links either. */
  fill(side, pieces) {
    this.result = null;
    this.svg.replaceChildren();
    this.put(side, pieces);
  }

  put(side, pieces) {
    const words = wordsOf(pieces);
    this.rows[side].dir = direction(words.map((word) => word.text).join(" "));
    this.rows[side].replaceChildren(...words.map((word, place) => this.wordNode(word, place)));
    return words;
  }

  wordNode(word, place) {
    const state = { tabindex: place ? -1 : 0, "data-place": place };
    const shade = element("i", { class: "g2h-shade" });
    const text = element("bdi", {}, visible(word.text));
    const node = element("button", { type: "button", class: "g2h-word", ...state }, shade, text);
    node.classList.toggle("g2h-special", word.isSpecial);
    node.classList.toggle("g2h-raw", word.isRaw);
    return node;
  }

  /** Shows {source, target: [piece…], weights: {shape, data}}. */
  show(result) {
    this.words = {
      source: this.put("source", result.source),
      target: this.put("target", result.target),
    };
    this.result = result;
    this.picked = this.first = { side: "target", place: this.firstToShow() };
    this.pointed = null;
    this.choose(this.layer, this.head);
  }

  /** The last word that is no small one: in many captions the thing that was seen. */
  firstToShow() {
    const isLarge = (word) => !word.isSpecial && /\p{L}{4}/u.test(word.text);
    return Math.max(this.words.target.findLastIndex(isLarge), 0);
  }

  /** Which layer and head the links show; null is the mean over all. */
  choose(layer, head) {
    Object.assign(this, { layer, head });
    if (!this.result) return;
    const { source, target } = this.words;
    this.map = wordMap(chosenMap(this.result.weights, layer, head), source, target);
    this.draw();
  }

  // ---- pointing at a word

  placeOf(node) {
    const word = node?.closest?.(".g2h-word");
    if (!word || !this.result) return null;
    return { side: word.parentElement.dataset.side, place: Number(word.dataset.place) };
  }

  point(node) {
    const place = this.placeOf(node);
    if (same(place, this.pointed)) return;
    this.pointed = place;
    this.draw();
  }

  pick(node) {
    const place = this.placeOf(node);
    if (!place) return;
    this.picked = same(place, this.picked) ? this.first : place;
    this.draw();
  }

  /** A click beside the words; one on a control, such as that for the heads, keeps the word. */
  release(node) {
    if (!this.result || node.closest?.(CONTROLS)) return;
    if (same(this.picked, this.first) && !this.pointed) return;
    this.picked = this.first;
    this.pointed = null;
    this.draw();
  }

  walk(event) {
    const at = this.placeOf(event.target);
    const [step, across] = [STEPS[event.key], ACROSS[event.key]];
    if (!at || (step === undefined && !across)) return;
    event.preventDefault();
    const row = this.rows[across ?? at.side];
    const onward = row.dir === "rtl" && Number.isFinite(step) ? -1 : 1;
    const place = at.place + (step === undefined ? 0 : onward * step);
    const next = Math.min(Math.max(place, 0), row.childElementCount - 1);
    [...row.children].forEach((node, index) => (node.tabIndex = index === next ? 0 : -1));
    row.children[next].focus();
  }

  // ---- drawing

  draw() {
    if (!this.result) return;
    const chosen = (this.chosen = this.pointed ?? this.picked);
    const { side, place } = chosen;
    const isWritten = side === "target";
    const weights = isWritten ? this.map[place] : this.map.map((row) => row[place]);
    const other = isWritten ? "source" : "target";
    this.shade(other, weights);
    this.shade(side, []);
    for (const [name, row] of Object.entries(this.rows)) {
      [...row.children].forEach((node, index) => {
        node.classList.toggle("g2h-shown", same(chosen, { side: name, place: index }));
        node.setAttribute("aria-pressed", same(this.picked, { side: name, place: index }));
      });
    }
    const told = strongest(weights).flatMap((at, rank) => [
      rank ? ", " : " ",
      ...quoted(this.words[other][at]),
      ` (${weights[at].toFixed(2)})`,
    ]);
    const verb = isWritten ? " attends most to" : " receives the most attention from";
    this.say(...quoted(this.words[side][place]), verb, ...told);
    this.drawLinks();
  }

  shade(side, weights) {
    [...this.rows[side].children].forEach((node, place) => {
      const weight = weights[place] ?? 0;
      node.dataset.weight = weight.toFixed(6);
      node.style.setProperty("--g2h-weight", weight.toFixed(4));
      node.classList.toggle("g2h-strong", weight >= FLIP);
    });
  }

  /** Where the words of a side are met by links, in the picture's own coordinates. */
  ends(side, edge, frame) {
    return [...this.rows[side].children].map((node) => {
      const box = node.getBoundingClientRect();
      return { x: box.left + box.width / 2 - frame.left, y: box[edge] - frame.top };
    });
  }

  drawLinks() {
    const frame = this.node.getBoundingClientRect();
    if (!this.result || !frame.width) return;
    const source = this.ends("source", "bottom", frame);
    const target = this.ends("target", "top", frame);
    const { side, place } = this.chosen;
    // In several lines the links of all words would be a tangle.
    const isOneLine = [source, target].every((row) => row.at(-1).y === row[0].y);
    this.node.classList.toggle("g2h-lines", !isOneLine);
    const [faint, chosen] = [[], []];
    this.map.forEach((row, t) =>
      row.forEach((weight, s) => {
        const isChosen = place === (side === "target" ? t : s);
        if (weight < LEAST || (!isChosen && (weight < FAINT || !isOneLine))) return;
        (isChosen ? chosen : faint).push(link(source[s], target[t], weight, isChosen));
      }),
    );
    this.svg.replaceChildren(...faint, ...chosen);
  }

  dispose() {
    this.resizes.disconnect();
  }
}

/** What the picture's marks mean. */
export const legend = () =>
  element(
    "p",
    { class: "g2h-legend" },
    "Outlined: the selected word, with its links in full colour. ",
    element("span", { class: "g2h-others" }, "Faint links belong to other words. "),
    "A wider link means a larger attention weight; “end” is the end-of-sequence token.",
  );

function link(from, to, weight, isChosen) {
  const bend = (to.y - from.y) / 2;
  const curve = `${from.x},${from.y + bend} ${to.x},${to.y - bend} ${to.x},${to.y}`;
  return drawn("path", {
    class: isChosen ? "g2h-chosen" : null,
    d: `M${from.x},${from.y} C${curve}`,
    "stroke-width": (weight * LINK_WIDTH).toFixed(2),
    "data-weight": weight.toFixed(6),
  });
}
