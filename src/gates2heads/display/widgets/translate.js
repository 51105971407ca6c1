import { refusalInWords, tidy, visible, wordsOf } from "../live/pieces.js";
import { Live, megabytes } from "../live/runtime.js";
import { onFirstTouch } from "../live/touch.js";
import { Sentences } from "./sentences.js";
import { Refusal, Stage, choice, element, field } from "./view.js";

const WAIT = 150; // milliseconds without a key before what is typed is read
const OWN = "Your own sentence. Point at a word to see where the model looked.";
const LEGEND =
  "Framed: the word that is pointed at. The deeper a shade and the broader a link, the more weight.";
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

/** What a reader should know of a result, in sentences. */
export function remarks({ source, target, finished }) {
  const raw = wordsOf(source).filter((word) => word.isRaw);
  const said = [];
  if (raw.length) {
    const names = [...new Set(raw.map((word) => `“${visible(word.text)}”`))].slice(0, 3).join(", ");
    said.push(`${names} it has never seen: it read the bare bytes, and guesses.`);
  }
  if (!finished) said.push(`It was stopped after ${target.length} pieces without an end.`);
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

class Translate extends Stage {
  constructor(model, el) {
    super(model, el, "translate");
    this.live = new Live(model);
    const recorded = recordedOf(model);
    this.buildInput();
    this.status = element("p", { class: "g2h-live", "aria-live": "polite" });
    this.state = element("p", { class: "g2h-state", role: "status" });
    this.sentences = new Sentences(this, NAMES, (...parts) =>
      this.status.replaceChildren(...parts),
    );
    const legend = element("p", { class: "g2h-legend" }, LEGEND);
    this.root.append(this.sentences.node, this.status, legend, this.state);
    this.buildSettings(recorded.weights.shape);
    this.root.append(element("p", { class: "g2h-about" }, model.get("about")));
    this.showWidth();
    this.show(recorded);
    this.mark(recorded.text);
    this.sleep = onFirstTouch(this.root, () => this.load());
    this.follow(["text", "width"], () => this.hear());
  }

  // ---- controls

  buildInput() {
    this.input = element("textarea", {
      rows: 2,
      dir: "auto",
      lang: "de",
      spellcheck: "false",
      maxlength: 4000,
    });
    this.input.value = this.model.get("text");
    this.buttons = this.model
      .get("examples")
      .map(([label, text], place) =>
        element(
          "button",
          { type: "button", class: "g2h-example", title: text, "data-place": place },
          label,
        ),
      );
    const group = { class: "g2h-examples", role: "group", "aria-label": "examples" };
    const row = element("div", group, ...this.buttons);
    this.watch = element("p", { class: "g2h-watch" });
    this.refusal = new Refusal(this.input);
    const label = "German: type here, or press an example";
    this.root.append(field(label, this.input), this.refusal.node, row, this.watch);
    this.listen(this.input, "input", () => this.later());
    this.listen(this.input, "keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.ask(this.input.value);
    });
    this.listen(row, "click", (event) => this.press(event.target.closest("button")));
  }

  /** Below what they change, so that a phone shows the answer beside the question. */
  buildSettings(shape) {
    this.width = element("input", { type: "range", min: 1, max: 10, step: 1 });
    this.widthText = element("output");
    const choices = lookChoices(shape);
    this.looks = choice(choices.map(({ label }) => label));
    this.root.append(
      element(
        "div",
        { class: "g2h-controls" },
        field("search: ", this.width, this.widthText),
        field("the links show", this.looks),
      ),
    );
    const look = () => {
      const { layer, head } = choices[this.looks.selectedIndex];
      this.sentences.choose(layer, head);
    };
    look();
    this.listen(this.looks, "change", look);
    this.listen(this.width, "input", () => this.put({ width: Number(this.width.value) }));
  }

  showWidth() {
    const width = this.model.get("width");
    this.width.value = width;
    this.widthText.textContent = width === 1 ? "greedy" : `beam of ${width}`;
    this.width.setAttribute("aria-valuetext", this.widthText.textContent);
  }

  // ---- what is asked

  async load() {
    try {
      await this.live.load({ onProgress: (progress) => this.progress(progress) });
    } catch (error) {
      this.fault(error);
      return;
    }
    if (this.asked) return;
    this.at(
      "ready",
      this.live.isBeside
        ? "The model is here: type, and it answers."
        : "The model is here. This page allows it no thread of its own: typing may stutter.",
    );
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(this.input.value), WAIT);
  }

  press(button) {
    if (!button) return;
    const [, text] = this.model.get("examples")[button.dataset.place];
    this.input.value = text;
    this.ask(text);
  }

  /** A trait was set, by a control or by Python. */
  hear() {
    const text = this.model.get("text");
    this.showWidth();
    if (tidy(this.input.value) !== text) this.input.value = text;
    this.ask(text);
  }

  /** Translates what is typed; an older run ends, the same question is not asked twice. */
  async ask(typed) {
    clearTimeout(this.timer);
    const text = tidy(typed);
    const width = this.model.get("width");
    const question = JSON.stringify([text, width]);
    if (question === this.asked) return;
    this.asked = question;
    this.running?.abort(new Error("a newer text came"));
    this.mark(text);
    this.put({ text });
    this.refusal.say("");
    this.dim(true);
    if (text) await this.answer(text, width);
    else this.empty();
  }

  async answer(text, width) {
    const { signal } = (this.running = new AbortController());
    const onProgress = (progress) => signal.aborted || this.progress(progress, text);
    try {
      await this.live.load({ onProgress });
      const begin = performance.now();
      const result = await this.live.run("translate", { text, width }, { onProgress, signal });
      this.show({ ...result, width, milliseconds: performance.now() - begin });
    } catch (error) {
      if (signal.aborted) return;
      this.asked = null;
      if (error.isFromModel) this.refuse(error);
      else this.fault(error);
    }
  }

  /** Shows which example a text is, if any, and what there is to see in it. */
  mark(text) {
    const place = this.placeOf(text);
    this.buttons.forEach((button, at) => button.setAttribute("aria-pressed", at === place));
    this.tell(place);
  }

  placeOf(text) {
    return this.model.get("examples").findIndex((example) => tidy(example[1]) === text);
  }

  tell(place) {
    this.watch.textContent = place < 0 ? OWN : this.model.get("examples")[place][2];
  }

  // ---- what comes back

  /** Says where the view is, to the reader and to style sheets and tests. */
  at(state, sentence) {
    this.root.dataset.state = state;
    this.state.textContent = sentence;
  }

  /** What was asked cannot be read; the field keeps it. */
  refuse({ message }) {
    this.refusal.say(refusalInWords(message));
    this.watch.textContent = "Dimmed below: the answer before, to another text.";
    this.at("refused", "");
  }

  empty() {
    this.dim(false);
    this.sentences.clear();
    this.shownText = "";
    this.isRecorded = false;
    this.status.textContent = "Nothing to translate yet: type a German sentence.";
    this.at("empty", "");
  }

  progress({ loading, total, source, target }, text) {
    if (loading !== undefined) {
      const how = megabytes(loading, total);
      this.at("loading", `Loading the model, once for this page: ${how} …`);
      return;
    }
    this.at("writing", "Writing …");
    if (this.shownText !== text) {
      this.shownText = text;
      this.isRecorded = false;
      this.dim(false);
      this.sentences.clear();
      this.status.textContent = "\u00a0";
      this.sentences.fill("source", source);
    }
    this.sentences.fill("target", target);
  }

  fault({ message }) {
    const kept = " What you see is the recorded example.";
    if (this.isRecorded) this.tell(this.placeOf(this.shownText));
    this.at("fault", this.isRecorded ? message + kept : message);
  }

  show(result) {
    const { text, written = "", width = 1, milliseconds } = result;
    this.isRecorded = milliseconds === undefined;
    this.shownText = text;
    this.dim(false);
    this.sentences.show(result);
    Object.assign(this.root.dataset, { shown: text, written, width });
    const told = this.isRecorded
      ? "A recorded example. Touch anything here and the model comes to life."
      : `Written in ${(milliseconds / 1000).toFixed(2)} s, in this page.`;
    this.at(this.isRecorded ? "recorded" : "done", [told, ...remarks(result)].join(" "));
  }

  dispose() {
    clearTimeout(this.timer);
    this.running?.abort(new Error("the view was closed"));
    this.sleep();
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
