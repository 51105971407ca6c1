import { knownCharacters, UNKNOWN } from "../../browser/live/characters.js";
import { LiveStage, STORED } from "../../browser/live/stages/stage.js";
import { GateClamps } from "./gate_clamps.js";
import { GatePanel } from "./gate_panel.js";
import { GateTape } from "./gate_tape.js";
import { legendOf } from "./legend.js";
import {
  bitsOf,
  changeInWords,
  decoded,
  GATES,
  heldInWords,
  meanOf,
  NAMES,
  quantitiesOf,
  seen,
  told,
  unitInWords,
} from "../kit/gates.js";
import { choice, element, field, inside, moreControls } from "../kit/view.js";

class GateExplorer extends LiveStage {
  constructor(model, el) {
    super(model, el, "gate-explorer");
    this.base = this.now = { ...decoded(model.get("recorded"), model.get("numbers")), model: 0 };
    this.build();
    this.chooseModel();
    this.begin(["text", "model", "gates", "alone"], [this.example(0), 0, {}, null]);
    this.follow(["unit"], () => {
      this.draw();
      this.hear();
    });
    this.follow(["quantity", "every"], () => this.draw());
    this.follow(["place"], () => this.drawPlace(true));
  }

  // ---- what stays for the life of the view

  build() {
    const { model } = this;
    this.clamps = new GateClamps(this, {
      hold: (gates) => this.put({ gates }),
      alone: (alone) => this.put({ alone }),
    });
    this.tape = new GateTape(this, {
      point: (found) => this.point(found),
      pick: (found) => this.put(found),
    });
    this.panel = new GatePanel();
    this.legend = element("p", { class: "g2h-legend" });
    this.root.append(
      this.buildField("textarea", { autocapitalize: "off" }),
      this.refusal.node,
      this.buildChips(model.get("labels")),
      this.tape.node,
      this.clamps.node,
      this.legend,
      this.buildChoices(),
      this.buildPlace(),
      this.panel.node,
    );
    this.buildFoot();
    this.tape.node.before(this.state); // in sight of who clamps and types
    [this.tape.node, this.legend, this.panel.node, this.status].forEach((node) =>
      node.classList.add("g2h-dim"),
    );
  }

  buildChoices() {
    this.which = choice(this.model.get("names"));
    this.quantity = element("select");
    this.number = element("input", { type: "number", min: 0, step: 1 });
    this.every = element("input", { type: "checkbox" });
    this.which.dataset.trait = "model";
    this.quantity.dataset.trait = "quantity";
    this.every.dataset.trait = "every";
    this.found = element("div", {
      class: "g2h-chips g2h-found",
      role: "group",
      "aria-label": "units that were found",
    });
    this.told = element("p", { class: "g2h-told" });
    this.listen(this.which, "change", () => this.choose(this.which.selectedIndex));
    this.listen(this.quantity, "change", () => this.put({ quantity: this.quantity.value }));
    this.listen(this.number, "change", () => {
      this.put({ unit: inside(this.number.value, this.now.units) });
      this.mark(); // the field shows the unit that is shown, also where that did not change
    });
    this.listen(this.every, "change", () => this.put({ every: this.every.checked }));
    this.listen(this.found, "click", (event) => {
      const button = event.target.closest("button");
      if (button) this.put({ unit: Number(button.dataset.unit) });
    });
    const more = element(
      "div",
      { class: "g2h-controls" },
      field("network", this.which),
      field("shades show", this.quantity),
      field("unit", this.number),
      field("show every unit", this.every),
    );
    return element("div", {}, this.found, this.told, moreControls([more]));
  }

  buildPlace() {
    this.slider = element("input", { type: "range", min: 0, step: 1, "aria-label": "character" });
    this.listen(this.slider, "input", () => this.put({ place: Number(this.slider.value) }));
    return element(
      "label",
      { class: "g2h-field g2h-place" }, // term: place, the name of a class
      element("span", {}, "character"),
      this.slider,
    );
  }

  /** The controls of the network that was chosen; only its weights are loaded. */
  chooseModel() {
    const place = inside(this.model.get("model"), this.all.length);
    this.lives = [this.all[place]];
    const { quantities } = this.now;
    if (this.shown === place) return;
    this.shown = place;
    const names = quantitiesOf({ quantities });
    this.quantity.replaceChildren(
      ...names.map((name) => element("option", { value: name }, NAMES[name])),
    );
    this.clamps.build(names.filter((name) => GATES.has(name)));
    const found = this.named;
    this.found.replaceChildren(
      ...found.map(({ unit, name }) =>
        element(
          "button",
          { type: "button", class: "g2h-chip", "data-unit": unit },
          `unit ${unit}: ${name}`,
        ),
      ),
    );
    this.found.hidden = !found.length;
  }

  /** Another network, with the first unit that was found in it: a number of the old one says nothing. */
  choose(model) {
    const first = this.model.get("found").find((one) => one.model === model);
    this.put({ model, ...(first && { unit: first.unit }) });
  }

  // ---- where we are

  get unit() {
    return inside(this.model.get("unit"), this.now.units);
  }

  /** The units of this network that have a button and a row of their own. */
  get named() {
    return this.model.get("found").filter((one) => one.model === this.shown);
  }

  get place() {
    return inside(this.model.get("place"), this.now.tokens.length);
  }

  /** What is shown of all units; a network without it shows its state. */
  get shownQuantity() {
    const wanted = this.model.get("quantity");
    return wanted in this.now.quantities ? wanted : quantitiesOf(this.now).at(-1);
  }

  // ---- what is asked

  get nothing() {
    return "There is no text yet. Type some Python code.";
  }

  read(typed) {
    return typed;
  }

  holds(text) {
    return text !== "";
  }

  /** What is asked: the text, the network, and what is clamped where. */
  question() {
    const [text, model, gates] = ["text", "model", "gates"].map((name) => this.model.get(name));
    const alone = Object.keys(gates).length > 0 && this.model.get("alone");
    return [text, model, gates, alone ? this.model.get("unit") : null];
  }

  /**
   * Asks the free network first, if the text is new to it, then the one with clamped gates.
   */
  async run([text, model, gates, unit]) {
    this.lives = [this.all[inside(model, this.all.length)]];
    const isKnown = this.base.text === text && this.base.model === model;
    const base = isKnown ? this.base : await this.runOne({ text }, model);
    if (!base) return null;
    const own = quantitiesOf(base).filter((name) => GATES.has(name) && name in gates);
    const units = unit === null ? null : [unit];
    const clamps = own.map((gate) => ({ gate, value: gates[gate], units }));
    const now = clamps.length ? await this.runOne({ text, clamps }, model) : base;
    return now && { base, now };
  }

  async runOne(payload, model) {
    const results = await this.runAll("gates", payload);
    return results && { ...results[0], model };
  }

  show(answer) {
    Object.assign(this, answer);
    this.chooseModel();
  }

  inWords() {
    const { base, now } = this;
    if (this.isRecorded) {
      return `${STORED} No gate is clamped.`;
    }
    const name = this.model.get("names")[this.shown];
    const free = `${name}, no gate clamped: ${told(meanOf(bitsOf(base)))} bits per character.`;
    const holds = heldInWords(this.heldGates, this.model.get("alone"), this.unit);
    const held = now === base ? "" : ` With the ${holds}: ${changeInWords(base, now)}`;
    const index = new Map(now.vocabulary.map((one) => [one, 0]));
    const isStrange = knownCharacters(now.text, { index }).includes(UNKNOWN);
    return `${free}${held}${isStrange ? ` Characters that were not in the training data are read as ${UNKNOWN}.` : ""}`;
  }

  /** The clamped gates among those that this network has. */
  get heldGates() {
    const gates = Object.entries(this.model.get("gates"));
    return Object.fromEntries(gates.filter(([gate]) => gate in this.now.quantities));
  }

  // ---- drawing

  /** The controls show what is asked. */
  mark() {
    const { unit } = this;
    this.which.selectedIndex = inside(this.model.get("model"), this.all.length);
    this.quantity.value = this.shownQuantity;
    this.number.max = this.now.units - 1;
    this.number.value = unit;
    this.every.checked = this.model.get("every");
    this.clamps.show(this.heldGates, this.model.get("alone"), unit);
    super.mark();
    const buttons = [...this.found.children];
    buttons.forEach((button) =>
      button.setAttribute("aria-pressed", Number(button.dataset.unit) === unit),
    );
    const found = this.model
      .get("found")
      .find((one) => one.model === this.shown && one.unit === unit);
    this.told.textContent = found?.told ?? "";
  }

  draw() {
    this.mark();
    const { base, now, unit, shownQuantity: quantity } = this;
    const every = this.model.get("every");
    this.tape.show({ base, now, unit, quantity, named: this.named, every });
    const isClamped = now !== base;
    this.legend.replaceChildren(...legendOf(quantity, unit, isClamped));
    this.slider.max = now.tokens.length - 1;
    this.pointed = null;
    this.drawPlace(true);
  }

  point(found) {
    this.pointed = found;
    this.drawPlace(false);
  }

  drawPlace(isPicked) {
    const { base, now } = this;
    const place = inside(this.pointed?.place ?? this.place, now.tokens.length);
    const unit = this.pointed?.unit ?? this.unit;
    this.slider.value = place;
    this.slider.setAttribute("aria-valuetext", `${place + 1}: ${seen(now.tokens[place])}`);
    this.tape.mark(place, isPicked);
    this.panel.show({ free: now === base ? null : base, now, unit, place });
    this.say(
      `Unit ${unit} after `,
      element("code", {}, seen(now.tokens[place])),
      `: ${unitInWords(now, unit, place)}.`,
    );
  }
}

export default {
  render({ model, el }) {
    const view = new GateExplorer(model, el);
    return () => view.dispose();
  },
};
