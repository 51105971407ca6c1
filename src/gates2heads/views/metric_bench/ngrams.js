// The n-grams of a hypothesis, and where the selected one occurs in the references.

import { ORDERS, picture, runInWords } from "../kit/metrics.js";
import { element } from "../kit/view.js";

const MARKS = { match: "matched", clipped: "clipped", miss: "in no reference" };
const ON = { match: "in the subsequence", miss: "not in it" };

export class Ngrams {
  /** @param listen (node, event, handler): listens as long as the view lives. */
  constructor(listen) {
    this.picked = null; // the key of the selected n-gram
    this.runs = element("div", {
      class: "g2h-runs",
      role: "group",
      "aria-label": "n-grams of the hypothesis",
    });
    this.covered = element("div", { class: "g2h-covered" });
    this.told = element("p", { class: "g2h-told", "aria-live": "polite" });
    this.legend = element("p", { class: "g2h-legend" });
    this.nodes = [this.runs, this.covered, this.legend, this.told];
    listen(this.runs, "click", (event) => {
      const { key } = event.target.closest("button")?.dataset ?? {};
      if (key === undefined) return;
      this.picked = this.picked === key ? null : key;
      this.draw(this.state, this.shown);
    });
  }

  /**
   * Draws a hypothesis and its references.
   * @param state the texts, and how they are split into tokens
   * @param shown n − 1, or ORDERS for the longest common subsequence
   */
  draw(state, shown) {
    Object.assign(this, { state, shown });
    const { runs, references } = picture(state, shown);
    const marks = shown < ORDERS ? MARKS : ON;
    this.legend.replaceChildren(
      ...Object.entries(marks).flatMap(([fate, words]) => [
        element("span", { class: `g2h-run g2h-${fate}` }, words),
        " ",
      ]),
      shown < ORDERS
        ? "Select an n-gram to see where it occurs."
        : "ROUGE-L compares lower-case letters and digits, with the reference that gives the highest score.",
    );
    const picked = runs.find((run) => run.key === this.picked);
    const focused = [...this.runs.children].indexOf(document.activeElement);
    this.runs.replaceChildren(
      ...runs.map((run) =>
        element(
          "button",
          {
            type: "button",
            class: `g2h-run g2h-${run.fate}`,
            "data-key": run.key,
            dir: "auto",
            "aria-pressed": String(run.key === picked?.key),
            "aria-label": `${run.text}, ${marks[run.fate]}`,
          },
          run.text,
        ),
      ),
    );
    this.runs.children[focused]?.focus();
    this.covered.replaceChildren(
      ...references.map((tokens, number) =>
        element(
          "p",
          { dir: "auto" },
          element(
            "span",
            { class: "g2h-which" },
            references.length > 1 ? `reference ${number + 1}` : "reference",
          ),
          ...tokens.flatMap(({ text, keys, marked }) => [
            element(
              marked ? "mark" : "span",
              keys.includes(picked?.key) ? { class: "g2h-here" } : {},
              text,
            ),
            " ",
          ]),
        ),
      ),
    );
    this.told.textContent = picked
      ? runInWords(picked)
      : runs.length
        ? ""
        : "The hypothesis is too short for n-grams of this order.";
  }
}
