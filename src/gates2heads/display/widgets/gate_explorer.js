import { knownCharacters, UNKNOWN } from "../live/characters.js";
import { LiveStage } from "../live/stage.js";
import { GateClamps } from "./gate_clamps.js";
import { GatePanel } from "./gate_panel.js";
import { GateTape } from "./gate_tape.js";
import {
  bitsOf,
  changeInWords,
  decoded,
  fullShade,
  GATES,
  heldInWords,
  meanOf,
  NAMES,
  quantitiesOf,
  seen,
  told,
  unitInWords,
} from "./gates.js";
import { choice, element, field, inside } from "./view.js";

class GateExplorer extends LiveStage {
  constructor(model, el) {
    super(model, el, "gate-explorer");
    this.all = this.lives;
    this.base = this.now = { ...decoded(model.get("recorded"), model.get("numbers")), model: 0 };
    this.isRecorded = true;
    this.build();
    this.chooseModel();
    this.draw();
    this.account();
    this.wake();
    this.follow(["text", "model", "gates", "alone"], () => this.hear());
    this.follow(["unit"], () => this.hear());
    this.follow(["quantity"], () => this.draw());
    this.follow(["place"], () => this.drawPlace(true));
    if (JSON.stringify(this.question()) !== JSON.stringify(this.first())) this.hear();
  }

  // ---- what stays for the life of the view

  build() {
    const { model } = this;
    this.input = element("textarea", {
      rows: 2,
      spellcheck: "false",
      autocomplete: "off",
      autocapitalize: "off",
    });
    this.input.value = model.get("text");
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
    [this.tape.node, this.panel.node].forEach((node) => node.classList.add("g2h-dim"));
    this.root.append(
      field(model.get("label"), this.input),
      this.buildRefusal(this.input),
      this.buildChips(model.get("labels")),
      this.buildChoices(),
      this.clamps.node,
      this.tape.node,
      this.legend,
      this.buildPlace(),
      this.panel.node,
    );
    this.buildFoot();
    this.clamps.node.after(this.state); // in sight of who holds and types
    if (model.get("about"))
      this.root.append(element("p", { class: "g2h-about" }, model.get("about")));
    this.listen(this.input, "input", () => this.later());
    this.listen(this.input, "change", () => this.leave());
  }

  buildChoices() {
    this.which = choice(this.model.get("names"));
    this.quantity = element("select");
    this.number = element("input", { type: "number", min: 0, step: 1 });
    this.found = element("div", {
      class: "g2h-chips g2h-found",
      role: "group",
      "aria-label": "units that were found",
    });
    this.told = element("p", { class: "g2h-told" });
    this.listen(this.which, "change", () => this.put({ model: this.which.selectedIndex }));
    this.listen(this.quantity, "change", () => this.put({ quantity: this.quantity.value }));
    this.listen(this.number, "change", () =>
      this.put({ unit: inside(this.number.value, this.now.units) }),
    );
    this.listen(this.found, "click", (event) => {
      const button = event.target.closest("button");
      if (button) this.put({ unit: Number(button.dataset.unit) });
    });
    return element(
      "div",
      {},
      element(
        "div",
        { class: "g2h-controls" },
        field("network", this.which),
        field("colours show", this.quantity),
        field("unit", this.number),
        this.found,
      ),
      this.told,
    );
  }

  buildPlace() {
    this.slider = element("input", { type: "range", min: 0, step: 1, "aria-label": "character" });
    this.listen(this.slider, "input", () => this.put({ place: Number(this.slider.value) }));
    return element(
      "label",
      { class: "g2h-field g2h-place" },
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
    const found = this.model.get("found").filter((one) => one.model === place);
    this.found.replaceChildren(
      ...found.map(({ unit, name }) =>
        element(
          "button",
          { type: "button", class: "g2h-chip", "data-unit": unit },
          `${name}: unit ${unit}`,
        ),
      ),
    );
    this.found.hidden = !found.length;
  }

  // ---- where we are

  get unit() {
    return inside(this.model.get("unit"), this.now.units);
  }

  get place() {
    return inside(this.model.get("place"), this.now.tokens.length);
  }

  /** What is shown of all units; a network without it shows its state. */
  get shownQuantity() {
    const wanted = this.model.get("quantity");
    return wanted in this.now.quantities ? wanted : quantitiesOf(this.now).at(-1);
  }

  /** What is asked: the text, the network, and what is held where. */
  question() {
    const gates = this.model.get("gates");
    const alone = Object.keys(gates).length > 0 && this.model.get("alone");
    return [
      this.model.get("text"),
      this.model.get("model"),
      gates,
      alone ? this.model.get("unit") : null,
    ];
  }

  /** The question that the recorded example answers. */
  first() {
    return [this.model.get("examples")[0], 0, {}, null];
  }

  // ---- what is asked

  later() {
    this.dim(true);
    super.later();
  }

  type() {
    clearTimeout(this.timer);
    const text = this.input.value;
    if (text === this.model.get("text")) this.hear();
    else this.put({ text });
  }

  /** A trait was set, by a control or by Python. */
  hear() {
    if (this.input.value !== this.model.get("text")) this.input.value = this.model.get("text");
    this.mark();
    this.ask();
  }

  /** Asks the free network first, if the text is new to it, then the one with gates that are held. */
  async ask() {
    const question = this.question();
    const key = JSON.stringify(question);
    if (key === this.asked) {
      this.draw();
      return;
    }
    const [text, model, gates, unit] = question;
    this.dim(true);
    this.asked = key;
    if (!text) {
      this.asked = null;
      this.rest("Nothing to read yet: type some Python.");
      return;
    }
    this.root.dataset.state = "reading";
    this.state.textContent = "Reading …";
    this.lives = [this.all[inside(model, this.all.length)]];
    const isKnown = this.base.text === text && this.base.model === model;
    const base = isKnown ? this.base : await this.run({ text }, model);
    if (!base) return;
    const own = quantitiesOf(base).filter((name) => GATES.has(name) && name in gates);
    const clamps = own.map((gate) => ({
      gate,
      value: gates[gate],
      units: unit === null ? null : [unit],
    }));
    const now = clamps.length ? await this.run({ text, clamps }, model) : base;
    if (!now || this.asked !== key) return;
    Object.assign(this, { base, now, isRecorded: false });
    this.refusal.say("");
    this.chooseModel();
    this.draw();
    this.account();
    this.dim(false);
    Object.assign(this.root.dataset, { state: "done", question: key });
  }

  /** One run; null where a newer question came, or where there is no answer, which is then said. */
  async run(payload, model) {
    const results = await this.runAll("gates", payload);
    if (!results) return null;
    const [result] = results;
    if (!result.refused) return { ...result, model };
    this.turnDown(result.refused);
    return null;
  }

  /** What stands there now, in words. */
  account() {
    const { base, now } = this;
    if (this.isRecorded) {
      this.root.dataset.state = "recorded";
      this.state.textContent =
        "A recorded example, nothing held. Touch anything here and the network comes to life.";
      return;
    }
    const name = this.model.get("names")[this.shown];
    const free = `${name}, free: ${told(meanOf(bitsOf(base)))} bits a character.`;
    const held =
      now === base
        ? ""
        : ` With ${heldInWords(this.heldGates, this.model.get("alone"), this.unit)}: ${changeInWords(base, now)}`;
    const strangers = new Set(
      knownCharacters(now.text, { index: new Map(now.vocabulary.map((one) => [one, 0])) }),
    ).has(UNKNOWN)
      ? ` What it never saw is read as ${UNKNOWN}.`
      : "";
    this.state.textContent = free + held + strangers;
  }

  /** What is held of the gates that this network has. */
  get heldGates() {
    const gates = this.model.get("gates");
    return Object.fromEntries(
      Object.entries(gates).filter(([gate]) => gate in this.now.quantities),
    );
  }

  // ---- drawing

  /** The controls show what is asked. */
  mark() {
    const { unit } = this;
    this.which.selectedIndex = inside(this.model.get("model"), this.all.length);
    this.quantity.value = this.shownQuantity;
    this.number.max = this.now.units - 1;
    this.number.value = unit;
    this.clamps.show(this.heldGates, this.model.get("alone"), unit);
    this.chips.forEach((chip, at) =>
      chip.setAttribute("aria-pressed", this.model.get("examples")[at] === this.input.value),
    );
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
    this.tape.show({ base, now, unit, quantity });
    this.drawLegend(quantity);
    this.slider.max = now.tokens.length - 1;
    this.pointed = null;
    this.drawPlace(true);
  }

  drawLegend(quantity) {
    const isGate = GATES.has(quantity);
    const scale = element("i", {
      class: isGate ? "g2h-scale g2h-half" : "g2h-scale",
      "aria-hidden": "true",
    });
    const [full, isOpen] = [fullShade(quantity), quantity === "cell"];
    const least = isGate ? "0" : `−${full}${isOpen ? " or less" : ""}`;
    const line = this.now === this.base ? "" : " Dashed line: with nothing held.";
    this.legend.replaceChildren(
      `All units, ${NAMES[quantity]}: ${least} `,
      scale,
      ` ${full}${isOpen ? " or more" : ""}. Bars: unit ${this.unit}, blue above zero, orange below; the scale stands beside them.${line}`,
    );
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
