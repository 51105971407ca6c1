// The cache of keys and values: those of the source once, those of the output token by token.

import { keptAt, keptInWords } from "./walks.js";
import { element } from "../kit/view.js";

export class WalkCache {
  constructor() {
    this.cells = element("div", { class: "g2h-cells", "aria-hidden": "true" });
    this.bars = element("div", { class: "g2h-costs", "aria-hidden": "true" });
    this.told = element("p", { class: "g2h-kept" });
    const caption = element(
      "p",
      { class: "g2h-caption" },
      element("b", {}, "The cache"),
      ": keys and values that later steps attend to",
    );
    this.node = element("div", { class: "g2h-cache" }, caption, this.cells, this.bars, this.told);
  }

  /** Shows the cache after a step of a result; words as `wordsOfWalk` gives them. */
  show({ cache }, { read, before }, step) {
    const cell = (kind) => (word, place) => {
      const isKept = kind === "read" || place <= step;
      return element(
        "span",
        {
          class: `g2h-cell g2h-${kind}${isKept ? " g2h-full" : ""}${kind === "write" && place === step ? " g2h-new" : ""}`,
        },
        element("bdi", {}, word),
      );
    };
    this.cells.replaceChildren(...read.map(cell("read")), ...before.map(cell("write")));
    const { offsetLeft, offsetWidth } = this.cells.children[read.length + step];
    this.cells.scrollLeft = Math.max(0, offsetLeft + offsetWidth - this.cells.clientWidth);
    const kept = keptAt(cache, step);
    const most = Math.max(cache.without.at(-1), kept.total);
    const bar = (name, ...parts) =>
      element(
        "div",
        { class: "g2h-line" },
        element("span", {}, name),
        element(
          "span",
          { class: "g2h-bar" },
          ...parts.map(([kind, number]) => {
            const fill = element("i", { class: `g2h-fill g2h-${kind}` });
            fill.style.width = `${((100 * number) / most).toFixed(2)}%`;
            return fill;
          }),
        ),
      );
    this.bars.replaceChildren(
      bar("in the cache", ["read", kept.source], ["write", kept.target]),
      bar("computed without any cache", ["none", kept.without]),
    );
    Object.assign(this.node.dataset, {
      source: kept.source,
      target: kept.target,
      without: kept.without,
    });
    this.told.textContent = keptInWords(cache, step);
  }
}
