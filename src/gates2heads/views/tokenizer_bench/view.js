import { fullInWords } from "../../browser/live/pieces.js";
import {
  countsOf,
  historyOf,
  mergeInWords,
  shownToken,
  withMerges,
  wordsWithTokens,
} from "./merging.js";
import { Stage, direction, element, field, inside } from "../kit/view.js";

const STEPS = 200; // of the slider, which moves by ratios
const LEGEND =
  "Each box is a token with its number below; ␣ marks a space, and two hexadecimal digits are a byte that is not a whole character. Click a token to see how its word was merged.";
const LONGEST = 24; // merges that are listed of one word

const thousands = (number) => number.toLocaleString("en");
const several = (number, name) => `${thousands(number)} ${name}${number === 1 ? "" : "s"}`;

class TokenizerBench extends Stage {
  constructor(model, el) {
    super(model, el, "tokenizer-bench");
    this.described = model.get("tokenizer");
    this.most = this.described.merges.length / 2;
    this.buildText();
    this.buildControls();
    this.buildPicture();
    this.follow(["text", "merges", "word"], () => this.draw());
    this.draw();
  }

  buildText() {
    const most = this.model.get("longest");
    this.input = element("textarea", { rows: 2, maxlength: most, spellcheck: "false" });
    this.root.append(field(`Type any text (up to ${most} characters)`, this.input));
    this.listen(this.input, "input", () => this.put({ text: this.input.value }));
  }

  /** The slider, the number itself, and one merge less or more. */
  buildControls() {
    const button = (name, by) => {
      const one = element("button", { type: "button" }, name);
      this.listen(one, "click", () => this.use(this.model.get("merges") + by));
      return one;
    };
    this.slider = element("input", { type: "range", min: 0, max: STEPS, step: 1 });
    this.number = element("input", { type: "number", min: 0, max: this.most, step: 1 });
    this.size = element("output");
    [this.less, this.more] = [button("One merge fewer", -1), button("One merge more", 1)];
    this.root.append(
      element(
        "div",
        { class: "g2h-controls" },
        field("vocabulary size: ", this.slider, this.size),
        field(`merges used (0 to ${thousands(this.most)})`, this.number),
        this.less,
        this.more,
      ),
    );
    this.listen(this.slider, "input", () => this.use(this.mergesAt(Number(this.slider.value))));
    this.listen(this.number, "change", () => this.use(this.number.value));
  }

  mergesAt(step) {
    return Math.round((this.most + 1) ** (step / STEPS) - 1);
  }

  stepOf(merges) {
    return Math.round((STEPS * Math.log(merges + 1)) / Math.log(this.most + 1));
  }

  /** Sets the number of merges, moved into bounds; the field shows what is used. */
  use(merges) {
    this.put({ merges: inside(merges, this.most + 1) });
    this.number.value = this.model.get("merges");
  }

  buildPicture() {
    this.learnt = element("p", { class: "g2h-learnt" });
    this.tokens = element("div", { class: "g2h-tokens", role: "group", "aria-label": "tokens" });
    this.status = element("p", { class: "g2h-live", "aria-live": "polite" });
    this.history = element("div", {
      class: "g2h-history",
      tabindex: 0,
      role: "group",
      "aria-label": "the merges of one word",
    });
    this.root.append(
      this.learnt,
      this.tokens,
      this.status,
      element("p", { class: "g2h-legend" }, LEGEND),
      this.history,
    );
    this.listen(this.tokens, "click", (event) => {
      const { word } = event.target.closest("button")?.dataset ?? {};
      if (word !== undefined) this.put({ word: Number(word) });
    });
  }

  draw() {
    const [text, merges] = [this.model.get("text"), this.model.get("merges")];
    const tokenizer = withMerges(this.described, merges);
    const words = wordsWithTokens(tokenizer, text);
    const chosen = words.length ? inside(this.model.get("word"), words.length) : -1;
    if (this.input.value !== text) this.input.value = text;
    this.slider.value = this.stepOf(merges);
    this.number.value = merges;
    this.size.textContent = `${thousands(tokenizer.vocabulary.length)} tokens`;
    this.slider.setAttribute("aria-valuetext", this.size.textContent);
    this.less.disabled = merges === 0;
    this.more.disabled = merges === this.most;
    this.learnt.textContent = this.learntInWords(tokenizer, merges);
    this.drawTokens(tokenizer, words, chosen, direction(text));
    this.drawHistory(tokenizer, words[chosen]);
    this.status.textContent =
      this.inWords(countsOf(tokenizer, text)) + fullInWords([text], this.model.get("longest"));
    this.root.dataset.tokens = words.flatMap((one) => one.tokens).join(" ");
    this.root.dataset.size = tokenizer.vocabulary.length;
  }

  learntInWords(tokenizer, merges) {
    const told = mergeInWords(tokenizer, this.described, merges);
    if (!told) return "No merge is used: every token is a single byte.";
    return `Merge ${thousands(merges)}, the last one used, joins “${told.left}” and “${told.right}” into “${told.merged}”.`;
  }

  drawTokens(tokenizer, words, chosen, dir) {
    this.tokens.dir = dir;
    const boxes = words.flatMap(({ tokens }, word) =>
      tokens.map((number, at) => {
        const name = shownToken(tokenizer, number);
        const attributes = {
          type: "button",
          class: "g2h-token",
          "data-word": word,
          "data-token": number,
          "data-first": at === 0 && "",
          "aria-pressed": String(word === chosen),
          "aria-label": `${name}, token ${number}`,
        };
        return element(
          "button",
          attributes,
          element("span", { dir: "auto" }, name),
          element("small", {}, String(number)),
        );
      }),
    );
    const focused = document.activeElement?.closest?.(".g2h-token");
    const at = focused ? [...this.tokens.children].indexOf(focused) : -1;
    this.tokens.replaceChildren(...boxes);
    if (at >= 0) boxes[Math.min(at, boxes.length - 1)]?.focus();
  }

  drawHistory(tokenizer, chosen) {
    if (!chosen) return this.history.replaceChildren();
    const all = historyOf(tokenizer, chosen.word);
    const steps = all.length > LONGEST ? [all[0], ...all.slice(1 - LONGEST)] : all;
    const rows = steps.map(({ merge, tokens }) =>
      element(
        "tr",
        { "data-merge": merge },
        element("th", { scope: "row" }, merge ? thousands(merge) : "bytes"),
        element("td", {}, tokens.map((one) => shownToken(tokenizer, one)).join(" | ")),
      ),
    );
    const head = ["merge", "the word after the merge"].map((name) =>
      element("th", { scope: "col" }, name),
    );
    const left = all.length - steps.length;
    this.history.replaceChildren(
      element(
        "table",
        {},
        element("thead", {}, element("tr", {}, ...head)),
        element("tbody", {}, ...rows),
      ),
      ...(left ? [element("p", {}, `${several(left, "earlier merge")} left out.`)] : []),
    );
  }

  inWords({ characters, bytes, bytesRead, words, tokens }) {
    if (!tokens) return "Type some text to see its tokens.";
    const added =
      bytesRead > bytes
        ? ` (${thousands(bytesRead)} with the space that the tokenizer adds in front)`
        : "";
    const counts = [
      several(characters, "character"),
      several(bytes, "byte") + added,
      several(words, "word"),
      several(tokens, "token"),
    ].join(", ");
    return `${counts}: ${(bytesRead / tokens).toFixed(2)} bytes per token.`;
  }
}

export default {
  render({ model, el }) {
    const view = new TokenizerBench(model, el);
    return () => view.dispose();
  },
};
