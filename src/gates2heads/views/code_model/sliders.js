// The sliders: how many tokens, and how the distribution is narrowed before one is drawn.

import { element, field, moreControls } from "../kit/view.js";

const SLIDERS = {
  steps: { name: "tokens ", min: 1, max: 240, step: 1 },
  temperature: { name: "temperature ", min: 0.1, max: 3, step: 0.1 },
  min_p: { name: "min-p ", min: 0, max: 1, step: 0.01 },
  top_p: { name: "top-p ", min: 0.05, max: 1, step: 0.05 },
  top_k: { name: "top-k ", min: 0, max: 100, step: 1 },
  samples: { name: "samples ", min: 1, max: 4, step: 1 },
  seed: { name: "seed ", min: 0, max: 99, step: 1 },
};
const FIRST = ["steps", "temperature", "min_p"]; // the others are folded
const DIGITS = { temperature: 1, top_p: 2, min_p: 2 };
const OFF = { top_k: 0, top_p: 1, min_p: 0 }; // the values that narrow nothing

export const TRAITS = Object.keys(SLIDERS);
export const SEEDS = SLIDERS.seed.max + 1;

export class Sliders {
  /** @param {function(Element, string)} listenTo called with each control and its trait */
  constructor(listenTo) {
    this.controls = {};
    const one = (trait) => {
      const { name, ...bounds } = SLIDERS[trait];
      const control = element("input", { type: "range", ...bounds, "data-trait": trait });
      const output = element("output");
      this.controls[trait] = { control, output };
      listenTo(control, trait);
      return field(name, control, output);
    };
    const row = (traits) => element("div", { class: "g2h-controls" }, ...traits.map(one));
    const others = TRAITS.filter((trait) => !FIRST.includes(trait));
    const more = moreControls([row(others)], "More ways to sample");
    this.node = element("div", {}, row(FIRST), more);
  }

  /** Shows the values that `get` returns for the traits. */
  mark(get) {
    for (const [trait, { control, output }] of Object.entries(this.controls)) {
      const value = get(trait);
      control.value = value;
      output.textContent = value.toFixed(DIGITS[trait] ?? 0);
      if (OFF[trait] === value) output.textContent = trait === "top_k" ? "all" : `${value} (off)`;
      control.setAttribute("aria-valuetext", output.textContent);
    }
  }
}
