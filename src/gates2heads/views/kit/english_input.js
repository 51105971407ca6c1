// A field for English below one for German: a second model translates into German. It is loaded only
// when this is used, and its size is announced before. The view asks once for both of its models.

import { WAITS, inMegabytes, megabytes } from "../../browser/live/files.js";
import { bytesInWords, refusalInWords, tidy, tooLong } from "../../browser/live/pieces.js";
import { lossesInWords } from "../../browser/live/losses.js";
import { Live, filesToFetch } from "../../browser/live/runtime.js";
import { likenessInWords, questionInWords } from "../../browser/live/word_counts.js";
import { Refusal, element, field } from "./view.js";

const WAIT = 300; // milliseconds without a key before what is typed is translated
const MOST = 4000; // characters that are read
const NOTHING = "Type an English sentence first.";
const SILENT = "The model produced no German for this text. Try another sentence.";
const PAIRED =
  "The second model's translation of this example is stored with the page; it was copied to the German field above.";
const INVITATION = "Don't know German? Start from English";

export class EnglishInput {
  /** stage: a `GermanStage`, which takes the German. */
  constructor(stage) {
    this.stage = stage;
    this.live = new Live(stage.model, 0, "english");
    this.isHere = false;
    this.input = element("input", {
      class: "g2h-english-text",
      lang: "en",
      dir: "auto",
      spellcheck: "false",
      autocomplete: "off",
    });
    this.refusal = new Refusal(this.input);
    this.button = element("button", { type: "button" }, "Translate into German");
    this.state = element("p", { class: "g2h-english-state", role: "status" }, this.before());
    this.node = element(
      "details",
      { class: "g2h-english" },
      element("summary", {}, INVITATION),
      ...this.buildPairs(stage.pairs),
      element("div", { class: "g2h-controls" }, field("English", this.input), this.button),
      this.refusal.node,
      this.state,
    );
    stage.listen(this.button, "click", () => this.start());
    stage.listen(this.input, "keydown", (event) => {
      if (event.key === "Enter" && !event.isComposing) this.start();
    });
    stage.listen(this.input, "input", () => this.later());
    stage.listen(this.node, "toggle", () => !this.isHere && this.forget()); // meanwhile less is missing
  }

  /** Sentences whose German is stored with the page: [[English, German]]. They need no model. */
  buildPairs(pairs) {
    if (!pairs.length) return [];
    const chips = pairs.map(([english, german]) => {
      const chip = element("button", { type: "button", class: "g2h-pair", lang: "en" }, english);
      this.stage.listen(chip, "click", () => this.takePair(english, german));
      return chip;
    });
    const row = { class: "g2h-pairs", role: "group", "aria-label": "English sentences" };
    return [element("div", row, ...chips)];
  }

  takePair(english, german) {
    clearTimeout(this.timer);
    this.running?.abort(new Error("an example was chosen"));
    this.input.value = english;
    this.refusal.say("");
    this.stage.receive(german);
    this.state.textContent = PAIRED;
    this.node.dataset.english = english;
    this.stage.input.scrollIntoView({ block: "nearest" });
  }

  /** What comes over the network at the first translation, as the view asks for it: "17.5 MB". */
  get missing() {
    const files = filesToFetch([this.live, ...this.stage.lives]);
    return files.size ? inMegabytes([...files.values()].reduce((sum, size) => sum + size, 0)) : "";
  }

  /** The message before the model is loaded. */
  before() {
    const isAlone = this.stage.lives.every((one) => one.isComing);
    const what = isAlone ? "It is" : "Both models and the program that runs them are";
    const size = this.missing && ` (${this.missing})`;
    return `A second model translates the sentence into German. ${what} loaded once, at the first translation${size}.`;
  }

  /** The German field holds something else now. */
  forget() {
    this.state.textContent = this.isHere ? "" : this.before();
  }

  /** A button that carries a text over from the German field and has it translated. */
  offer(text) {
    const load = this.missing && ` (loads ${this.missing})`;
    const button = element("button", { type: "button" }, `Start from English instead${load}`);
    this.stage.listen(button, "click", () => {
      this.node.open = true;
      this.input.value = text;
      this.input.focus();
      this.start();
    });
    return button;
  }

  /** The reader asked: on a phone, the German text and its result are above the screen. */
  async start() {
    if (await this.translate()) this.stage.input.scrollIntoView({ block: "nearest" });
  }

  /** Once the model is here, it follows what is typed. */
  later() {
    clearTimeout(this.timer);
    if (this.isHere) this.timer = setTimeout(() => this.translate(), WAIT);
  }

  /** Whether German came. */
  async translate() {
    clearTimeout(this.timer);
    this.running?.abort(new Error("a newer text came"));
    const { signal } = (this.running = new AbortController());
    const text = tidy(this.input.value);
    if (!text || text.length > MOST) {
      const isLong = Boolean(text);
      this.refusal.say(isLong ? tooLong(text.length, MOST, "characters") : NOTHING, isLong);
      this.forget();
      return false;
    }
    this.refusal.say("");
    try {
      return await this.write(text, signal);
    } catch (error) {
      if (signal.aborted) return false;
      this.state.textContent = "";
      this.refusal.say(error.isFromModel ? refusalInWords(error) : error.message);
      return false;
    }
  }

  async write(text, signal) {
    const { stage } = this;
    const onProgress = ({ loading }) => this.tell(loading);
    stage.isUsed = true;
    stage.permission.after(this.node);
    await stage.mayLoad([this.live, ...stage.lives]);
    signal.throwIfAborted();
    await this.live.load({ onProgress });
    signal.throwIfAborted();
    this.isHere = true;
    this.tell();
    const told = await stage.counted(text, "english");
    signal.throwIfAborted();
    if (told?.likeness.other && this.doubted !== text) {
      this.doubt(text, told.likeness);
      return false;
    }
    const begin = performance.now();
    const { written, source } = await this.live.run("translate", { text }, { signal });
    const seconds = ((performance.now() - begin) / 1000).toFixed(2);
    if (!written.trim()) {
      this.state.textContent = "";
      this.refusal.say(SILENT);
      return false;
    }
    stage.receive(written);
    const remark = told ? likenessInWords(told.likeness, "english") : "";
    const filled = `Translated into German in ${seconds} s and copied to the field above. This translation can itself contain mistakes.`;
    const remarks = [remark, bytesInWords(source), questionInWords(text)];
    remarks.push(...lossesInWords(text, "english"), filled);
    this.state.textContent = remarks.filter(Boolean).join(" ");
    this.node.dataset.english = text;
    return true;
  }

  /** German in the English field replaces nothing before the reader says so. */
  doubt(text, likeness) {
    this.doubted = text;
    const button = element("button", { type: "button" }, "Use it as the German sentence");
    this.stage.listen(button, "click", () => {
      this.state.textContent = "";
      this.stage.receive(text);
    });
    this.state.replaceChildren(
      likenessInWords(likeness, "english"),
      " To translate it all the same, click “Translate into German” again. ",
      button,
    );
  }

  tell(loading) {
    const size = () => megabytes(loading, this.live.size);
    const told = loading ? `Loading the second model (once per page): ${size()} …` : WAITS;
    this.state.textContent = loading === undefined ? "Translating …" : told;
  }

  dispose() {
    clearTimeout(this.timer);
    this.running?.abort(new Error("the view was closed"));
  }
}
