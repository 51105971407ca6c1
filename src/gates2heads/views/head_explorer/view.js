import { GermanStage } from "../../browser/live/stages/german_stage.js";
import { STORED } from "../../browser/live/stages/stage.js";
import { Changes } from "./changes.js";
import { answerInWords, HeadAnswers } from "./head_answers.js";
import { HeadPanels } from "./head_panels.js";
import {
  alone,
  BLOCKS,
  headsWithin,
  inOrder,
  isOff,
  isUnmoved,
  mapOf,
  sidesOf,
  together,
  toggled,
  unmoved,
  warningOf,
  without,
  wordsIn,
} from "../kit/heads.js";
import { ModelMap } from "./model_map.js";
import { changesIn, recordedIn } from "./stored_changes.js";
import { choice, element, field, inside, moreControls } from "../kit/view.js";
import { WordOrder } from "./word_order.js";

const LONGEST = 300; // characters; the model's own limit is in tokens
const OLD = "The picture still shows the previous sentence.";
const COMPLETE = { off: [], order: [], positions: true }; // every head on, the words as typed
const SCOPES = ["this layer", "this kind of attention", "the whole model"];

class HeadExplorer extends GermanStage {
  constructor(model, el) {
    super(model, el, "head-explorer");
    this.base = this.now = recordedIn(model);
    this.changesStored = changesIn(model, this.base);
    this.build();
    this.begin(["text", "off", "order", "positions"]);
    this.follow(["block", "layer"], () => this.drawLayer());
    this.follow(["token"], () => this.drawToken());
  }

  // ---- what stays for the life of the view

  build() {
    const { model } = this;
    this.order = new WordOrder(this, (order) => this.put({ order }));
    this.told = element("input", { type: "checkbox" });
    this.answers = new HeadAnswers();
    this.map = new ModelMap(this, (block, layer) => this.put({ block, layer }));
    this.panels = new HeadPanels(this, {
      point: (row) => this.point(row),
      pick: (token) => this.put({ token }),
      toggle: (head) => this.switch(toggled(this.off, this.nameOf(head))),
      alone: (head) => this.switch(alone(this.off, this.nameOf(head), this.within())),
    });
    this.where = element("p", { class: "g2h-where" });
    this.warning = element("p", { class: "g2h-warning", role: "status" });
    this.changes = new Changes(this, () => {
      this.put(COMPLETE);
      this.input.focus({ preventScroll: true }); // the button disappears
    });
    this.order.node.dataset.trait = "order";
    const positions = element(
      "label",
      { class: "g2h-told", "data-trait": "positions" },
      this.told,
      element("span", {}, "use positional encodings in the encoder"),
    );
    this.root.append(
      this.buildField("input", { dir: "auto", lang: "de" }),
      this.refusal.node,
      this.changes.node,
      this.warning,
      this.buildChips(model.get("examples"), () => ({ lang: "de" })),
      this.answers.node,
      moreControls([this.order.node, positions, this.switches()]),
      this.map.node,
      this.where,
      this.panels.node,
    );
    [this.map.node, this.panels.node].forEach((node) => node.classList.add("g2h-dim"));
    this.buildFoot();
    this.answers.node.after(this.state); // in sight of who switches, types and moves
    this.listen(this.told, "change", () => this.put({ positions: this.told.checked }));
  }

  switches() {
    this.scope = choice(SCOPES);
    this.allOff = element("button", { type: "button" }, "All off");
    this.allOn = element("button", { type: "button" }, "All on");
    this.listen(this.allOff, "click", () => this.switch(together(this.off, this.within())));
    this.listen(this.allOn, "click", () => this.switch(without(this.off, this.within())));
    return element(
      "div",
      { class: "g2h-controls" },
      field("“Only this”, “All off” and “All on” apply to", this.scope),
      element("div", { class: "g2h-buttons" }, this.allOff, this.allOn),
    );
  }

  // ---- where we are

  get off() {
    return this.model.get("off");
  }

  get shapes() {
    return this.now.blocks.map(({ shape }) => shape);
  }

  get block() {
    return inside(this.model.get("block"), BLOCKS.length);
  }

  get layer() {
    return inside(this.model.get("layer"), this.shapes[this.block][0]);
  }

  get token() {
    return inside(this.model.get("token"), this.shapes[this.block][2]);
  }

  nameOf(head) {
    return [BLOCKS[this.block].layer(this.layer), head];
  }

  /** The heads that a button for many of them means. */
  within() {
    const scope = this.scope.selectedIndex;
    return headsWithin(this.shapes, scope < 2 ? this.block : null, scope < 1 ? this.layer : null);
  }

  /** The order of the words, as typed if the trait holds none for them. */
  get wanted() {
    const { length } = wordsIn(this.model.get("text")).words;
    const order = this.model.get("order");
    return order.length === length ? order : unmoved(length);
  }

  // ---- what is asked

  switch(off) {
    this.put({ off });
  }

  get old() {
    return OLD;
  }

  get nothing() {
    return "Type a German sentence.";
  }

  get longest() {
    return LONGEST;
  }

  /** What is typed has its words in the order in which they are typed. */
  get afresh() {
    return { order: [] };
  }

  question() {
    return [this.model.get("text"), this.off, this.model.get("positions"), this.wanted];
  }

  /** Stored answers are shown until the model has been used; then it computes every answer. */
  stored(question) {
    return this.base.tokens ? undefined : this.changesStored(question);
  }

  get recordedSource() {
    return this.base.source;
  }

  /** A stored answer, a layer and a token need no model; a question that does loads it. */
  use(target) {
    if (target === this.input) super.use(target);
    else this.permission.below(target);
  }

  /** Traits that are set together are one question. */
  put(traits) {
    this.isPutting = true;
    super.put(traits);
    this.isPutting = false;
    if (this.isPending) this.hear();
  }

  hear() {
    this.isPending = this.isPutting;
    return this.isPutting ? undefined : super.hear();
  }

  /** Asks the complete model first, if the sentence is new, then the changed one, if there is one. */
  async run([text, off, positions, order]) {
    const base =
      this.base.tokens && this.base.text === text ? this.base : await this.runOne({ text });
    if (!base) return null;
    const heads = off.map(([layer, head]) => ({ layer, head }));
    const changed = { off: heads, positions, judged: base.tokens };
    const isChanged = off.length || !positions || !isUnmoved(order);
    const now = isChanged ? await this.runOne({ text: inOrder(text, order), ...changed }) : base;
    if (!now) return null;
    const isBag = !positions && !isUnmoved(order);
    const unshuffled = isBag ? await this.runOne({ text, ...changed }) : null;
    return isBag && !unshuffled ? null : { base, now, unshuffled };
  }

  async runOne(payload) {
    return (await this.runAll("heads", payload))?.[0];
  }

  show(answer) {
    Object.assign(this, answer);
  }

  inWords() {
    const [off, order, positions] = [this.off, this.wanted, this.model.get("positions")];
    const { base, now, unshuffled } = this;
    const told = answerInWords({ base, now, unshuffled, off, order, positions });
    if (this.isRecorded) return now === base ? STORED : `${STORED} ${told}`;
    return `${told} (${(this.milliseconds / 1000).toFixed(2)} s, in your browser)`;
  }

  // ---- drawing

  /** A *Show me* button begins with the complete model, and unfolds only what it sets itself. */
  demonstrate(state) {
    this.put({ ...COMPLETE, ...state });
    super.demonstrate(state);
  }

  /** The controls show what is asked. */
  mark() {
    const [text, positions] = [this.model.get("text"), this.model.get("positions")];
    this.order.show(text, this.wanted);
    this.told.checked = positions;
    this.warning.hidden = text !== this.base.text;
    this.allOn.classList.toggle("g2h-main", this.off.length > 0);
    this.allOn.disabled = !this.off.length;
    this.changes.show({ off: this.off, shapes: this.shapes, order: this.wanted, positions });
    super.mark();
  }

  draw() {
    this.answers.show(this.base, this.now);
    this.warning.textContent = warningOf(this.base.source);
    this.map.show(this.now);
    this.drawLayer();
  }

  drawLayer() {
    this.pointed = null;
    this.panels.show(this.now, this.block, this.layer);
    this.where.replaceChildren(
      element("b", {}, `${BLOCKS[this.block].name}, layer ${this.layer + 1}`),
      [
        ": every source token attends to all source tokens.",
        ": every token of the output attends to itself and to earlier tokens.",
        ": every token of the output, on the left, attends to the source, on the right.",
      ][this.block],
    );
    this.map.mark(this.block, this.layer, this.off);
    this.drawToken();
  }

  point(row) {
    this.pointed = row;
    this.drawToken();
  }

  drawToken() {
    const row = inside(this.pointed ?? this.token, this.shapes[this.block][2]);
    this.panels.choose(row, this.off);
    const { rows, columns } = sidesOf(this.now, this.block);
    const block = this.now.blocks[this.block];
    const told = unmoved(block.shape[1]).flatMap((head) => {
      const name = `${head ? "; " : ""}head ${head + 1}`;
      if (isOff(this.off, this.nameOf(head))) return [`${name} is off`];
      const weights = mapOf(block, this.layer, head)[row];
      const most = weights.indexOf(Math.max(...weights));
      return [`${name} “`, element("bdi", {}, columns[most]), `” (${weights[most].toFixed(2)})`];
    });
    this.say("Largest weight of “", element("bdi", {}, rows[row]), "”: ", ...told, ".");
  }

  dispose() {
    this.panels.dispose();
    super.dispose();
  }
}

export default {
  render({ model, el }) {
    const view = new HeadExplorer(model, el);
    return () => view.dispose();
  },
};
