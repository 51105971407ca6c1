// The text field of a live view and the examples beside it. Typed text becomes the question once no
// key has been pressed for a moment. Text that cannot be used is explained beside the field, which
// keeps it.
//
// A subclass defines
//   ask()               runs the models on the question
//   rest(sentence)      there is no question, because the field is empty
//   turnDown(sentence)  the typed text cannot be a question

import { Refusal, Stage, element, field } from "../../../views/kit/view.js";
import { tidy, tooLong } from "../pieces.js";

const WAIT = 150; // milliseconds without a key before what is typed is read

export class TypedStage extends Stage {
  // ---- options of a view

  /** Shown beside the field while the result on the page is the previous one. */
  get old() {
    return "";
  }

  /** Shown if the field is empty. */
  get nothing() {
    return "The field is empty: type some text.";
  }

  /** The largest number of characters; the models have limits of their own. */
  get longest() {
    return Infinity;
  }

  /** Traits that a new text resets. */
  get afresh() {
    return {};
  }

  /** The typed text as the models receive it. */
  read(typed) {
    return tidy(typed);
  }

  /** Whether a text has any content. */
  holds(text) {
    return Boolean(text.trim());
  }

  /** The text of an example. */
  example(place) {
    return this.model.get("examples")[place];
  }

  // ---- parts that are built once

  /** The field under its label. The view decides where `this.refusal` is shown. */
  buildField(tag, attributes, label = this.model.get("label")) {
    const own = tag === "input" ? { type: "text" } : { rows: 2 };
    const plain = { spellcheck: "false", autocomplete: "off" };
    this.input = element(tag, { ...own, ...plain, ...attributes });
    this.heard = this.input.value = this.model.get("text");
    this.refusal = new Refusal(this.input);
    this.listen(this.input, "input", () => this.later());
    this.listen(this.input, "change", () => this.leave());
    return field(label, this.input);
  }

  /** The examples as buttons; `attributes` gives what each has beyond its label. */
  buildChips(labels, attributes = () => ({}), name = "chip") {
    this.chips = labels.map((label, place) =>
      element(
        "button",
        { type: "button", class: `g2h-${name}`, ...attributes(place), "data-place": place },
        label,
      ),
    );
    const group = { class: `g2h-${name}s`, role: "group", "aria-label": "examples" };
    const row = element("div", group, ...this.chips);
    this.listen(row, "click", (event) => this.press(event.target.closest("button")));
    return row;
  }

  /** Makes the controls show the current question: at least, which example is in the field. */
  mark() {
    const typed = this.read(this.input.value);
    this.chips.forEach((chip, place) =>
      chip.setAttribute("aria-pressed", this.read(this.example(place)) === typed),
    );
  }

  // ---- from typed text to a question

  /** Typed text is used once no key has been pressed for a moment. */
  later() {
    this.dim(true);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.take(), WAIT);
  }

  take() {
    clearTimeout(this.timer);
    this.isUsed = true;
    this.taken = this.input.value;
    this.type();
  }

  /**
   * The field loses the focus: new text is used at once. Drawing the same text again would remove
   * the button that is just being pressed.
   */
  leave() {
    if (this.input.value !== this.taken) this.take();
  }

  press(chip) {
    if (!chip) return;
    this.input.value = this.example(chip.dataset.place);
    this.take();
  }

  /** The typed text becomes the question if it can be one. */
  type() {
    const text = this.read(this.input.value);
    if (!this.admits(text)) {
      this.mark();
      return;
    }
    if (text !== this.model.get("text")) this.put({ text, ...this.afresh });
    this.hear();
  }

  /** Whether a text can be a question; shows the reason if not. */
  admits(text) {
    const isLong = text.length > this.longest;
    if (this.holds(text) && !isLong) return true;
    this.dim(true);
    if (isLong) {
      this.turnDown(tooLong(text.length, this.longest, "characters"));
    } else {
      this.rest([this.nothing, this.old].filter(Boolean).join(" "));
    }
    return false;
  }

  /**
   * A trait was set, by a control or by Python. Only a new text replaces the typed one.
   */
  hear() {
    const text = this.model.get("text");
    if (text !== this.heard && !this.isAsTyped) this.input.value = text;
    this.heard = text;
    this.mark();
    return this.ask();
  }

  /** Whether the field holds the text of the question, and not one that was refused. */
  get isAsTyped() {
    return this.read(this.input.value) === this.read(this.model.get("text"));
  }
}
