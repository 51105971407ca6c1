// How many steps of the search are shown: a slider, and a button that shows one after the other.

import { element, field } from "../kit/view.js";

const BEAT = 700; // milliseconds per step, when the search is played

export class Player {
  /**
   * @param view the laboratory, whose trait `step` is set here; 0 means the last step
   * @param draw called when it has changed
   */
  constructor(view, draw) {
    Object.assign(this, { view, draw });
    this.slider = element("input", { type: "range", min: 1, step: 1, "data-trait": "step" });
    this.text = element("output");
    this.button = element("button", { type: "button" }, "Step by step");
    this.node = element(
      "div",
      { class: "g2h-controls g2h-steps" },
      field("steps shown ", this.slider, this.text),
      this.button,
    );
    view.listen(this.slider, "input", () => {
      this.stop();
      this.go(Number(this.slider.value));
    });
    view.listen(this.button, "click", () => (this.isPlaying ? this.stop() : this.play()));
  }

  get isPlaying() {
    return Boolean(this.beat);
  }

  get steps() {
    return this.view.shown.steps;
  }

  /** The number of steps that are shown. */
  get upTo() {
    const steps = Math.max(this.steps, 1);
    return Math.min(this.view.model.get("step") || steps, steps);
  }

  go(step) {
    this.view.put({ step });
    this.draw();
  }

  play() {
    this.go(1);
    this.button.textContent = "Stop";
    this.beat = setInterval(() => {
      if (this.upTo >= this.steps) this.stop();
      else this.go(this.upTo + 1);
    }, BEAT);
  }

  stop() {
    clearInterval(this.beat);
    this.beat = null;
    this.button.textContent = "Step by step";
  }

  mark() {
    this.slider.max = Math.max(this.steps, 1);
    this.slider.value = this.upTo;
    this.text.textContent = `${this.upTo} of ${this.steps}`;
  }
}
