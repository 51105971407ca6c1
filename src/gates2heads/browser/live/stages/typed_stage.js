// The typed question of a live view: its field, the examples beside it, and what can be asked of them.
// A question is taken once no key was pressed for a moment. What cannot be read is said beside the
// field, which keeps it.
//
// The class that extends this one has
//   ask()             asks the models
//   rest(sentence)    nothing is asked: the field is empty
//   turnDown(sentence)  what was typed cannot be asked

import { Refusal, Stage, element, field } from "../../../views/kit/view.js";
import { tidy, tooLong } from "../pieces.js";

const WAIT = 150; // milliseconds without a key before what is typed is read

export class TypedStage extends Stage {
  // ---- what a view may say otherwise

  /** Said of the picture while what was asked has no answer. */
  get old() {
    return "";
  }

  /** Said where the field is empty. */
  get nothing() {
    return "The field is empty: type some text.";
  }

  /** Characters that there is room for; the models' own limits are theirs to tell. */
  get longest() {
    return Infinity;
  }

  /** Traits that begin anew with a new text. */
  get afresh() {
    return {};
  }

  /** What is typed, as the models read it. */
  read(typed) {
    return tidy(typed);
  }

  /** Whether there is anything to read in a text. */
  holds(text) {
    return Boolean(text.trim());
  }

  /** The text of an example. */
  example(place) {
    return this.model.get("examples")[place];
  }

  // ---- what stands for the life of the view

  /** The field under its label. The refusal of what is typed there is the view's to place. */
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

  /** The controls show what is asked: at least, which example stands in the field. */
  mark() {
    const typed = this.read(this.input.value);
    this.chips.forEach((chip, place) =>
      chip.setAttribute("aria-pressed", this.read(this.example(place)) === typed),
    );
  }

  // ---- hear

  /** What is typed is taken once no key was pressed for a moment. */
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
   * The field is left: what is typed is read at once, unless it was. To draw the same again would
   * take the button away under the press that left the field.
   */
  leave() {
    if (this.input.value !== this.taken) this.take();
  }

  press(chip) {
    if (!chip) return;
    this.input.value = this.example(chip.dataset.place);
    this.take();
  }

  /** What is typed becomes the question, if it can be one. */
  type() {
    const text = this.read(this.input.value);
    if (!this.admits(text)) {
      this.mark();
      return;
    }
    if (text !== this.model.get("text")) this.put({ text, ...this.afresh });
    this.hear();
  }

  /** Whether a text may be asked; says why not. */
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
   * A trait was set, by a control or by Python. Only a new text takes the place of what is typed.
   */
  hear() {
    const text = this.model.get("text");
    if (text !== this.heard && !this.isAsTyped) this.input.value = text;
    this.heard = text;
    this.mark();
    return this.ask();
  }

  /** Whether the field holds the text that is asked, and not one that was refused. */
  get isAsTyped() {
    return this.read(this.input.value) === this.read(this.model.get("text"));
  }
}
