import { isRight, marked, percentAlong, quantity, score, verdict } from "./verdicts.js";
import { Stage, element, field } from "../kit/view.js";

/** Text with its marks, as nodes. */
const written = (text) =>
  marked(text).map((part) => (part.tag ? element(part.tag, {}, part.text) : part.text));

/** One question: what is asked, a way to answer, and what is said when the reader has committed. */
class Asked {
  constructor(stage, question, place) {
    this.stage = stage;
    this.question = question;
    this.place = place;
    this.commit = element("button", { class: "g2h-main", disabled: true }, "Commit");
    this.said = element("p", { class: "g2h-verdict", "aria-live": "polite", tabindex: -1 });
    this.body = element("fieldset", {}, element("legend", {}, ...written(question.text)));
    this.body.append(...(question.options ? this.choices() : this.scale()));
    // A form of its own: radio buttons of one name stay apart from those of other views.
    this.node = element("form", { class: "g2h-question" }, this.body, this.commit, this.said);
    stage.listen(this.node, "input", () => this.ready());
    stage.listen(this.node, "submit", (event) => this.submit(event));
  }

  choices() {
    this.options = this.question.options.map(({ answer, reason, right }, value) => {
      const radio = element("input", { type: "radio", name: "answer", value });
      const mark = element("span", { class: "g2h-mark" });
      const why = element("span", { class: "g2h-reason", hidden: true }, ...written(reason));
      const words = element("span", {}, element("span", {}, ...written(answer)), mark, why);
      return {
        radio,
        mark,
        why,
        right,
        node: element("label", { class: "g2h-option" }, radio, words),
      };
    });
    return this.options.map(({ node }) => node);
  }

  scale() {
    const { low, high, step } = this.question;
    this.slider = element("input", { type: "range", min: low, max: high, step });
    this.output = element("output", {}, "move the slider");
    this.track = element("div", { class: "g2h-track", role: "img", hidden: true });
    this.why = element(
      "p",
      { class: "g2h-reason", hidden: true },
      ...written(this.question.reason),
    );
    return [field("your guess: ", this.slider, this.output), this.track];
  }

  get chosen() {
    if (this.slider) return Number(this.slider.value);
    const place = this.options.findIndex(({ radio }) => radio.checked);
    return place < 0 ? null : place;
  }

  ready() {
    this.commit.disabled = false;
    if (!this.slider) return;
    const said = quantity(this.chosen, this.question.unit);
    this.output.textContent = said;
    this.slider.setAttribute("aria-valuetext", said);
  }

  submit(event) {
    event.preventDefault();
    if (this.chosen === null || this.commit.disabled) return;
    this.stage.answer(this.place, this.chosen);
    this.said.focus({ preventScroll: true }); // the button is gone, the keyboard goes on from here
  }

  draw(answer) {
    const open = answer === null;
    this.node.dataset.state = open ? "open" : isRight(this.question, answer) ? "right" : "wrong";
    this.body.disabled = !open;
    this.commit.hidden = !open;
    if (this.slider) this.drawScale(answer);
    else this.drawChoices(answer);
    this.said.replaceChildren(...(open ? [] : written(verdict(this.question, answer))));
    if (this.slider) this.said.after(this.why);
  }

  drawChoices(answer) {
    this.options.forEach(({ radio, mark, why, right, node }, place) => {
      const yours = place === answer;
      const found = right ? "correct" : "incorrect";
      const told = yours ? `your answer: ${found}` : right ? "correct answer" : "";
      if (yours) radio.checked = true;
      node.dataset.state = answer === null ? "open" : right ? "right" : yours ? "wrong" : "other";
      mark.textContent = answer === null || !told ? "" : `${right ? "✓" : "✗"} ${told}`;
      why.hidden = answer === null;
    });
  }

  drawScale(answer) {
    const { answer: truth, unit } = this.question;
    this.track.hidden = this.why.hidden = answer === null;
    if (answer === null) return;
    this.slider.value = answer;
    this.output.textContent = quantity(answer, unit);
    const end = (name, number, words) =>
      element(
        "span",
        {
          class: `g2h-end g2h-${name}`,
          style: `--g2h-at: ${percentAlong(this.question, number)}%`,
        },
        element("span", {}, `${words} ${quantity(number, unit)}`),
      );
    this.track.replaceChildren(end("yours", answer, "you"), end("truth", truth, "correct"));
    this.track.setAttribute("aria-label", verdict(this.question, answer));
  }

  again() {
    this.node.reset();
    this.commit.disabled = true;
    if (this.output) this.output.textContent = "move the slider";
  }
}

class Predict extends Stage {
  constructor(model, el) {
    super(model, el, "predict");
    this.questions = model.get("questions");
    this.asked = this.questions.map((question, place) => new Asked(this, question, place));
    this.score = element("p", { class: "g2h-live", "aria-live": "polite" });
    this.retry = element("button", { type: "button", hidden: true }, "Ask me again");
    this.result = element("div", {
      class: "g2h-result",
      role: "group",
      "aria-label": "the result",
    });
    this.root.append(...this.asked.map(({ node }) => node), this.score, this.retry, this.result);
    this.listen(this.retry, "click", () => this.again());
    this.follow(["answers"], () => this.draw());
    this.hideTwin();
    this.draw();
  }

  get answers() {
    const answers = this.model.get("answers");
    return this.questions.map((_, place) => answers[place] ?? null);
  }

  answer(place, value) {
    this.put({ answers: this.answers.map((old, at) => (at === place ? value : old)) });
  }

  again() {
    this.asked.forEach((one) => one.again());
    this.put({ answers: this.questions.map(() => null) });
    this.asked[0].node.querySelector("input").focus();
  }

  draw() {
    const { answers } = this;
    const done = answers.every((answer) => answer !== null);
    this.asked.forEach((one, place) => one.draw(answers[place]));
    this.score.textContent = score(this.questions, answers);
    this.score.hidden = this.questions.length === 1;
    this.retry.hidden = !done || this.questions.length === 1;
    if (done !== this.done) this.result.replaceChildren(...(done ? this.opened() : this.closed()));
    if (done && this.done === false) this.openFold();
    this.done = done;
    this.root.dataset.done = done;
  }

  /** On a page of the book, the results that follow the question in its section are folded. */
  openFold() {
    const section = this.root.closest("section");
    if (!section) return;
    const follows = (fold) =>
      this.root.compareDocumentPosition(fold) & Node.DOCUMENT_POSITION_FOLLOWING;
    const fold = [...section.querySelectorAll("details.predict")].find(
      (one) => follows(one) && one.closest("section") === section && !one.closest(".g2h-twin"),
    );
    if (fold) fold.open = true;
  }

  closed() {
    const some = Object.keys(this.model.get("result")).length;
    return some
      ? [element("p", { class: "g2h-lid" }, "The result appears once you commit to an answer.")]
      : [];
  }

  opened() {
    const { svg, alt, rows, text } = this.model.get("result");
    const parts = [];
    if (svg) {
      const picture = element("div", { class: "g2h-drawing", role: "img", "aria-label": alt });
      picture.innerHTML = svg; // as Python drew it
      parts.push(picture);
    }
    if (rows) parts.push(element("div", { class: "g2h-wide" }, this.table(rows)));
    if (text) parts.push(element("p", {}, ...written(text)));
    return parts;
  }

  table([head, ...rows]) {
    const row = (cells, tag) =>
      element("tr", {}, ...cells.map((cell) => element(tag, {}, ...written(cell))));
    return element(
      "table",
      {},
      element("thead", {}, row(head, "th")),
      element("tbody", {}, ...rows.map((cells) => row(cells, "td"))),
    );
  }

  /**
   * The same in print lies beside this view, or comes after it; on screen one of them is enough.
   */
  hideTwin() {
    const name = this.model.get("twin");
    const hide = () => {
      for (const twin of document.querySelectorAll(`[id="${name}"]`)) {
        if (twin.dataset.live) continue;
        twin.dataset.live = "true";
        this.root.classList.add("g2h-printed-elsewhere");
      }
    };
    this.watch = new MutationObserver(hide);
    this.watch.observe(document.body, { childList: true, subtree: true });
    hide();
  }

  dispose() {
    this.watch.disconnect();
    super.dispose();
  }
}

export default {
  render({ model, el }) {
    const view = new Predict(model, el);
    return () => view.dispose();
  },
};
