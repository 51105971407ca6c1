// How a translation is sampled: temperature, top-k, top-p and the seed.

import { grouped } from "./search_tree.js";
import { Sliders } from "./sliders.js";
import { element, field, moreControls, Refusal } from "../kit/view.js";

const SEEDS = 2 ** 31;

export class SamplingControls {
  constructor(view) {
    this.view = view;
    this.sliders = new Sliders(view, {
      class: "g2h-controls g2h-sampling",
      role: "group",
      "aria-label": "sampling",
    });
    this.sliders.add("temperature", { min: 0.1, max: 2, step: 0.05, trait: "temperature" });
    const show = (value) => (value ? String(value) : "all");
    this.sliders.add("top-k", { min: 0, max: 50, step: 1, trait: "top_k", show });
    this.sliders.add("top-p", { min: 0.05, max: 1, step: 0.05, trait: "top_p" });
    this.seed = element("input", { type: "number", min: 0, max: SEEDS - 1, step: 1 });
    this.refusal = new Refusal(this.seed);
    this.sampler = element("button", { type: "button" }, "Sample");
    this.sliders.node.append(field("seed", this.seed), this.sampler);
    this.node = moreControls([this.sliders.node, this.refusal.node], "More controls: sampling");
    view.listen(this.seed, "change", () => this.takeSeed());
    view.listen(this.sampler, "click", () => this.sample());
  }

  sample() {
    const seed = this.view.model.get("seed");
    const isAgain = this.view.model.get("sampling");
    this.view.change({ sampling: true, seed: isAgain ? inBounds(seed + 1) : seed });
  }

  /** A seed out of bounds is moved inside, and the view says so. */
  takeSeed() {
    const seed = inBounds(this.seed.value);
    const isOther = this.seed.value !== String(seed);
    const bounds = `The seed must be a whole number from 0 to ${grouped(SEEDS - 1)}`;
    this.refusal.say(isOther ? `${bounds}; ${grouped(seed)} is used.` : "", isOther);
    this.seed.value = seed;
    this.view.change({ seed });
  }

  mark() {
    this.sliders.mark();
    this.seed.value = this.view.model.get("seed");
    this.sampler.textContent = this.view.model.get("sampling") ? "Sample again" : "Sample";
  }
}

const inBounds = (value) => Math.min(Math.max(Math.floor(Number(value)) || 0, 0), SEEDS - 1);
