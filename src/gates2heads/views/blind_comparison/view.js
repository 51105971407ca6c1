import { Stage, element, inside } from "../kit/view.js";
import { inWords, outcome } from "./judging.js";

const BUTTONS = [
  ["A", "A is better"],
  ["tie", "Equally good"],
  ["B", "B is better"],
];

class BlindComparison extends Stage {
  constructor(model, el) {
    super(model, el, "blind-comparison");
    this.pairs = model.get("pairs");
    this.build();
    this.follow(["at", "choices"], () => this.draw());
    this.draw();
  }

  build() {
    this.progress = element("p", { class: "g2h-progress", "aria-live": "polite", tabindex: -1 });
    this.source = element("p", { class: "g2h-source", lang: "de" });
    this.meaning = element("p", { class: "g2h-meaning" });
    this.outputs = ["A", "B"].map((name) => {
      const text = element("p", { lang: "en" });
      return {
        text,
        node: element("section", {}, element("p", { class: "g2h-side" }, name), text),
      };
    });
    this.buttons = BUTTONS.map(([choice, label]) =>
      element("button", { type: "button", "data-choice": choice }, label),
    );
    this.back = element("button", { type: "button", class: "g2h-back" }, "Back");
    this.pair = element(
      "div",
      { class: "g2h-pair" },
      this.source,
      this.meaning,
      element("div", { class: "g2h-outputs" }, ...this.outputs.map(({ node }) => node)),
      element("div", { class: "g2h-buttons" }, ...this.buttons),
    );
    this.result = element("div", { class: "g2h-result" });
    this.again = element("button", { type: "button" }, "Start again");
    this.foot = element("div", { class: "g2h-buttons g2h-foot" }, this.back, this.again);
    this.root.append(this.progress, this.pair, this.result, this.foot);
    this.buttons.forEach((button) =>
      this.listen(button, "click", () => this.choose(button.dataset.choice)),
    );
    this.listen(this.back, "click", () => this.go(this.at - 1));
    this.listen(this.again, "click", () => {
      this.put({ choices: this.pairs.map(() => ""), at: 0 });
      this.progress.focus();
    });
  }

  get at() {
    return inside(this.model.get("at"), this.pairs.length + 1);
  }

  /** The pair that is shown; no result is shown before all choices are made. */
  get shown() {
    const open = this.model.get("choices").findIndex((choice) => !choice);
    return open >= 0 && this.at === this.pairs.length ? open : this.at;
  }

  choose(choice) {
    const { shown } = this;
    const choices = this.model.get("choices").map((old, at) => (at === shown ? choice : old));
    this.put({ choices });
    this.go(shown + 1);
  }

  go(at) {
    this.put({ at });
    this.progress.focus({ preventScroll: true }); // what was pressed may be gone
  }

  draw() {
    const { shown } = this;
    const isDone = shown === this.pairs.length;
    this.pair.hidden = isDone;
    this.result.hidden = !isDone;
    this.back.disabled = shown === 0;
    this.again.hidden = !this.model.get("choices").some(Boolean);
    this.progress.textContent = isDone
      ? "Your result"
      : `Pair ${shown + 1} of ${this.pairs.length}: which translation is better?`;
    if (isDone) this.drawResult();
    else this.drawPair(this.pairs[shown], this.model.get("choices")[shown]);
  }

  drawPair({ source, meaning, first, second, swapped }, choice) {
    this.source.textContent = source;
    this.meaning.textContent = meaning && `Meaning: ${meaning}`;
    const [a, b] = swapped ? [second, first] : [first, second];
    this.outputs[0].text.textContent = a;
    this.outputs[1].text.textContent = b;
    this.buttons.forEach((button) =>
      button.setAttribute("aria-pressed", String(button.dataset.choice === choice)),
    );
  }

  drawResult() {
    const { pairs } = this;
    const systems = this.model.get("systems");
    const found = outcome(pairs, this.model.get("choices"));
    const names = { first: systems[0], second: systems[1], tie: "equally good" };
    const metric = this.model.get("metric");
    const row = (cells, tag) =>
      element("tr", {}, ...cells.map((cell) => element(tag, {}, String(cell))));
    this.result.replaceChildren(
      ...inWords(found, systems, metric).map((sentence) => element("p", {}, sentence)),
      element(
        "div",
        { class: "g2h-wide", tabindex: 0, role: "group", "aria-label": "all pairs" },
        element(
          "table",
          {},
          element("thead", {}, row(["pair", "your choice", metric, ...systems], "th")),
          element(
            "tbody",
            {},
            ...pairs.map((pair, at) =>
              row(
                [at + 1, names[found.reader[at]], names[pair.metric], pair.first, pair.second],
                "td",
              ),
            ),
          ),
        ),
      ),
    );
  }
}

export default {
  render({ model, el }) {
    const view = new BlindComparison(model, el);
    return () => view.dispose();
  },
};
