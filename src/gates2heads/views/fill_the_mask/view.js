import { MASK, writeBilingual } from "../../browser/engine/tokens/bilingual.js";
import { composed, visible } from "../../browser/live/pieces.js";
import { LiveStage, STORED } from "../../browser/live/stages/stage.js";
import {
  maskedOf,
  opening,
  percent,
  toggled,
  toggledName,
  toldInWords,
  unchanged,
} from "./fills.js";
import { shareTable, writtenToken } from "./shares.js";
import { element, inside, isSame } from "../kit/view.js";

const LONGEST = 400; // characters
const OLD = "The dimmed result below belongs to the previous sentence.";

class FillTheMask extends LiveStage {
  constructor(model, el) {
    super(model, el, "fill-the-mask");
    this.now = { text: model.get("examples")[0], results: model.get("recorded") };
    this.build();
    this.begin(["text", "hidden"], [this.now.text, model.get("gaps")[0]]);
    this.follow(["gap"], () => this.draw());
  }

  // ---- what stays for the life of the view

  build() {
    const { model } = this;
    this.words = this.row("g2h-words", "words; click one to mask it", (place) =>
      this.hide(toggled(this.hidden, place)),
    );
    this.wholes = this.row("g2h-wholes", "names; click one to mask all of it", (at) =>
      this.hideName(at),
    );
    this.answers = element("div", { class: "g2h-answers g2h-dim" });
    this.detail = element("div", { class: "g2h-detail g2h-dim" });
    this.listen(this.answers, "click", (event) => this.choose(event.target.closest("button")));
    this.root.append(
      this.buildField("input", { autocapitalize: "off" }),
      this.refusal.node,
      this.buildChips(model.get("labels")),
      element("p", { class: "g2h-name" }, "Click a word to mask it or to unmask it"),
      this.words,
      this.wholes,
      this.answers,
      this.detail,
    );
    this.buildFoot();
  }

  /** A row of buttons, each with its place. */
  row(name, label, pressed) {
    const node = element("div", { class: name, role: "group", "aria-label": label });
    this.listen(node, "click", (event) => {
      const button = event.target.closest("button");
      if (button) pressed(Number(button.dataset.place));
    });
    return node;
  }

  // ---- where we are

  /** The tokens of the last answer, which are those of the text as far as it was read. */
  get tokens() {
    return this.now.results[0].tokens;
  }

  get hidden() {
    return maskedOf(this.model.get("hidden"), this.tokens);
  }

  get gaps() {
    return this.now.results.find(({ gaps }) => gaps)?.gaps ?? [];
  }

  get gap() {
    return inside(this.model.get("gap"), this.gaps.length);
  }

  // ---- what is asked

  get old() {
    return OLD;
  }

  get nothing() {
    return "The field is empty: type a sentence.";
  }

  get longest() {
    return LONGEST;
  }

  /** Facts have quotation marks and capitals of their own. */
  read(typed) {
    return composed(typed);
  }

  question() {
    return [this.model.get("text"), this.model.get("hidden")];
  }

  hide(hidden) {
    this.put({ hidden });
  }

  hideName(at) {
    if (at < 0) this.hide([]);
    else this.hide(toggledName(this.hidden, this.now.results[0].names[at]));
  }

  choose(button) {
    if (button) this.put({ gap: Number(button.dataset.gap) });
  }

  press(chip) {
    if (!chip) return;
    const { place } = chip.dataset;
    this.isTyped = false;
    this.input.value = this.example(place);
    this.put({ text: this.read(this.input.value), hidden: this.model.get("gaps")[place], gap: 0 });
    this.hear();
  }

  /** Words that keep their position stay masked. */
  type() {
    this.isTyped ||= this.read(this.input.value) !== this.model.get("text");
    super.type();
  }

  async run([text, hidden]) {
    const results = await this.runAll("fill", { text, hidden });
    if (!results) return null;
    if (!this.isTyped) return { text, results };
    this.isTyped = false;
    const [{ tokens, names }] = results;
    const kept = unchanged(hidden, this.tokens, tokens);
    const masked = kept.length ? kept : opening(tokens, names);
    if (isSame(masked, hidden)) return { text, results };
    this.put({ hidden: masked }); // which asks again
    return null;
  }

  show(now) {
    this.now = now;
  }

  inWords() {
    if (this.isRecorded) {
      return STORED;
    }
    const { tokens, known } = this.now.results[0];
    return this.computed(tokens.filter((token, place) => !known[place] && token !== MASK));
  }

  // ---- drawing

  draw() {
    const focus = this.focusKeeper();
    const { results } = this.now;
    const { tokens, known, names } = results[0];
    this.words.replaceChildren(
      ...tokens.map((token, place) =>
        element(
          "button",
          {
            type: "button",
            "data-place": place,
            "aria-pressed": String(this.hidden.includes(place)),
            disabled: token === MASK ? "" : null,
            class: `g2h-word${known[place] ? "" : " g2h-unknown"}`,
          },
          element("bdi", {}, visible(token)),
        ),
      ),
    );
    const isWhole = ([start, end]) =>
      this.hidden.filter((place) => place >= start && place < end).length === end - start;
    const name = (span, at) =>
      element(
        "button",
        {
          type: "button",
          class: "g2h-chip",
          "data-place": at,
          "aria-pressed": String(isWhole(span)),
        },
        element("bdi", {}, writeBilingual(tokens.slice(...span))),
      );
    this.wholes.replaceChildren(
      element(
        "span",
        { class: "g2h-name" },
        names.length ? "Mask a whole name: " : "No name from the training facts. ",
      ),
      ...names.map(name),
      element(
        "button",
        {
          type: "button",
          class: "g2h-chip",
          "data-place": -1,
          disabled: this.model.get("hidden").length ? null : "",
        },
        "Unmask all",
      ),
    );
    this.answers.replaceChildren(
      ...results.map((result, at) => this.answer(this.model.get("names")[at], result)),
    );
    this.drawDetail();
    this.say(toldInWords(this.model.get("names"), results));
    focus();
  }

  /** Buttons are made again: gives what hands the focus to the successor of the one that has it. */
  focusKeeper() {
    const row = [this.words, this.wholes, this.answers].find((one) => one.querySelector(":focus"));
    if (!row) return () => {};
    const buttons = () => [...row.querySelectorAll("button")];
    const at = buttons().findIndex((one) => one.matches(":focus"));
    return () => buttons()[at]?.focus({ preventScroll: true });
  }

  /** The sentence as a model completes it. */
  answer(name, result) {
    const line = element("p", { class: "g2h-line" });
    if (result.written) {
      const read = this.tokens.slice(0, this.hidden[0] ?? this.tokens.length);
      line.append(
        element("span", { class: "g2h-read" }, writeBilingual(read)),
        " ",
        ...result.written.flatMap(({ token, share }) => [writtenToken(token, share), " "]),
        result.finished ? element("span", { class: "g2h-name" }, "end") : "…",
      );
    } else {
      const places = new Map(result.gaps.map((gap, at) => [gap.place, { ...gap, at }]));
      line.append(
        ...result.tokens.flatMap((token, place) => [
          places.has(place)
            ? this.filled(places.get(place), token)
            : element("bdi", {}, visible(token)),
          " ",
        ]),
      );
    }
    const node = element(
      "div",
      { class: "g2h-answer", "data-model": name },
      element("span", { class: "g2h-name" }, name),
      line,
    );
    return node;
  }

  /** The token that was filled in; a click shows the others and their probabilities. */
  filled({ best: [{ token, share }], at }, was) {
    const kind = was === MASK ? "open" : token === was ? "same" : "other";
    const told = { open: "", same: ", as typed", other: `, instead of “${was}”` }[kind];
    return element(
      "button",
      {
        type: "button",
        class: `g2h-filled g2h-${kind}`,
        "data-gap": at,
        "data-share": share,
        "aria-pressed": String(at === this.gap),
        "aria-label": `${token}, ${percent(share)}${told}`,
      },
      element("bdi", {}, visible(token)),
      element("i", { "aria-hidden": "true" }, { open: "", same: "✓", other: "✗" }[kind]),
    );
  }

  drawDetail() {
    const shown = this.now.results
      .map((result, at) => [this.model.get("names")[at], result.gaps?.[this.gap]])
      .filter(([, gap]) => gap);
    this.detail.replaceChildren(
      ...shown.map(([name, gap]) => shareTable(name, gap, this.tokens[gap.place])),
    );
  }
}

export default {
  render({ model, el }) {
    const view = new FillTheMask(model, el);
    return () => view.dispose();
  },
};
