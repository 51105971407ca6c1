// The controls that clamp gates: free, 0, 1 or anything between, in one unit or in all.

import { NAMES, plainly } from "../kit/gates.js";
import { choice, element, field } from "../kit/view.js";

const FIXED = [
  ["free", null],
  ["0", 0],
  ["1", 1],
];

export class GateClamps {
  /** stage: the view; callbacks: {hold} with all clamped gates, {alone} with their units. */
  constructor(stage, hears) {
    this.stage = stage;
    this.hears = hears;
    this.gates = {};
    this.list = element("div", { class: "g2h-gates" });
    this.scope = choice(["", ""]);
    this.release = element("button", { type: "button" }, "Release all");
    const end = element(
      "div",
      { class: "g2h-controls g2h-scope" },
      field("clamped in", this.scope),
      this.release,
    );
    this.node = element("div", { class: "g2h-clamps" }, this.list, end);
    stage.listen(this.scope, "change", () => hears.alone(this.scope.selectedIndex === 1));
    stage.listen(this.release, "click", () => hears.hold({}));
  }

  /** Shows controls for these gates. */
  build(names) {
    this.parts = names.map((gate) => {
      const buttons = FIXED.map(([text, value]) => {
        const button = element(
          "button",
          { type: "button", "aria-label": `${NAMES[gate]}: ${text}` },
          text,
        );
        this.stage.listen(button, "click", () => this.set(gate, value));
        return button;
      });
      const slider = element("input", {
        type: "range",
        min: 0,
        max: 1,
        step: 0.05,
        "aria-label": `value of the ${NAMES[gate]}`,
      });
      this.stage.listen(slider, "input", () => this.set(gate, Number(slider.value)));
      const output = element("output");
      const head = element("span", { class: "g2h-gatename" }, `${NAMES[gate]} `, output);
      const node = element(
        "div",
        { class: "g2h-gate", role: "group", "aria-label": NAMES[gate], "data-gate": gate },
        head,
        element("div", { class: "g2h-choices" }, ...buttons, slider),
      );
      return { gate, buttons, slider, output, node };
    });
    this.list.replaceChildren(...this.parts.map(({ node }) => node));
  }

  set(gate, value) {
    const { [gate]: _, ...others } = this.gates;
    this.hears.hold(value === null ? others : { ...others, [gate]: value });
  }

  /** Shows what is clamped, and where. */
  show(gates, alone, unit) {
    this.gates = gates;
    for (const { gate, buttons, slider, output, node } of this.parts) {
      const value = gates[gate] ?? null;
      buttons.forEach((button, at) => button.setAttribute("aria-pressed", FIXED[at][1] === value));
      slider.value = value ?? 0.5;
      slider.setAttribute("aria-valuetext", value === null ? "free" : plainly(value));
      output.textContent = value === null ? "free" : `clamped at ${plainly(value)}`;
      node.classList.toggle("g2h-held", value !== null);
    }
    ["all units", `unit ${unit} alone`].forEach(
      (text, at) => (this.scope.options[at].textContent = text),
    );
    this.scope.selectedIndex = Number(alone);
    const isHeld = this.parts.some(({ gate }) => gate in gates);
    this.release.disabled = !isHeld;
    this.release.classList.toggle("g2h-main", isHeld);
  }
}
