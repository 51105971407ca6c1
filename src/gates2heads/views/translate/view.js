import { bytesInWords, wordsOf } from "../../browser/live/pieces.js";
import { lossesInWords } from "../../browser/live/losses.js";
import { GermanStage } from "../../browser/live/stages/german_stage.js";
import { questionInWords } from "../../browser/live/word_counts.js";
import { STORED } from "../../browser/live/stages/stage.js";
import { Sentences, legend } from "./sentences.js";
import { sharesFrom } from "../kit/shares.js";
import { choice, element, field } from "../kit/view.js";

const OWN =
  "Your sentence: select an English word to see what it attends to, or a German word to see what attends to it.";
const OLD_TEXT = "The dimmed result below belongs to the previous text.";
const OLD_WIDTH = "The dimmed result below belongs to the previous beam width.";
const EMPTY = "The field is empty: type a German sentence.";
const DEFAULTS = " (This describes the default settings.)";
const WAITS = new Set(["asking", "loading", "refused", "fault"]); // states in which no answer is near
const LONGEST = 4000; // characters; the model's own limit is in tokens
const NAMES = { source: ["German", "de"], target: ["English", "en"] };

/** What there is to choose from: [{label, layer, head}], what was found truest first. */
export function lookChoices([layers, heads]) {
  const last = layers - 1;
  const choices = [
    { label: `last layer, mean of its ${heads} heads`, layer: last, head: null },
    { label: "all layers and heads, mean", layer: null, head: null },
  ];
  for (let layer = last; layer >= 0; layer--) {
    if (layer < last) choices.push({ label: `layer ${layer + 1}, mean`, layer, head: null });
    for (let head = 0; head < heads; head++) {
      choices.push({ label: `layer ${layer + 1}, head ${head + 1}`, layer, head });
    }
  }
  return choices;
}

/** Whether an output ends in one phrase of one to four words, three times over. */
export function repeats(target) {
  const words = wordsOf(target)
    .filter(({ text, isSpecial }) => !isSpecial && /[\p{L}\p{N}]/u.test(text))
    .map(({ text }) => text.toLowerCase());
  return [1, 2, 3, 4].some((size) => {
    const last = words.slice(-3 * size);
    return last.length === 3 * size && last.every((word, at) => word === last[at % size]);
  });
}

// Where a sentence may end: its last word, its sign, and the first letter of the next sentence.
const END = /([\p{L}\p{M}]*)([.!?]+)["“”']?\s+["„“']?\p{L}/gu;
const SHORT = new Set("prof bzw usw evtl ggf inkl max min str abb".split(" "));

/** Whether a text seems to hold two sentences or more. A short word may be an abbreviation. */
export const holdsSentences = (text) =>
  [...text.matchAll(END)].some(
    ([, word, signs]) =>
      /[!?]/.test(signs) || (signs === "." && word.length > 2 && !SHORT.has(word.toLowerCase())),
  );

/** What a reader should know of a result, in sentences. */
export function remarks({ text = "", source, target, finished }) {
  const said = [bytesInWords(source), questionInWords(text)].filter(Boolean);
  if (holdsSentences(text)) {
    said.push(
      "The model was trained on single captions: it usually merges several sentences into one and loses part of their content.",
    );
  }
  said.push(...lossesInWords(text, "german"));
  if (repeats(target)) {
    said.push(
      "The output repeats itself, which often happens when a model reads a sentence unlike its training data.",
    );
  }
  if (!finished)
    said.push(
      `The output was cut off after ${target.length} tokens, without an end-of-sequence token.`,
    );
  return said;
}

/** The saved examples, whose weights travel as bytes. */
export function recordedOf(model) {
  const take = sharesFrom(model.get("weights"));
  return model.get("recorded").map(({ shape, ...told }) => ({ ...told, weights: take(shape) }));
}

class Translate extends GermanStage {
  constructor(model, el) {
    super(model, el, "translate");
    const recorded = recordedOf(model);
    [this.result] = recorded;
    this.kept = new Map(recorded.map((result) => [this.read(result.text), result]));
    this.buildInput();
    this.sentences = new Sentences(this, NAMES, (...parts) => this.say(...parts));
    this.root.append(this.sentences.node);
    this.buildFoot();
    // The translation is next to the text; what changes the two of them comes below.
    this.status.after(legend());
    this.state.after(this.starts, this.settings(this.result.weights.shape), this.wordRow.node);
    this.begin(["text", "width"], [this.result.text, 1]);
  }

  // ---- controls

  buildInput() {
    const label = "German sentence: type one, or choose an example";
    const own = { dir: "auto", lang: "de" };
    const examples = this.model.get("examples");
    const names = examples.map(([name]) => name);
    const titled = (place) => ({ title: this.example(place) });
    this.starts = this.buildChips(names, titled, "example");
    examples.forEach(([, , , group], place) => {
      if (!group || group === examples[place - 1]?.[3]) return;
      this.chips[place].before(element("span", { class: "g2h-group" }, group));
    });
    this.watch = element("p", { class: "g2h-watch" });
    this.root.append(this.buildField("textarea", own, label), this.refusal.node, this.watch);
    this.listen(this.input, "keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.take();
    });
  }

  /** Below what they change, so that a phone shows the answer beside the question. */
  settings(shape) {
    this.width = element("input", { type: "range", min: 1, max: 10, step: 1 });
    this.widthText = element("output");
    const choices = lookChoices(shape);
    this.looks = choice(choices.map(({ label }) => label));
    const look = () => {
      const { layer, head } = choices[this.looks.selectedIndex];
      this.sentences.choose(layer, head);
    };
    look();
    this.listen(this.looks, "change", () => {
      look();
      this.watchFor();
    });
    this.listen(this.width, "input", () => this.put({ width: Number(this.width.value) }));
    return element(
      "div",
      { class: "g2h-controls" },
      field("decoding: ", this.width, this.widthText),
      field("attention weights", this.looks),
    );
  }

  example(place) {
    return this.model.get("examples")[place][1];
  }

  /** Which example the field holds, and what there is to see in it. */
  mark() {
    const width = this.model.get("width");
    this.width.value = width;
    this.widthText.textContent = width === 1 ? "greedy search" : `beam search, width ${width}`;
    this.width.setAttribute("aria-valuetext", this.widthText.textContent);
    super.mark();
    this.watchFor();
  }

  dim(isOld) {
    super.dim(isOld);
    this.watchFor();
  }

  /** What there is to see; of a result that is not the field's, whose it is. */
  watchFor() {
    const text = this.read(this.input.value);
    const found = this.model.get("examples").find(([, own]) => this.read(own) === text);
    const isWaiting =
      WAITS.has(this.root.dataset.state) || !this.lives.every((one) => one.isComing);
    if (this.isCleared) {
      this.watch.textContent = ""; // there is no result, of this text or of another
      this.say(text ? "\u00a0" : EMPTY);
    } else if (this.isOld && isWaiting) {
      this.watch.textContent = text === this.read(this.result.text) ? OLD_WIDTH : OLD_TEXT;
    } else {
      const isDefault = this.model.get("width") === 1 && this.looks.selectedIndex === 0;
      const note = found?.[2] && found[2] + (isDefault ? "" : DEFAULTS);
      this.watch.textContent = found ? note : text ? OWN : "";
    }
  }

  // ---- what is asked

  get phrases() {
    return {
      ...super.phrases,
      loading: "Loading the model",
      ready: "The model is loaded",
      kept: "",
      asking: "", // beside the field it is said whose the result is
    };
  }

  get longest() {
    return LONGEST;
  }

  get pairs() {
    return this.model.get("pairs");
  }

  question() {
    return [this.model.get("text"), this.model.get("width")];
  }

  /** The examples are stored as greedy search translates them. */
  stored([text, width]) {
    return width === 1 ? this.kept.get(this.read(text)) : undefined;
  }

  get recordedSource() {
    return this.result.source;
  }

  /** A click on an example or on a word needs no model, unless the example is not stored. */
  use(target) {
    if (target === this.input || target === this.width) super.use(target);
    else this.permission.below(target);
  }

  async run([text, width]) {
    const onProgress = (progress) => this.write(text, progress);
    const results = await this.runAll("translate", { text, width }, { onProgress });
    return results && { ...results[0], width };
  }

  // ---- what comes back

  /** What is written so far takes the place of the answer before. */
  write(text, { source, target }) {
    this.root.dataset.state = "writing";
    this.state.textContent = "Translating …";
    if (this.writing !== text) {
      this.writing = text;
      this.isRecorded = this.isCleared = false;
      this.dim(false);
      this.sentences.clear();
      this.say("\u00a0");
      this.sentences.fill("source", source);
    }
    this.sentences.fill("target", target);
  }

  show(result) {
    this.result = result;
  }

  draw() {
    const { text, written = "", width = 1 } = this.result;
    this.writing = null;
    this.isCleared = false;
    this.sentences.show(this.result);
    Object.assign(this.root.dataset, { shown: text, written, width });
  }

  inWords() {
    const told = this.isRecorded
      ? STORED
      : `Translated in ${(this.milliseconds / 1000).toFixed(2)} s, in your browser.`;
    return [told, ...remarks(this.result)].join(" ");
  }

  /** Nothing is asked, and nothing is written, whatever the width. */
  rest() {
    this.isRecorded = false;
    super.rest("");
    this.put({ text: "" });
    this.isCleared = true;
    this.dim(false);
    this.sentences.clear();
  }

  report(sentence) {
    super.report(sentence);
    this.watchFor();
  }

  fault(error) {
    super.fault(error);
    this.watchFor();
  }

  dispose() {
    this.sentences.dispose();
    super.dispose();
  }
}

export default {
  render({ model, el }) {
    const view = new Translate(model, el);
    return () => view.dispose();
  },
};
