import { composed, tooLong, visible } from "../../browser/live/pieces.js";
import { LiveStage, STORED } from "../../browser/live/stages/stage.js";
import { answerOf, shares, signed, toldInWords } from "./answers.js";
import { element, field, moreControls } from "../kit/view.js";

const LONGEST = 500; // characters
const LONGEST_QUESTION = 200;
const OLD = "The dimmed result below belongs to the previous input.";
const NO_ANSWER = "no answer";

class FindTheAnswer extends LiveStage {
  constructor(model, el) {
    super(model, el, "find-the-answer");
    this.now = model.get("recorded");
    this.build();
    this.begin(["question", "text"], [model.get("questions")[0], this.example(0)]);
    this.follow(["threshold"], () => this.draw());
  }

  build() {
    const { model } = this;
    const plain = { spellcheck: "false", autocomplete: "off", autocapitalize: "off" };
    this.asking = element("input", { type: "text", ...plain });
    this.heardQuestion = this.asking.value = model.get("question");
    this.listen(this.asking, "input", () => this.later());
    this.listen(this.asking, "change", () => this.leave());
    const passage = this.buildField("textarea", { rows: 2, autocapitalize: "off" }, "Passage");
    this.asking.setAttribute("aria-describedby", this.refusal.node.id);
    this.answers = element("div", { class: "g2h-answers g2h-dim" });
    this.slider = element("input", {
      type: "range",
      min: -20,
      max: 20,
      step: 1,
      "data-trait": "threshold",
    });
    this.listen(this.slider, "input", () => this.put({ threshold: Number(this.slider.value) }));
    this.tau = element("output");
    this.root.append(
      field("Question", this.asking),
      passage,
      this.refusal.node,
      this.buildChips(model.get("labels")),
      this.answers,
      moreControls([
        field(
          "Threshold: how much higher than “no answer” must a span score? ",
          this.slider,
          this.tau,
        ),
      ]),
    );
    this.buildFoot();
  }

  // ---- what is asked

  get old() {
    return OLD;
  }

  get nothing() {
    return "The passage is empty: type some sentences.";
  }

  get longest() {
    return LONGEST;
  }

  read(typed) {
    return composed(typed);
  }

  question() {
    return [this.model.get("question"), this.model.get("text")];
  }

  get typedQuestion() {
    return this.read(this.asking.value);
  }

  get isAsTyped() {
    return super.isAsTyped && this.typedQuestion === this.read(this.model.get("question"));
  }

  mark() {
    super.mark();
    this.chips.forEach((chip, place) => {
      const isAsked = this.read(this.model.get("questions")[place]) === this.typedQuestion;
      if (!isAsked) chip.setAttribute("aria-pressed", false);
    });
  }

  press(chip) {
    if (!chip) return;
    this.asking.value = this.model.get("questions")[chip.dataset.place];
    super.press(chip);
  }

  take() {
    this.takenQuestion = this.asking.value;
    super.take();
  }

  leave() {
    if (this.asking.value !== this.takenQuestion) this.take();
    else super.leave();
  }

  type() {
    const [question, text] = [this.typedQuestion, this.read(this.input.value)];
    if (!this.admits(text, question)) {
      this.mark();
      return;
    }
    this.put({ question, text });
    this.hear();
  }

  admits(text, question = this.model.get("question")) {
    if (!super.admits(text)) return false;
    const isLong = question.length > LONGEST_QUESTION;
    if (question.trim() && !isLong) return true;
    this.dim(true);
    if (isLong) this.turnDown(tooLong(question.length, LONGEST_QUESTION, "characters"));
    else this.rest(`The question is empty: type a question. ${OLD}`);
    return false;
  }

  /** Only a new question, set by a control or by Python, takes the place of what is typed. */
  hear() {
    const question = this.model.get("question");
    if (question !== this.heardQuestion && !this.isAsTyped) this.asking.value = question;
    this.heardQuestion = question;
    return super.hear();
  }

  run([question, text]) {
    return this.runAll("answer", { question, text });
  }

  show(now) {
    this.now = now;
  }

  inWords() {
    return this.isRecorded ? STORED : this.computed(this.now[0].strange);
  }

  // ---- drawing

  draw() {
    const { model } = this;
    const threshold = Number(model.get("threshold")) || 0;
    this.slider.value = threshold;
    this.tau.textContent = signed(threshold);
    const names = model.get("names");
    const answers = this.now.map((result) => answerOf(result, threshold));
    this.answers.replaceChildren(
      ...answers.map((answer, at) => this.answer(names[at], this.now[at], answer)),
    );
    this.say(toldInWords(names, answers));
  }

  /** One model: its answer, the passage with bars, and the best spans with their scores. */
  answer(name, result, answer) {
    const [best] = answer.spans;
    const text = answer.isFound ? best.text : NO_ANSWER;
    return element(
      "div",
      { class: "g2h-answer", "data-model": name, "data-found": String(answer.isFound) },
      element(
        "p",
        { class: "g2h-told" },
        element("span", { class: "g2h-name" }, `${name}: `),
        element("strong", {}, element("bdi", {}, text)),
      ),
      this.passage(result, answer),
      candidates(answer),
    );
  }

  passage({ tokens, first, last }, { spans: [best], isFound }) {
    const [begins, ends] = [shares(first), shares(last)];
    const place = (token, at, isIn) =>
      element(
        "span",
        {
          class: `g2h-token${isIn ? " g2h-in" : ""}`,
          "data-first": begins[at],
          "data-last": ends[at],
          style: `--g2h-first: ${begins[at].toFixed(4)}; --g2h-last: ${ends[at].toFixed(4)}`,
          title: `first token: ${percent(begins[at])}, last token: ${percent(ends[at])}`,
        },
        element("i", { class: "g2h-opening" }),
        element("bdi", {}, token),
        element("i", { class: "g2h-closing" }),
      );
    return element(
      "div",
      { class: "g2h-passage", "aria-hidden": "true" },
      place("[CLS]", 0, !isFound),
      ...tokens.map((token, at) =>
        place(visible(token), at + 1, isFound && at >= best.first && at <= best.last),
      ),
    );
  }
}

const percent = (share) => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;

/** The best spans and "no answer", with their scores; the selected one is emphasised. */
function candidates({ spans, none, isFound }) {
  const rows = [
    ...spans.map(({ text, score }, at) => [text, score, isFound && at === 0]),
    [NO_ANSWER, none, !isFound],
  ];
  return element(
    "table",
    { class: "g2h-scores" },
    element("caption", {}, "Best spans and their scores"),
    element(
      "tbody",
      {},
      ...rows.map(([text, score, isChosen]) =>
        element(
          "tr",
          { class: isChosen && "g2h-chosen" },
          element("th", { scope: "row" }, element("bdi", {}, text)),
          element("td", { "data-value": score }, signed(score)),
        ),
      ),
    ),
  );
}

export default {
  render({ model, el }) {
    const view = new FindTheAnswer(model, el);
    return () => view.dispose();
  },
};
