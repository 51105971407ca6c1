// Rows of characters, a button for each step: what was read, and the three ways to write.

import { seen, told } from "../kit/gates.js";
import { element } from "../kit/view.js";

const MOVES = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity };

export class UnrollRow {
  /** stage: the view; pick: receives the selected step, counted from the first of the row. */
  constructor(stage, name, title, pick) {
    this.list = element("div", {
      class: "g2h-plot g2h-letters",
      role: "group",
      "aria-label": title,
    });
    this.node = element(
      "div",
      { class: `g2h-line g2h-${name}` },
      element("span", { class: "g2h-rowname" }, title),
      this.list,
    );
    const at = (node) => [...this.list.children].indexOf(node);
    stage.listen(this.list, "click", (event) => {
      const button = event.target.closest("button");
      if (button) pick(at(button));
    });
    stage.listen(this.list, "keydown", (event) => {
      const move = MOVES[event.key];
      if (!move) return;
      event.preventDefault();
      const last = this.list.children.length - 1;
      const next = Math.min(Math.max(at(event.target.closest("button")) + move, 0), last);
      pick(next);
      this.list.children[next].focus();
    });
  }

  /** Shows tokens; `marks` gives for each step a word such as "held" or "wrong", or nothing. */
  show(tokens, columns, marks = []) {
    this.list.style.setProperty("--g2h-columns", columns);
    const focused = [...this.list.children].indexOf(document.activeElement);
    this.list.replaceChildren(
      ...tokens.map((token, step) => {
        const mark = marks[step] ?? "";
        const label = `${step + 1}: ${seen(token)}${mark ? `, ${mark}` : ""}`;
        return element(
          "button",
          {
            type: "button",
            tabindex: step ? -1 : 0,
            "aria-label": label,
            "data-mark": mark || null,
            "data-end": token === "<eos>",
          },
          seen(token),
        );
      }),
    );
    this.list.children[focused]?.focus();
  }

  /** Marks the step at hand; −1 is none. What comes after it is pale. */
  mark(step) {
    [...this.list.children].forEach((button, at) => {
      button.classList.toggle("g2h-ahead", at > step);
      if (at === step) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
      button.tabIndex = at === Math.max(step, 0) ? 0 : -1;
    });
  }
}

/** A strip of bars from 0 to `most` under the steps. */
export class UnrollBars {
  constructor(name, most, unit) {
    this.most = most;
    this.plot = element("div", { class: "g2h-plot g2h-bars", "aria-hidden": "true" });
    this.node = element(
      "div",
      { class: "g2h-line" },
      element(
        "span",
        { class: "g2h-rowname" },
        name,
        element("small", {}, `0 to ${told(most, most % 1 ? 1 : 0)}${unit} or more`),
      ),
      this.plot,
    );
  }

  show(values, columns) {
    this.plot.style.setProperty("--g2h-columns", columns);
    this.plot.replaceChildren(
      ...values.map((value) => {
        const bar = element("i", { "data-value": value.toFixed(5) });
        bar.style.setProperty(
          "--g2h-height",
          `${(100 * Math.min(value / this.most, 1)).toFixed(1)}%`,
        );
        return bar;
      }),
    );
  }
}

/** What the colours mean; the simple view has no clamped characters. */
export function legendOf(isSimple) {
  return element(
    "p",
    { class: "g2h-legend" },
    "States: one row per unit, blue for positive and orange for negative values. ",
    ...(isSimple
      ? []
      : [
          element("i", { class: "g2h-swatch", "data-mark": "held" }),
          " clamped, ",
          element("i", { class: "g2h-swatch", "data-mark": "otherwise" }),
          " different from greedy decoding, or from the target.",
        ]),
  );
}
