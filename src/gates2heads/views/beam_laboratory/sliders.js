// Sliders in a row; each sets one trait of the laboratory.

import { element, field } from "../kit/view.js";

const inFull = (value) => String(Number(value.toFixed(2)));

export class Sliders {
  constructor(view, attributes) {
    this.view = view;
    this.node = element("div", attributes);
    this.all = [];
  }

  /** Adds a slider from `min` to `max`; `show` writes its value. */
  add(name, { trait, show = inFull, ...bounds }) {
    const input = element("input", { type: "range", ...bounds, "data-trait": trait });
    const output = element("output");
    this.node.append(field(`${name} `, input, output));
    this.view.listen(input, "input", () => this.view.change({ [trait]: Number(input.value) }));
    this.all.push({ input, output, trait, show });
  }

  mark() {
    for (const { input, output, trait, show } of this.all) {
      const value = this.view.model.get(trait);
      input.value = value;
      output.textContent = show(value);
    }
  }
}
