// One box of the model, opened: what each sublayer adds to a vector, and its attention weights.

import { PARTS, partOf, shareOf, short } from "./walks.js";
import { element } from "../kit/view.js";

const FLIP = 0.65; // from this weight on, the shade asks for the other ink

export class WalkBlock {
  constructor() {
    this.node = element("div", {
      class: "g2h-block",
      role: "group",
      "aria-label": "the open block",
    });
    this.widths = new ResizeObserver((entries) => this.signs(entries));
  }

  /** Says below each table whether some of its columns are out of sight. */
  signs(entries) {
    for (const { target } of entries)
      target.nextSibling.hidden = target.scrollWidth <= target.clientWidth + 1;
  }

  dispose() {
    this.widths.disconnect();
  }

  /** Shows a box for {step, token}; words as `wordsOfWalk` gives them, width D. */
  show(box, at, words, width) {
    const isEncoder = box.stack === "encoder";
    const word = isEncoder ? words.read[at.token] : words.written[at.step];
    const begin = isEncoder ? `Encoder, ${box.name}, at ` : `Decoder, ${box.name}, predicting `;
    const head = element(
      "p",
      { class: "g2h-blockname" },
      element("b", {}, begin, element("bdi", {}, `“${word}”`)),
    );
    const parts = box.stages.map((stage) => partOf(stage, at, words, width));
    const most = Math.max(
      ...parts.flatMap(({ before, added, after }) => [before ?? 0, added ?? 0, after]),
      1e-9,
    );
    const scrolled = this.node.querySelector(".g2h-heads")?.scrollLeft ?? 0;
    this.widths.disconnect();
    this.node.className = `g2h-block g2h-${box.stack}`;
    this.node.replaceChildren(
      head,
      ...parts.map((part, place) => this.part(part, most, place === 0)),
      box.block ? "" : this.embedding(isEncoder),
    );
    for (const heads of this.node.querySelectorAll(".g2h-heads")) heads.scrollLeft = scrolled;
  }

  embedding(isEncoder) {
    return element(
      "p",
      { class: "g2h-note" },
      isEncoder
        ? "Each token's row of the embedding table, multiplied by √D, plus its sinusoidal positional encoding. All source tokens are processed in parallel."
        : "The embedding of the previous output token, multiplied by √D, plus its sinusoidal positional encoding. Only this token is processed; the keys and values of earlier tokens are in the cache.",
    );
  }

  part(part, most, isFirst) {
    const { before, added, after, shape, heads } = part;
    const line = (name, size, more = "", kind = "stream") =>
      element(
        "div",
        { class: "g2h-line", "data-name": name, "data-size": size.toFixed(6) },
        element("span", {}, name),
        element("span", { class: "g2h-bar" }, this.fill(size / most, kind)),
        element("span", { class: "g2h-size" }, short(size), more),
      );
    const came = before !== null && isFirst ? [line("input", before)] : [];
    const more =
      before === null
        ? []
        : [line("adds", added, ` (${Math.round(100 * shareOf(part))} %)`, "added")];
    return element(
      "section",
      { class: "g2h-part", "data-part": part.part },
      element(
        "div",
        { class: "g2h-sizes" },
        element("p", { class: "g2h-partname" }, element("b", {}, PARTS[part.part]), ` ${shape}`),
        ...came,
        ...more,
        line("sum", after),
      ),
      heads ? this.heads(part) : "",
    );
  }

  fill(share, kind) {
    const bar = element("i", { class: `g2h-fill g2h-${kind}` });
    bar.style.width = `${(100 * share).toFixed(1)}%`;
    return bar;
  }

  heads({ heads, seen, isCross }) {
    const cell = (weight) => {
      const shade = element("i", { class: "g2h-shade" });
      shade.style.setProperty("--g2h-weight", weight.toFixed(4));
      const percent = Math.round(100 * weight);
      const name = `g2h-weight${weight >= FLIP ? " g2h-full" : ""}`;
      return element(
        "td",
        { class: name, "data-weight": weight.toFixed(6) },
        shade,
        element("span", {}, percent ? String(percent) : "·"),
      );
    };
    const rows = heads.map((weights, head) =>
      element("tr", {}, element("th", { scope: "row" }, `head ${head + 1}`), ...weights.map(cell)),
    );
    const names = seen.map((word) =>
      element("th", { scope: "col", class: isCross ? "g2h-seen" : "" }, element("bdi", {}, word)),
    );
    const table = element(
      "table",
      {},
      element(
        "thead",
        {},
        element("tr", {}, element("th", { scope: "col" }, "weight, %"), ...names),
      ),
      element("tbody", {}, ...rows),
    );
    const scrolled = element(
      "div",
      {
        class: "g2h-heads",
        tabindex: 0,
        role: "group",
        "aria-label": "attention weights of its heads",
      },
      table,
    );
    const sign = element(
      "p",
      { class: "g2h-note g2h-beyond", hidden: "" },
      `Scroll the table sideways to see all ${seen.length} tokens →`,
    );
    this.widths.observe(scrolled);
    return element("div", { class: "g2h-headsbox" }, scrolled, sign);
  }
}
