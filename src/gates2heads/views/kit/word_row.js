// The words of a text, each with a bar for how often it occurred in training.

import { visible, wordsOf } from "../../browser/live/pieces.js";
import { wordKey } from "../../browser/live/word_counts.js";
import { element } from "./view.js";

const WORD = /[\p{L}\p{N}]/u;
const MOST = 30; // words that are shown; a sentence is rarely longer
const FULL = 20_000; // occurrences that fill a bar; the most frequent word has as many
const STEPS = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity };
const LABEL =
  "frequency of each word in the training captions; the arrow keys move along the words";
const SCALE = "Upper and lower case count as the same word.";
const CAPTION = "How often each word occurs in the training captions (logarithmic scale)";

/** The share of its bar that a count fills, on a logarithmic scale. */
export const shareOf = (count) => Math.min(Math.log1p(count) / Math.log1p(FULL), 1);

/**
 * The words of a text with their counts: [{text, count, pieces, isRaw}], without signs and the end.
 *
 * @param {string[]} source the pieces that a model reads
 * @param {object} counts by key
 */
export function countedWords(source, counts) {
  return wordsOf(source)
    .filter(({ text, isSpecial }) => !isSpecial && WORD.test(text))
    .map(({ text, from, to, isRaw }) => ({
      text,
      count: counts[wordKey(text)] ?? 0,
      pieces: source
        .slice(from, to)
        .map((piece) => piece.replace(/^ /, ""))
        .filter(Boolean),
      isRaw,
    }));
}

/** What is known of one word: its count, and the pieces in which the model reads an unseen one. */
export function wordInWords({ text, count, pieces, isRaw }, captions) {
  const times = count === 1 ? "once" : `${count.toLocaleString("en")} times`;
  const occurs = count ? `occurs ${times}` : "does not occur";
  const where = `in the ${captions.toLocaleString("en")} German training captions`;
  const told = `“${visible(text)}” ${occurs} ${where}`;
  if (count || pieces.length < 2) return `${told}.`;
  return `${told}; the model reads it as ${isRaw ? "single bytes" : `the tokens ${pieces.join(" · ")}`}.`;
}

/** One stop of the tab key; the arrow keys move along the words, and the current one is reported. */
export class WordRow {
  constructor(stage) {
    this.words = [];
    const group = { class: "g2h-occurs-words", role: "group", "aria-label": LABEL, title: SCALE };
    this.list = element("div", group);
    this.more = element("p", { class: "g2h-occurs-more" });
    this.told = element("p", { class: "g2h-occurs-told" });
    const caption = element("p", { class: "g2h-occurs-caption" }, CAPTION);
    this.node = element("div", { class: "g2h-occurs" }, caption, this.list, this.more, this.told);
    this.clear();
    const on = (type, handler) => stage.listen(this.list, type, handler);
    on("pointerover", (event) => this.tell(event.target));
    on("focusin", (event) => this.tell(event.target));
    on("click", (event) => this.tell(event.target));
    on("keydown", (event) => this.walk(event));
  }

  clear() {
    this.show([], { captions: 0, counts: {} });
  }

  show(source, { captions, counts }) {
    const kept = this.list.contains(document.activeElement);
    const words = countedWords(source, counts);
    this.words = words.slice(0, MOST);
    this.more.textContent = words.length > MOST ? `… and ${words.length - MOST} more` : "";
    this.captions = captions;
    this.node.hidden = !this.words.length;
    this.list.replaceChildren(...this.words.map((word, place) => this.wordNode(word, place)));
    const all = this.words.map(({ count }) => count);
    this.say(all.indexOf(Math.min(...all))); // the rarest explains most
    if (kept) this.list.firstElementChild?.focus({ preventScroll: true });
  }

  wordNode(word, place) {
    const bar = element("i", { class: "g2h-occurs-bar", "aria-hidden": "true" });
    bar.style.setProperty("--g2h-share", shareOf(word.count).toFixed(4));
    const isWhole = word.count || word.isRaw;
    const parts = isWhole ? [visible(word.text)] : this.piecesOf(word);
    const text = element("bdi", { lang: "de" }, ...parts);
    const never = word.count ? [] : [element("small", {}, "unseen")];
    const state = { tabindex: place ? -1 : 0, "data-place": place, "data-count": word.count };
    const name = { "aria-label": wordInWords(word, this.captions) };
    const kind = { type: "button", class: "g2h-occurs-word" };
    return element("button", { ...kind, ...state, ...name }, text, bar, ...never);
  }

  piecesOf({ pieces }) {
    return pieces.map((piece) => element("span", {}, visible(piece)));
  }

  say(place) {
    const word = this.words[place];
    this.told.textContent = word ? wordInWords(word, this.captions) : "";
    [...this.list.children].forEach((node, at) => node.classList.toggle("g2h-shown", at === place));
  }

  tell(node) {
    const button = node.closest("button");
    if (button) this.say(Number(button.dataset.place));
  }

  walk(event) {
    const step = STEPS[event.key];
    const nodes = [...this.list.children];
    if (step === undefined || !nodes.length) return;
    event.preventDefault();
    const at = nodes.indexOf(event.target.closest("button"));
    const next = Math.min(Math.max(at + step, 0), nodes.length - 1);
    nodes.forEach((node, place) => (node.tabIndex = place === next ? 0 : -1));
    nodes[next].focus();
  }
}
