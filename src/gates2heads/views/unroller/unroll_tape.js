// States as shades, a column for each step; what is still to come is covered.

import { shadesOf } from "./unrolled.js";
import { drawn, element } from "../kit/view.js";

export class UnrollTape {
  constructor(name) {
    this.svg = drawn("svg", { preserveAspectRatio: "none", "aria-hidden": "true" });
    this.cover = element("i", { class: "g2h-cover" });
    this.plot = element(
      "div",
      { class: "g2h-plot g2h-states", "data-name": name },
      this.svg,
      this.cover,
    );
    this.node = element(
      "div",
      { class: "g2h-line" },
      element("span", { class: "g2h-rowname" }, name),
      this.plot,
    );
  }

  /** Draws states {shape: [L, U], data} in a sheet with room for `columns` steps. */
  show(states, columns) {
    const [length, units] = states.shape;
    this.columns = columns;
    this.plot.style.setProperty("--g2h-columns", columns);
    this.svg.setAttribute("viewBox", `0 0 ${columns} ${units}`);
    this.plot.dataset.steps = length;
    this.svg.replaceChildren(
      ...shadesOf(states).flatMap(({ opacity, above, below }) => [
        drawn("path", { class: "g2h-above", d: above, opacity }),
        drawn("path", { class: "g2h-below", d: below, opacity }),
      ]),
    );
  }

  /** Covers what comes after so many steps. */
  until(steps) {
    this.cover.style.left = `${(100 * Math.min(Math.max(steps, 0), this.columns)) / this.columns}%`;
  }
}
