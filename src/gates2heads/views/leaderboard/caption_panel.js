// One caption, its reference, the translations of the models on the board, and the reader's own.

import { fullInWords } from "../../browser/live/pieces.js";
import { readings, readingsInWords } from "./board.js";
import { choice, direction, element, field } from "../kit/view.js";

const MARKS = {
  match: "in the reference",
  clipped: "already matched",
  miss: "not in the reference",
};
export class CaptionPanel {
  /** @param view the leaderboard, whose traits are set here */
  constructor(view) {
    const { captions, model, seeds } = view;
    this.view = view;
    this.which = choice(captions.map(({ source }, number) => `${number + 1}: ${source}`));
    this.seed = choice(seeds.map((seed) => `seed ${seed}`));
    this.own = element("textarea", {
      rows: 1,
      maxlength: model.get("most"),
      spellcheck: "false",
    });
    this.german = element("p", { class: "g2h-text", lang: "de" });
    this.english = element("p", { class: "g2h-text" });
    this.rows = element("tbody");
    this.told = element("p", { class: "g2h-live g2h-own-told", "aria-live": "polite" });
    const legend = element(
      "p",
      { class: "g2h-legend" },
      ...Object.entries(MARKS).flatMap(([fate, words]) => [
        element("span", { class: `g2h-graded g2h-${fate}` }, words),
        " ",
      ]),
      "Outputs of a beam of five, compared word by word with the one reference as BLEU does. Each score is for this one sentence.",
    );
    const head = ["model", "chrF", "BLEU", "translation"].map((text) =>
      element("th", { scope: "col" }, text),
    );
    this.nodes = [
      element(
        "div",
        { class: "g2h-controls g2h-captions" },
        field("caption", this.which),
        field("run", this.seed),
      ),
      this.german,
      this.english,
      field("your translation: type it here to see it scored", this.own),
      element(
        "div",
        {
          class: "g2h-scroll",
          tabindex: 0,
          role: "group",
          "aria-label": "translations of this caption",
        },
        element(
          "table",
          { class: "g2h-readings" },
          element("thead", {}, element("tr", {}, ...head)),
          this.rows,
        ),
      ),
      legend,
      this.told,
    ];
    view.listen(this.which, "change", () =>
      view.put({ caption: Number(this.which.value), own: "" }),
    );
    view.listen(this.seed, "change", () => view.put({ seed: Number(this.seed.value) }));
    view.listen(this.own, "input", () => view.put({ own: this.own.value }));
  }

  /**
   * Shows the translations of the selected caption.
   * @param places the numbers of the models on the board
   * @param state what the controls select
   * @param typed the reader's own translation
   */
  draw(places, state, typed) {
    const { captions, entries, seeds } = this.view;
    const { source, reference } = captions[state.caption];
    const own = typed.toWellFormed?.() ?? typed; // Python has no halves of characters
    this.which.value = state.caption;
    this.seed.value = state.seed;
    if (this.own.value !== typed) this.own.value = typed;
    this.own.dir = direction(typed);
    this.german.textContent = `German: ${source}`;
    this.english.textContent = `reference: ${reference}`;
    const rows = readings(entries, places, {
      caption: state.caption,
      seed: seeds[state.seed],
      own,
      reference,
    });
    this.rows.replaceChildren(
      ...rows.map((row) => {
        const words = row.runs.flatMap((run) => [
          element("span", { class: `g2h-graded g2h-${run.fate}` }, run.text),
          " ",
        ]);
        const kind = row.place < 0 ? "g2h-you" : state.picked === row.place ? "g2h-picked" : "";
        return element(
          "tr",
          kind ? { class: kind } : {},
          element("th", { scope: "row" }, row.name),
          element("td", { "data-chrf": row.chrf }, row.chrf.toFixed(1)),
          element("td", { "data-bleu": row.bleu }, row.bleu.toFixed(1)),
          element("td", { class: "g2h-wrote", dir: "auto" }, ...words),
        );
      }),
    );
    this.told.textContent =
      readingsInWords(rows, entries, places, seeds[state.seed]) +
      fullInWords([typed], this.view.model.get("most"));
  }
}
