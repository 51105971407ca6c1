import { fullInWords } from "../../browser/live/pieces.js";
import { answerRows } from "../../browser/metrics/answers.js";
import { ORDERS, measure, measuredInWords, orderRows, scoreRows } from "../kit/metrics.js";
import {
  Stage,
  choice,
  columnHead,
  direction,
  element,
  field,
  inside,
  moreControls,
} from "../kit/view.js";
import { Ngrams } from "./ngrams.js";

const TOKENIZERS = ["13a", "none", "char", "rouge"];
const CUTS = [
  "words and punctuation (13a)",
  "split at white space (none)",
  "characters (char)",
  "letters and digits (rouge)",
];
const SMOOTHING = ["exp", "none", "floor", "add-k"];
const LITTLE = [
  "exponential: count ½, ¼, … (exp)",
  "none",
  "count 0.1 (floor)",
  "add 1 for n > 1 (add-k)",
];
const ABOUT =
  "BLEU uses the tokenizer chosen below. ROUGE compares lower-case letters and digits, chrF compares characters; with several references, both use the one with the highest score. For answer F1 and exact match, the texts are lower-cased, and punctuation and articles are removed. The score of ROUGE and of an answer is F₁, that of chrF F₂. An asterisk marks a smoothed precision.";
const allRows = (state) => [...scoreRows(measure(state)), ...answerRows(state)];
const TEXTS = ["references", "hypothesis", "tokenize", "smooth", "lowercase", "order", "shown"];

class MetricBench extends Stage {
  constructor(model, el) {
    super(model, el, "metric-bench");
    this.most = model.get("most");
    this.kept = null; // the scores that were stored
    this.buildTexts();
    this.buildScores(); // next to the texts: an edit and its effect fit on one screen
    this.buildControls();
    this.ngrams = new Ngrams((...how) => this.listen(...how));
    this.root.append(...this.ngrams.nodes);
    this.follow(TEXTS, () => this.draw());
    this.draw();
  }

  read() {
    const well = (text) => text.toWellFormed?.() ?? text; // Python has no halves of characters
    return {
      hypothesis: well(this.model.get("hypothesis")),
      references: this.model.get("references").map(well),
      ...Object.fromEntries(
        ["tokenize", "smooth", "lowercase", "order"].map((name) => [name, this.model.get(name)]),
      ),
    };
  }

  buildTexts() {
    const examples = this.model.get("examples");
    this.example = choice(["your own", ...examples.map((one) => one.name)]);
    this.hypothesis = element("textarea", {
      rows: 1,
      maxlength: this.most.characters,
      spellcheck: "false",
    });
    this.references = element("div", { class: "g2h-texts" });
    this.more = element("button", { type: "button" }, "Add a reference");
    this.less = element("button", { type: "button" }, "Remove a reference");
    this.root.append(
      element("div", { class: "g2h-controls" }, field("example", this.example)),
      this.references,
      field("hypothesis (the system's output): edit it", this.hypothesis),
    );
    this.listen(this.example, "change", () => {
      const one = examples[Number(this.example.value) - 1];
      this.kept = null; // of another sentence
      if (one) this.put({ hypothesis: one.hypothesis, references: one.references });
    });
    this.listen(this.hypothesis, "input", () => this.put({ hypothesis: this.hypothesis.value }));
    this.listen(this.references, "input", () =>
      this.put({
        references: [...this.references.querySelectorAll("textarea")].map((area) => area.value),
      }),
    );
    this.listen(this.more, "click", () =>
      this.put({ references: [...this.model.get("references"), ""] }),
    );
    this.listen(this.less, "click", () =>
      this.put({ references: this.model.get("references").slice(0, -1) }),
    );
  }

  buildControls() {
    this.tokenize = choice(CUTS);
    this.smooth = choice(LITTLE);
    this.shown = choice([
      "unigrams (n = 1)",
      "bigrams (n = 2)",
      "trigrams (n = 3)",
      "4-grams",
      "longest common subsequence",
    ]);
    this.order = choice(["1", "2", "3", "4"]);
    this.lowercase = element("input", { type: "checkbox" });
    const folded = element(
      "div",
      { class: "g2h-controls" },
      field("BLEU tokenizer", this.tokenize),
      field("BLEU up to n =", this.order),
      field("BLEU smoothing", this.smooth),
      element("label", { class: "g2h-check" }, this.lowercase, "ignore case"),
    );
    this.tokenize.dataset.trait = "tokenize";
    this.order.dataset.trait = "order";
    this.root.append(
      element("div", { class: "g2h-controls" }, field("show", this.shown)),
      moreControls([folded], "More controls: tokens, order, smoothing"),
    );
    this.listen(this.shown, "change", () => this.put({ shown: Number(this.shown.value) }));
    this.listen(this.tokenize, "change", () =>
      this.put({ tokenize: TOKENIZERS[this.tokenize.value] }),
    );
    this.listen(this.order, "change", () => this.put({ order: Number(this.order.value) + 1 }));
    this.listen(this.smooth, "change", () => this.put({ smooth: SMOOTHING[this.smooth.value] }));
    this.listen(this.lowercase, "change", () => this.put({ lowercase: this.lowercase.checked }));
  }

  buildScores() {
    const table = (heads, body, label) =>
      element(
        "div",
        { class: "g2h-scroll", tabindex: 0, role: "group", "aria-label": label },
        element(
          "table",
          {},
          element("thead", {}, element("tr", {}, ...heads.map(columnHead))),
          body,
        ),
      );
    this.orders = element("tbody");
    this.scores = element("tbody");
    this.keep = element("button", { type: "button", class: "g2h-main" }, "Store these scores");
    this.status = element("p", { class: "g2h-live", "aria-live": "polite" });
    this.root.append(
      element(
        "div",
        { class: "g2h-tables" },
        table(["", "precision", "recall", "score", "stored", "change"], this.scores, "scores"),
        table(["n", "matches", "of", "BLEU precision, %"], this.orders, "the parts of BLEU"),
      ),
      element("div", { class: "g2h-row" }, this.keep, this.more, this.less),
      this.status,
      element("p", { class: "g2h-legend" }, ABOUT),
    );
    this.listen(this.keep, "click", () => {
      this.kept = allRows(this.read()).map((row) => row.at(-1));
      this.draw();
    });
  }

  draw() {
    const state = this.read();
    const found = measure(state);
    this.fillTexts(state);
    this.ngrams.draw(state, inside(this.model.get("shown"), ORDERS + 1));
    this.fillScores(found, allRows(state));
    this.status.textContent =
      measuredInWords(found) +
      fullInWords([state.hypothesis, ...state.references], this.most.characters);
    const told = {
      bleu: found.bleu.score,
      chrf: found.chrf.score,
      rouge1: found.rouge1.f,
      rouge2: found.rouge2.f,
      rougel: found.rougeL.f,
    };
    Object.entries(told).forEach(([name, value]) => {
      this.root.dataset[name] = value.toFixed(6);
    });
  }

  /** The fields, as the model has them; what is being typed keeps its cursor. */
  fillTexts({ hypothesis, references, tokenize, smooth, lowercase, order }) {
    const areas = () => [...this.references.querySelectorAll("textarea")];
    while (areas().length > references.length) this.references.lastChild.remove();
    while (areas().length < references.length) {
      const area = element("textarea", {
        rows: 1,
        maxlength: this.most.characters,
        spellcheck: "false",
      });
      this.references.append(field(`reference ${areas().length + 1}`, area));
    }
    [this.hypothesis, ...areas()].forEach((area, place) => {
      const text = [hypothesis, ...references][place];
      if (area.value !== text) area.value = text;
      area.dir = direction(text);
    });
    this.more.disabled = references.length >= this.most.references;
    this.less.disabled = references.length <= 1;
    const same = this.model
      .get("examples")
      .findIndex(
        (one) =>
          one.hypothesis === hypothesis &&
          JSON.stringify(one.references) === JSON.stringify(references),
      );
    this.example.value = same + 1;
    this.tokenize.value = TOKENIZERS.indexOf(tokenize);
    this.smooth.value = SMOOTHING.indexOf(smooth);
    this.order.value = order - 1;
    this.lowercase.checked = lowercase;
    this.shown.value = inside(this.model.get("shown"), ORDERS + 1);
  }

  fillScores(found, scores) {
    const number = (value) => (value === null ? "–" : value.toFixed(2));
    this.scores.replaceChildren(
      ...scores.map(([name, precision, recall, score], place) => {
        const before = this.kept?.[place];
        const change =
          before === undefined
            ? ""
            : (score - before)
                .toFixed(2)
                .replace(/^(?=\d)/, "+")
                .replace("+0.00", "0.00")
                .replace("-0.00", "0.00");
        const bar = element("i", { class: "g2h-bar" });
        bar.style.width = `${Math.min(score, 100).toFixed(1)}%`;
        return element(
          "tr",
          {},
          element("th", { scope: "row" }, name),
          element("td", {}, number(precision)),
          element("td", {}, number(recall)),
          element("td", { class: "g2h-score" }, bar, element("span", {}, number(score))),
          element("td", {}, before === undefined ? "" : number(before)),
          element("td", { class: "g2h-change" }, change),
        );
      }),
    );
    const { penalty, hypothesisLength, referenceLength } = found.bleu;
    const rows = orderRows(found.bleu).map(([n, match, total, percent, changed]) => [
      n,
      match,
      total,
      percent.toFixed(2) + (changed ? " *" : ""),
    ]);
    this.orders.replaceChildren(
      ...rows.map((cells) =>
        element(
          "tr",
          {},
          element("th", { scope: "row" }, String(cells[0])),
          ...cells.slice(1).map((cell) => element("td", {}, String(cell))),
        ),
      ),
      element(
        "tr",
        {},
        element("th", { scope: "row" }, "tokens"),
        element("td", {}, String(hypothesisLength)),
        element("td", {}, `ref. ${referenceLength}`),
        element("td", {}, `b = ${penalty.toFixed(3)}`),
      ),
    );
  }
}

export default {
  render({ model, el }) {
    const view = new MetricBench(model, el);
    return () => view.dispose();
  },
};
