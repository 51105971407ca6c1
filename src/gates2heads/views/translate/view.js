import { visible, wordsOf } from "../../browser/live/pieces.js";
import { GermanStage } from "../../browser/live/german_stage.js";
import { STORED } from "../../browser/live/stage.js";
import { Sentences } from "./sentences.js";
import { choice, element, field } from "../kit/view.js";

const OWN = "Your own sentence. Point at or tap a word to see which source words it attends to.";
const LEGEND =
  "Outlined: the selected word. A stronger colour and a wider link mean a larger attention weight.";
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

/** What a reader should know of a result, in sentences. */
export function remarks({ text = "", source, target, finished }) {
  const raw = wordsOf(source).filter((word) => word.isRaw);
  const said = [];
  if (raw.length) {
    const names = [...new Set(raw.map((word) => `“${visible(word.text)}”`))].slice(0, 3).join(", ");
    said.push(
      `The vocabulary has no token for ${names}, so the model reads single bytes and has to guess.`,
    );
  }
  if (/\?["“”]?$/.test(text)) {
    said.push("The training captions contain almost no questions: expect a statement.");
  }
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

/** The saved example, whose weights travel as bytes. */
function recordedOf(model) {
  const { shape, ...told } = model.get("recorded");
  const bytes = model.get("weights");
  const at = (_, place) => bytes.getFloat32(4 * place, true);
  return {
    ...told,
    weights: { shape, data: Float32Array.from({ length: bytes.byteLength / 4 }, at) },
  };
}

class Translate extends GermanStage {
  constructor(model, el) {
    super(model, el, "translate");
    this.result = recordedOf(model);
    this.buildInput();
    this.sentences = new Sentences(this, NAMES, (...parts) => this.say(...parts));
    this.root.append(this.sentences.node);
    this.buildFoot();
    this.status.after(element("p", { class: "g2h-legend" }, LEGEND));
    this.state.after(this.settings(this.result.weights.shape));
    this.begin(["text", "width"]);
  }

  // ---- controls

  buildInput() {
    const label = "German sentence: type one, or choose an example";
    const own = { dir: "auto", lang: "de" };
    const examples = this.model.get("examples");
    const names = examples.map(([name]) => name);
    const titled = (place) => ({ title: this.example(place) });
    this.root.append(
      this.buildField("textarea", own, label),
      this.refusal.node,
      this.buildChips(names, titled, "example"),
    );
    this.watch = element("p", { class: "g2h-watch" });
    this.root.append(this.watch);
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
    this.listen(this.looks, "change", look);
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
    this.watchFor(this.read(this.input.value));
  }

  watchFor(text) {
    const found = this.model.get("examples").find(([, own]) => this.read(own) === text);
    this.watch.textContent = found ? found[2] : text ? OWN : "";
  }

  // ---- what is asked

  get phrases() {
    return {
      ...super.phrases,
      loading: "Loading the model",
      ready: "The model is loaded",
      kept: "",
    };
  }

  get longest() {
    return LONGEST;
  }

  question() {
    return [this.model.get("text"), this.model.get("width")];
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
      this.isRecorded = false;
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
    this.dim(false);
    this.sentences.clear();
    this.say("The field is empty: type a German sentence.");
  }

  turnDown(sentence) {
    super.turnDown(sentence);
    this.watch.textContent = "The dimmed result below belongs to the previous text.";
  }

  fault(error) {
    if (this.isRecorded) this.watchFor(this.result.text); // it tells of what is seen
    super.fault(error);
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
