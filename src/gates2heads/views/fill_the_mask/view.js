import { writeBilingual } from "../../browser/engine/tokens/bilingual.js";
import { composed, visible } from "../../browser/live/pieces.js";
import { LiveStage, STORED } from "../../browser/live/stage.js";
import { percent, toggled, toggledName, toldInWords, unchanged, within } from "./fills.js";
import { element, inside } from "../kit/view.js";

const LONGEST = 400; // characters
const MOST = 6; // unknown words that are named
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
    this.words = this.row("g2h-words", "words; press one to hide it", (place) =>
      this.hide(toggled(this.hidden, place)),
    );
    this.wholes = this.row("g2h-wholes", "names; press one to hide it whole", (at) =>
      this.hideName(at),
    );
    this.answers = element("div", { class: "g2h-answers g2h-dim" });
    this.detail = element("div", { class: "g2h-detail g2h-dim" });
    this.listen(this.answers, "click", (event) => this.choose(event.target.closest("button")));
    this.root.append(
      this.buildField("input", { autocapitalize: "off" }),
      this.refusal.node,
      this.buildChips(model.get("labels")),
      element("p", { class: "g2h-name" }, "Press a word to hide it, or to show it again"),
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
    return within(this.model.get("hidden"), this.tokens.length);
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
    return "Nothing to read yet: type a sentence.";
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

  /** Words that stay where they were keep their gaps. */
  type() {
    this.isTyped ||= this.read(this.input.value) !== this.model.get("text");
    super.type();
  }

  async run([text, hidden]) {
    const results = await this.runAll("fill", { text, hidden });
    if (!results) return null;
    const kept = this.isTyped ? unchanged(hidden, this.tokens, results[0].tokens) : hidden;
    this.isTyped = false;
    if (kept.length === hidden.length) return { text, results };
    this.put({ hidden: kept }); // which asks again
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
    const strange = tokens
      .filter((_, place) => !known[place])
      .map((token) => `“${visible(token)}”`);
    const more = strange.length > MOST ? `, and ${strange.length - MOST} more` : "";
    const named = strange.slice(0, MOST).join(", ");
    const said = strange.length
      ? ` No model ever saw ${named}${more}: read as an unknown word.`
      : "";
    return `Answered in ${(this.milliseconds / 1000).toFixed(2)} s, in this page.${said}`;
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
        names.length ? "Hide a whole name: " : "No name that the models were told of. ",
      ),
      ...names.map(name),
      element(
        "button",
        {
          type: "button",
          class: "g2h-chip",
          "data-place": -1,
          disabled: this.hidden.length ? null : "",
        },
        "Hide nothing",
      ),
    );
    this.answers.replaceChildren(
      ...results.map((result, at) => this.answer(this.model.get("names")[at], result)),
    );
    this.drawDetail();
    this.say(toldInWords(this.model.get("names"), results));
    focus();
  }

  /** Buttons are made anew: gives what hands the focus to the successor of the one that has it. */
  focusKeeper() {
    const row = [this.words, this.wholes, this.answers].find((one) => one.querySelector(":focus"));
    if (!row) return () => {};
    const buttons = () => [...row.querySelectorAll("button")];
    const at = buttons().findIndex((one) => one.matches(":focus"));
    return () => buttons()[at]?.focus({ preventScroll: true });
  }

  /** The sentence as a model has it: what it filled in, or what it wrote. */
  answer(name, result) {
    const line = element("p", { class: "g2h-line" });
    if (result.written) {
      const read = this.tokens.slice(0, this.hidden[0] ?? this.tokens.length);
      line.append(
        element("span", { class: "g2h-read" }, writeBilingual(read)),
        " ",
        ...result.written.flatMap(({ token, share }) => [written(token, share), " "]),
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

  /** What was filled into a gap; pressed, it shows what else might stand there. */
  filled({ best: [{ token, share }], at }, was) {
    const isSame = token === was;
    return element(
      "button",
      {
        type: "button",
        class: `g2h-filled ${isSame ? "g2h-same" : "g2h-other"}`,
        "data-gap": at,
        "data-share": share,
        "aria-pressed": String(at === this.gap),
        "aria-label": `${token}, ${percent(share)}, ${isSame ? "as it stood" : `“${was}” stood there`}`,
      },
      element("bdi", {}, visible(token)),
      element("i", { "aria-hidden": "true" }, isSame ? "✓" : "✗"),
    );
  }

  drawDetail() {
    const shown = this.now.results
      .map((result, at) => [this.model.get("names")[at], result.gaps?.[this.gap]])
      .filter(([, gap]) => gap);
    this.detail.replaceChildren(
      ...shown.map(([name, gap]) => table(name, gap, this.tokens[gap.place])),
    );
  }
}

function written(token, share) {
  return element(
    "span",
    { class: "g2h-written", "data-share": share, title: percent(share) },
    element("bdi", {}, visible(token)),
  );
}

/** The likeliest tokens of one gap, and how likely what stood there is. */
function table(name, { best, was }, stood) {
  const rows = best.map(({ token, share }) => [token, share, token === stood]);
  if (was !== null && !rows.some(([, , isWas]) => isWas)) rows.push([stood, was, true]);
  return element(
    "table",
    { class: "g2h-shares" },
    element("caption", {}, `${name}, in place of “`, element("bdi", {}, visible(stood)), "”"),
    element(
      "tbody",
      {},
      ...rows.map(([token, share, isWas]) =>
        element(
          "tr",
          { class: isWas && "g2h-was" },
          element(
            "th",
            { scope: "row" },
            element("bdi", {}, visible(token)),
            isWas ? " (stood there)" : "",
          ),
          element(
            "td",
            { "data-value": share, style: `--g2h-share: ${(100 * share).toFixed(2)}%` },
            percent(share),
          ),
        ),
      ),
    ),
  );
}

export default {
  render({ model, el }) {
    const view = new FillTheMask(model, el);
    return () => view.dispose();
  },
};
