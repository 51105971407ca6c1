import { LiveStage, STORED } from "../../browser/live/stages/stage.js";
import { spelled } from "../../browser/live/pieces.js";
import { asInTraining, warningOf } from "../../browser/live/unlike_dates.js";
import { ClampPanel } from "./clamp_panel.js";
import { legendOf, UnrollBars, UnrollRow } from "./unroll_lines.js";
import { UnrollTape } from "./unroll_tape.js";
import {
  apart,
  decodedForcing,
  driftOf,
  expectedTokens,
  heldInWords,
  LINES,
  stepInWords,
  stepsOf,
  surprises,
  taughtInWords,
  textOf,
  TITLES,
} from "./unrolled.js";
import { choice, element, field, inside, Refusal } from "../kit/view.js";

const FAR = 1; // distance of two states, over the units, at which its bar is full
const SURPRISAL = 4; // nats at which the bar of a surprisal is full

class Unroller extends LiveStage {
  constructor(model, el) {
    super(model, el, "unroller");
    this.isSimple = model.get("simple");
    this.lines = this.isSimple ? ["free"] : LINES;
    this.lives = [this.all[0]];
    this.now = {
      ...decodedForcing(model.get("recorded"), model.get("numbers")),
      text: model.get("examples")[0],
      model: 0,
    };
    this.build();
    const { text, held, taught } = model.get("recorded");
    this.begin(["text", "model", "held", "taught"], [text, 0, held, taught]);
    this.follow(["step"], () => this.drawStep());
  }

  // ---- what stays for the life of the view

  build() {
    const { model } = this;
    this.root.append(
      this.buildField("input", { dir: "auto" }),
      this.refusal.node,
      this.buildChips(model.get("labels"), () => ({ dir: "auto" })),
    );
    this.which = choice(model.get("names"));
    this.lesson = element("input", {
      type: "text",
      spellcheck: "false",
      autocomplete: "off",
      inputmode: "numeric",
      placeholder: "the greedy output",
    });
    this.lessonRefusal = new Refusal(this.lesson);
    const choices = element(
      "div",
      { class: "g2h-controls" },
      field("training method", this.which),
      field("target for teacher forcing (press Enter)", this.lesson),
    );
    this.hand = new ClampPanel({
      onToken: (token) => this.hold(token),
      onRelease: () => this.put({ held: {} }),
      listen: (...how) => this.listen(...how),
    });
    this.root.append(
      ...(this.isSimple ? [] : [choices, this.lessonRefusal.node]),
      this.buildSteps(),
      this.buildSheet(),
      ...(this.isSimple ? [] : [this.hand.node]),
    );
    this.buildFoot();
    this.warning = element("p", { class: "g2h-warning", role: "status" });
    this.refusal.node.after(this.state, this.warning); // in sight of who types
    this.picture.before(this.status); // and of who steps
    this.listen(this.which, "change", () => this.put({ model: this.which.selectedIndex }));
    this.listen(this.lesson, "change", () => this.put({ taught: spelled(this.lesson.value) }));
  }

  buildSteps() {
    this.slider = element("input", { type: "range", min: 1, step: 1, "aria-label": "step" });
    this.back = element("button", { type: "button" }, "Back");
    this.on = element("button", { type: "button", class: "g2h-main" }, "Next step");
    const buttons = element("div", { class: "g2h-buttons" }, this.back, this.on);
    this.listen(this.slider, "input", () => this.put({ step: Number(this.slider.value) - 1 }));
    this.listen(this.back, "click", () => this.put({ step: Math.max(this.step - 1, 0) }));
    this.listen(this.on, "click", () => this.put({ step: inside(this.step + 1, this.steps) }));
    return element(
      "div",
      { class: "g2h-controls g2h-steps" },
      element("label", { class: "g2h-field" }, element("span", {}, "step"), this.slider),
      buttons,
    );
  }

  buildSheet() {
    this.reads = new UnrollRow(this, "reads", "input", (step) => this.put({ step }));
    this.encoder = new UnrollTape("encoder states");
    this.rows = Object.fromEntries(
      LINES.map((name) => [
        name,
        new UnrollRow(this, name, this.isSimple ? "output" : TITLES[name], (step) =>
          this.put({ step: this.now.source.length + step }),
        ),
      ]),
    );
    this.expects = new UnrollRow(this, "expects", "prediction", (step) =>
      this.put({ step: this.now.source.length + step }),
    );
    this.decoder = new UnrollTape(this.isSimple ? "decoder states" : "states, clamped row");
    this.gap = new UnrollBars("distance between states", FAR, "");
    this.nats = new UnrollBars("surprisal", SURPRISAL, " nats");
    const reading = element("div", { class: "g2h-sheet" }, this.reads.node, this.encoder.node);
    const writing = element(
      "div",
      { class: "g2h-sheet" },
      this.rows.free.node,
      ...(this.isSimple
        ? [this.decoder.node]
        : [
            this.rows.held.node,
            this.decoder.node,
            this.gap.node,
            this.rows.taught.node,
            this.expects.node,
            this.nats.node,
          ]),
    );
    const box = (sheet, label) =>
      element("div", { class: "g2h-tape", tabindex: 0, role: "group", "aria-label": label }, sheet);
    this.picture = element(
      "div",
      { class: "g2h-dim" },
      box(reading, "the encoder, step by step"),
      box(writing, this.isSimple ? "the decoder, step by step" : "the decoder, three rows"),
    );
    return element("div", {}, this.picture, legendOf(this.isSimple));
  }

  // ---- where we are

  get steps() {
    const { read, write } = stepsOf(this.now, this.lines);
    return read + write;
  }

  get step() {
    return inside(this.model.get("step"), this.steps);
  }

  /** The current step of the decoder; below 0 in the encoder. */
  get writing() {
    return this.step - this.now.source.length;
  }

  // ---- what is asked

  /** Clamps a token at the current step, or releases it if it is clamped there. */
  hold(token) {
    const held = { ...this.model.get("held") };
    if (held[this.writing] === token) delete held[this.writing];
    else held[this.writing] = token;
    this.put({ held });
  }

  get old() {
    return "The dimmed result below belongs to the previous input.";
  }

  get nothing() {
    return "The field is empty: type a date.";
  }

  /** The target and the clamped characters were for another text. */
  get afresh() {
    return { taught: "", held: {} };
  }

  read(typed) {
    return asInTraining(spelled(typed));
  }

  question() {
    return ["text", "model", "held", "taught"].map((name) => this.model.get(name));
  }

  async run([text, place, holds, taught]) {
    this.lives = [this.all[inside(place, this.all.length)]];
    const held = Object.entries(holds).map(([step, token]) => [Number(step), token]);
    this.lessonRefusal.say("");
    const results = await this.runAll("forcing", { text, held, taught: taught || null });
    if (!results) return null;
    const [{ refusedLesson, ...now }] = results;
    if (!refusedLesson) return { ...now, model: place };
    this.lessonRefusal.say(refusedLesson);
    this.asked = null;
    this.root.dataset.state = "refused";
    this.state.textContent = "";
    return null;
  }

  /** A *Show me* button names its step itself; other new texts keep the step of the decoder. */
  demonstrate(state) {
    this.isDemonstrated = "step" in state && state.text !== this.now.text;
    super.demonstrate(state);
  }

  /** A warning is about the text that is shown; it goes when another text is refused. */
  turnDown(sentence) {
    this.warning.textContent = "";
    super.turnDown(sentence);
  }

  show(now) {
    const { writing } = this;
    const isLater = now.text !== this.now.text && writing >= 0 && !this.isDemonstrated;
    this.isDemonstrated = false;
    this.now = now;
    if (isLater) this.put({ step: now.source.length + writing }); // the same step of writing
  }

  inWords() {
    const { now } = this;
    const output = textOf(now.free) || "empty";
    const said = this.isSimple
      ? `The output is ${output}.`
      : `The greedy output is ${output}. ${heldInWords(now, this.model.get("held"))} ${taughtInWords(now)}`;
    return this.isRecorded ? `${STORED} ${said}` : said;
  }

  // ---- drawing

  /** The controls show what is asked. */
  mark() {
    this.which.selectedIndex = inside(this.model.get("model"), this.all.length);
    if (spelled(this.lesson.value) !== this.model.get("taught"))
      this.lesson.value = this.model.get("taught");
    super.mark();
    this.hand.release.disabled = !Object.keys(this.model.get("held")).length;
  }

  draw() {
    const { now: run } = this;
    const { read, write } = stepsOf(run, this.lines);
    const holds = this.model.get("held");
    this.warning.textContent = warningOf(run.text, textOf(run.free));
    this.reads.show(run.source, read);
    this.encoder.show(run.states, read);
    this.root.style.setProperty("--g2h-read-columns", read);
    this.rows.free.show(run.free.tokens, write);
    const other = new Set(driftOf(run, -1));
    this.rows.held.show(
      run.held.tokens,
      write,
      run.held.tokens.map((token, step) =>
        holds[step] === token ? "held" : other.has(step) ? "otherwise" : "",
      ),
    );
    this.decoder.show(run.held.hidden, write);
    this.gap.show(apart(run.free, run.held), write);
    this.rows.taught.show(run.taught.tokens, write);
    const expected = expectedTokens(run);
    this.expects.show(
      expected,
      write,
      expected.map((token, step) => (token === run.taught.tokens[step] ? "" : "otherwise")),
    );
    this.nats.show(surprises(run), write);
    this.slider.max = read + write;
    this.hand.fill(run.vocabulary);
    this.drawStep();
  }

  drawStep() {
    const { now: run, step, writing } = this;
    this.slider.value = step + 1;
    const said = stepInWords(run, step, this.lines);
    this.slider.setAttribute("aria-valuetext", said);
    [this.back.disabled, this.on.disabled] = [step === 0, step === this.steps - 1];
    this.reads.mark(step);
    this.encoder.until(step + 1);
    [...Object.values(this.rows), this.expects].forEach((row) => row.mark(writing));
    this.decoder.until(writing + 1);
    this.say(said);
    this.hand.draw(run, writing, this.model.get("held"));
  }
}

export default {
  render({ model, el }) {
    const view = new Unroller(model, el);
    return () => view.dispose();
  },
};
