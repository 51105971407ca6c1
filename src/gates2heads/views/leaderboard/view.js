import {
  COLUMNS,
  COSTS,
  LENGTH,
  QUALITIES,
  SEARCHES,
  boardInWords,
  inOrder,
  letThrough,
  missingLines,
  numberInWords,
  rankInWords,
  standing,
} from "./board.js";
import { boardPicture } from "./board_picture.js";
import { CaptionPanel } from "./caption_panel.js";
import { Stage, choice, element, field, inside } from "../kit/view.js";

const PLACES = [
  "family",
  "attention",
  "search",
  "quality",
  "against",
  "column",
  "picked",
  "caption",
  "seed",
];
const HEADS = [
  "BLEU",
  "chrF",
  "perplexity",
  "free-running",
  "parameters (M)",
  "training cost",
  "decoding cost",
];
const LEGEND =
  "Mean over the runs; a short tick is one run, a bar the 95 % interval of the mean. Hollow: without attention. Dashed: not ranked, since it had a larger budget. Costs are relative to the GRU’s; the decoding cost is that of one caption with the chosen decoding.";
const BY_LENGTH =
  "One run of each model. Click a model in the table to see 95 % bootstrap intervals over the sentences of each length.";

class Leaderboard extends Stage {
  constructor(model, el) {
    super(model, el, "leaderboard");
    this.entries = model.get("entries");
    this.captions = model.get("captions");
    this.families = [...new Set(this.entries.map((one) => one.family))];
    this.seeds = [
      ...new Set(this.entries.filter((one) => one.ranked).flatMap((one) => one.seeds)),
    ].sort((a, b) => a - b);
    this.buildControls();
    this.buildBoard();
    this.caption = new CaptionPanel(this);
    this.root.append(...this.caption.nodes);
    this.follow([...PLACES, "best", "own"], () => this.draw());
    this.size = new ResizeObserver(() => this.drawPicture());
    this.size.observe(this.picture);
    this.draw();
  }

  buildControls() {
    const named = {
      quality: ["quality", QUALITIES.map((one) => one.label)],
      against: ["against", [...COSTS.map((one) => one.label), "sentence length"]],
      search: ["decoding", SEARCHES],
      family: ["family", ["all", ...this.families]],
      attention: ["attention", ["any", "with", "without"]],
    };
    this.controls = Object.fromEntries(
      Object.entries(named).map(([trait, [name, options]]) => {
        const select = choice(options);
        this.listen(select, "change", () => this.put({ [trait]: Number(select.value) }));
        return [trait, [name, select]];
      }),
    );
    this.root.append(
      element(
        "div",
        { class: "g2h-controls" },
        ...Object.values(this.controls).map(([name, select]) => field(name, select)),
      ),
    );
  }

  buildBoard() {
    this.picture = element("div", { class: "g2h-picture" });
    this.legend = element("p", { class: "g2h-legend" });
    this.rows = element("tbody");
    this.sorters = HEADS.map((text, column) => {
      const button = element("button", { type: "button", class: "g2h-sort" }, text);
      this.listen(button, "click", () => {
        const same = this.model.get("column") === column;
        this.put({ column, best: same ? !this.model.get("best") : true });
      });
      return button;
    });
    this.heads = this.sorters.map((button) => element("th", { scope: "col" }, button));
    this.rank = element("th", { scope: "col" }, "#");
    const head = element(
      "tr",
      {},
      this.rank,
      element("th", { scope: "col" }, "model"),
      ...this.heads,
      element("th", { scope: "col" }, "runs"),
    );
    this.status = element("p", { class: "g2h-live", "aria-live": "polite" });
    this.root.append(
      this.picture,
      this.legend,
      element(
        "div",
        { class: "g2h-scroll", tabindex: 0, role: "group", "aria-label": "the board" },
        element("table", {}, element("thead", {}, head), this.rows),
      ),
      this.status,
    );
    const press = (event) => {
      const place = event.target.closest("[data-place]")?.dataset.place;
      if (place === undefined) return;
      const picked = Number(place) + 1;
      this.put({ picked: this.model.get("picked") === picked ? 0 : picked });
    };
    this.listen(this.rows, "click", (event) => event.target.closest("button") && press(event));
    this.listen(this.picture, "click", press);
  }

  /** The positions, each within what there is. */
  read() {
    const limits = {
      family: this.families.length + 1,
      attention: 3,
      search: 2,
      quality: QUALITIES.length,
      against: LENGTH + 1,
      column: COLUMNS.length,
      picked: this.entries.length + 1,
      caption: this.captions.length,
      seed: this.seeds.length,
    };
    const state = Object.fromEntries(
      PLACES.map((trait) => [trait, inside(this.model.get(trait), limits[trait])]),
    );
    // By length there is one score and one search.
    if (state.against === LENGTH) Object.assign(state, { quality: 0, search: 0 });
    return {
      ...state,
      best: this.model.get("best"),
      families: this.families,
      picked: state.picked - 1,
    };
  }

  draw() {
    const state = this.read();
    this.places = letThrough(this.entries, state);
    Object.entries(this.controls).forEach(([trait, [, select]]) => {
      select.value = state[trait];
    });
    const isLength = state.against === LENGTH;
    ["quality", "search"].forEach((trait) => {
      this.controls[trait][1].disabled = isLength;
    });
    this.drawPicture();
    this.drawRows(state);
    this.caption.draw(this.places, state, this.model.get("own"));
    this.legend.textContent = isLength
      ? [BY_LENGTH, missingLines(this.entries, this.places)].join(" ")
      : LEGEND;
    this.status.textContent = boardInWords(this.entries, this.places, state);
  }

  drawPicture() {
    const width = Math.max(this.picture.clientWidth, 260);
    this.picture.replaceChildren(
      boardPicture(this.entries, this.places, {
        ...this.read(),
        bins: this.model.get("bins"),
        width,
        height: width < 480 ? 300 : 340,
      }),
    );
  }

  drawRows(state) {
    const focused = this.rows.contains(document.activeElement)
      ? document.activeElement.dataset.place
      : null;
    // Ranks count from the best, whichever end is at the top.
    const ranked = inOrder(this.entries, this.places, { ...state, best: true }).filter(
      (number) =>
        this.entries[number].ranked &&
        standing(this.entries[number], COLUMNS[state.column], state.search),
    );
    this.rows.replaceChildren(
      ...inOrder(this.entries, this.places, state).map((number) => {
        const entry = this.entries[number];
        const name = element(
          "button",
          {
            type: "button",
            class: "g2h-rung-name",
            "data-place": number,
            "aria-pressed": String(state.picked === number),
          },
          entry.name,
        );
        const cells = COLUMNS.map((measure) => {
          const told = standing(entry, measure, state.search);
          return element(
            "td",
            { "data-mean": told?.mean ?? "" },
            numberInWords(told, measure.places),
          );
        });
        return element(
          "tr",
          state.picked === number ? { class: "g2h-picked" } : {},
          element("td", {}, ranked.includes(number) ? String(ranked.indexOf(number) + 1) : "–"),
          element("th", { scope: "row" }, name),
          ...cells,
          element("td", {}, String(entry.seeds.length)),
        );
      }),
    );
    if (focused !== null) this.rows.querySelector(`[data-place="${focused}"]`)?.focus();
    this.rank.setAttribute("aria-label", rankInWords(state));
    this.rank.title = rankInWords(state);
    this.heads.forEach((head, column) => {
      const isHere = column === state.column;
      const up = COLUMNS[column].up === state.best;
      head.setAttribute("aria-sort", isHere ? (up ? "descending" : "ascending") : "none");
      this.sorters[column].dataset.sign = isHere ? (up ? "▾" : "▴") : "";
    });
  }

  dispose() {
    this.size.disconnect();
    super.dispose();
  }
}

export default {
  render({ model, el }) {
    const view = new Leaderboard(model, el);
    return () => view.dispose();
  },
};
