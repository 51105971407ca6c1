import { compare } from "../../browser/engine/decoding/searches.js";
import { Power } from "../../browser/engine/decoding/lengths.js";
import { finish } from "../../browser/engine/decoding/steps.js";
import { TABLES_START, twoTables } from "../../browser/engine/decoding/two_tables.js";
import { laboratorySteps } from "../../browser/live/laboratory.js";
import { GermanStage } from "../../browser/live/german_stage.js";
import { STORED } from "../../browser/live/stage.js";
import { partsNodes, rankingHead, rankingRow, twoTablesNode } from "./search_numbers.js";
import {
  costInWords,
  grouped,
  layOut,
  outcome,
  rowsOf,
  sequenceAt,
  textOf,
  wayTo,
} from "./search_tree.js";
import { TreePicture } from "./tree_picture.js";
import { element, field, moreControls, Refusal } from "../kit/view.js";

const OLD = "The dimmed result below belongs to the previous input.";
const LONGEST = 400; // characters; the tree's own limit is in tokens
const BEAT = 700; // milliseconds a step, when the search is watched
const SEEDS = 2 ** 31;
const ASKED = ["text", "table", "width", "alpha", "prefix"];
const DRAWN = ["sampling", "temperature", "top_k", "top_p", "seed"];

class BeamLaboratory extends GermanStage {
  constructor(model, el) {
    super(model, el, "beam");
    this.result = { ...model.get("recorded"), forced: null, sample: null };
    const { text, width, alpha } = model.get("recorded");
    const first = { text, table: false, width, alpha, prefix: [], sampling: null };
    this.answered = first; // the question that the shown result answers
    this.build();
    this.begin([...ASKED, ...DRAWN], first);
    this.follow(["step"], () => this.drawTree());
  }

  // ---- what stays for the life of the view

  build() {
    this.buildInput();
    this.buildForced();
    this.tree = new TreePicture(this, {
      onPress: (place) => this.force(place),
      onPoint: (place) => this.explain(sequenceAt(this.shown.nodes, place)),
    });
    this.buildSteps();
    this.parts = element("div", {
      class: "g2h-parts",
      tabindex: 0,
      role: "group",
      "aria-label": "score of one hypothesis",
    });
    this.root.append(this.parts);
    this.buildTable();
    this.buildSampling();
    this.cost = element("p", { class: "g2h-cost" });
    this.root.append(this.cost);
    this.buildFoot();
    this.field.after(this.refusal.node, this.state); // in sight of who types
    this.tree.node.before(this.status);
  }

  buildInput() {
    const group = `g2h-beam-${Math.random().toString(36).slice(2)}`;
    const radio = (name, table) => {
      const button = element("input", { type: "radio", name: group });
      this.listen(button, "change", () => this.change({ table, prefix: [] }));
      return { button, label: element("label", {}, button, ` ${name}`) };
    };
    this.kinds = [radio("a German sentence", false), radio("the example of Table 8.1", true)];
    const kinds = element("div", {
      class: "g2h-kinds",
      role: "radiogroup",
      "aria-label": "what is searched",
    });
    kinds.append(...this.kinds.map(({ label }) => label));
    const own = { dir: "auto", autocapitalize: "off" };
    const asked = this.buildField("input", own);
    const chips = this.buildChips(this.model.get("examples"), () => ({ dir: "auto" }));
    this.sentence = element("div", {}, asked, chips);
    this.numbers = twoTablesNode(this.model.get("tables"));
    this.field = element("div", { class: "g2h-asked" }, this.sentence, this.numbers);
    const controls = element("div", { class: "g2h-controls" });
    this.sliders = {
      width: this.slider(controls, "beam width k", { min: 1, max: 10, step: 1, trait: "width" }),
      alpha: this.slider(controls, "length penalty exponent α", {
        min: 0,
        max: 2,
        step: 0.05,
        trait: "alpha",
      }),
    };
    this.root.append(kinds, this.field, controls);
  }

  slider(controls, name, { trait, show = (value) => String(Number(value.toFixed(2))), ...bounds }) {
    const input = element("input", { type: "range", ...bounds, "data-trait": trait });
    const output = element("output");
    controls.append(field(`${name} `, input, output));
    this.listen(input, "input", () => this.change({ [trait]: Number(input.value) }));
    return { input, output, trait, show };
  }

  buildForced() {
    this.forcedText = element("span");
    this.release = element("button", { type: "button", class: "g2h-main" }, "Release");
    this.forcedBar = element("div", { class: "g2h-forced" }, this.forcedText, this.release);
    this.root.append(this.forcedBar);
    this.listen(this.release, "click", () => {
      this.change({ prefix: [] });
      this.tree.focusSoon();
    });
  }

  buildSteps() {
    this.step = element("input", { type: "range", min: 1, step: 1, "data-trait": "step" });
    this.stepText = element("output");
    this.player = element("button", { type: "button" }, "Step by step");
    this.root.append(
      element(
        "div",
        { class: "g2h-controls g2h-steps" },
        field("steps shown ", this.step, this.stepText),
        this.player,
      ),
    );
    this.listen(this.step, "input", () => this.go(Number(this.step.value)));
    this.listen(this.player, "click", () => (this.beat ? this.stop() : this.play()));
  }

  buildTable() {
    this.rows = element("tbody");
    const table = element("table", { class: "g2h-ranking" }, rankingHead(), this.rows);
    this.root.append(
      element(
        "div",
        { class: "g2h-scroll", tabindex: 0, role: "group", "aria-label": "ranking" },
        table,
      ),
    );
    const show = (event) => {
      const row = event.target.closest("[data-row]");
      if (row) this.explain(this.listed[row.dataset.row].found);
    };
    for (const type of ["click", "pointerover", "focusin"]) this.listen(this.rows, type, show);
  }

  buildSampling() {
    const controls = element("div", {
      class: "g2h-controls g2h-sampling",
      role: "group",
      "aria-label": "sampling",
    });
    this.sampler = element("button", { type: "button" }, "Sample");
    this.sliders.temperature = this.slider(controls, "temperature", {
      min: 0.1,
      max: 2,
      step: 0.05,
      trait: "temperature",
    });
    const all = (value) => (value ? String(value) : "all");
    this.sliders.top_k = this.slider(controls, "top-k", {
      min: 0,
      max: 50,
      step: 1,
      trait: "top_k",
      show: all,
    });
    this.sliders.top_p = this.slider(controls, "top-p", {
      min: 0.05,
      max: 1,
      step: 0.05,
      trait: "top_p",
    });
    this.seed = element("input", { type: "number", min: 0, max: SEEDS - 1, step: 1 });
    this.seedRefusal = new Refusal(this.seed);
    controls.append(field("seed", this.seed), this.sampler);
    this.root.append(moreControls([controls, this.seedRefusal.node], "More controls: sampling"));
    this.listen(this.seed, "change", () => this.takeSeed());
    this.listen(this.sampler, "click", () => {
      const seed = this.model.get("seed");
      this.change({
        sampling: true,
        seed: this.model.get("sampling") ? this.seedOf(seed + 1) : seed,
      });
    });
  }

  seedOf(value) {
    return Math.min(Math.max(Math.floor(Number(value)) || 0, 0), SEEDS - 1);
  }

  /** A seed out of bounds is moved inside, and the view says so. */
  takeSeed() {
    const seed = this.seedOf(this.seed.value);
    const isOther = this.seed.value !== String(seed);
    const bounds = `The seed must be a whole number from 0 to ${grouped(SEEDS - 1)}`;
    this.seedRefusal.say(isOther ? `${bounds}; ${grouped(seed)} is used.` : "", isOther);
    this.seed.value = seed;
    this.change({ seed });
  }

  // ---- what is asked

  get old() {
    return OLD;
  }

  get nothing() {
    return "The input is empty: type a German sentence.";
  }

  get longest() {
    return LONGEST;
  }

  get phrases() {
    return { ...super.phrases, running: "Searching …" };
  }

  get afresh() {
    return { table: false, prefix: [] };
  }

  /** The tables need no text. */
  admits(text) {
    return this.model.get("table") || super.admits(text);
  }

  question() {
    const [text, table, width, alpha, prefix] = ASKED.map((name) => this.model.get(name));
    const [isDrawn, temperature, topK, topP, seed] = DRAWN.map((name) => this.model.get(name));
    const sampling = isDrawn ? { temperature, topK, topP, seed } : null;
    return { text: table ? "" : text, table, width, alpha, prefix, sampling };
  }

  later() {
    this.take();
  }

  change(traits) {
    this.put(traits);
    this.hear();
  }

  /** The controls show what is asked. */
  mark() {
    const table = this.model.get("table");
    this.kinds.forEach(({ button }, place) => (button.checked = Boolean(place) === table));
    this.sentence.hidden = table;
    this.numbers.hidden = !table;
    super.mark();
    for (const { input, output, trait, show } of Object.values(this.sliders)) {
      input.value = this.model.get(trait);
      output.textContent = show(this.model.get(trait));
    }
    this.seed.value = this.model.get("seed");
    this.sampler.textContent = this.model.get("sampling") ? "Sample again" : "Sample";
  }

  ask() {
    this.stop();
    return super.ask();
  }

  run(question) {
    return question.table ? this.onTables(question) : this.onModel(question);
  }

  show(result) {
    this.result = result;
    this.answered = this.question();
    this.put({ step: 0 });
    this.root.dataset.told = JSON.stringify(this.answered);
  }

  inWords() {
    return this.isRecorded ? STORED : "Computed in this page.";
  }

  async onModel({ table: _, ...asked }) {
    const onProgress = ({ steps, scored }) => {
      if (!steps) return;
      this.report(`Searching: step ${steps}, ${grouped(scored)} candidates scored …`);
    };
    const payload = { ...asked, limit: this.model.get("limit") };
    const results = await this.runAll("search", payload, { onProgress });
    return results && results[0];
  }

  /** The same searches on the tables, small enough to be done here; and every sequence there is. */
  onTables({ table: _, text: __, ...asked }) {
    const { names, tables, bos, eos, limit } = this.model.get("tables");
    const words = names.map((name) => (name === "<eos>" ? name : ` ${name}`));
    const step = twoTables(tables);
    const found = finish(
      laboratorySteps(step, TABLES_START, words, { bos, eos, maxLength: limit }, asked),
    );
    const options = {
      bos,
      eos,
      maxLength: limit,
      width: names.length ** limit,
      pruned: 0,
      lengthRule: new Power(asked.alpha),
    };
    const [best] = compare(step, TABLES_START, options).ranking;
    const everything = { ...best, pieces: best.tokens.map((token) => words[token]) };
    return { ...found, everything, size: names.length };
  }

  /** The search goes down this way, and on from there. */
  force(place) {
    const { nodes } = this.shown;
    this.change({ prefix: wayTo(nodes, place).map((at) => nodes[at].token) });
    this.tree.focusSoon();
  }

  // ---- where we are

  /** The search whose tree is shown. */
  get shown() {
    return this.result.forced ?? this.result.free;
  }

  get upTo() {
    const steps = Math.max(this.shown.steps, 1);
    return Math.min(this.model.get("step") || steps, steps);
  }

  go(step) {
    this.stop();
    this.put({ step });
    this.drawTree();
  }

  play() {
    this.put({ step: 1 });
    this.drawTree();
    this.player.textContent = "Stop";
    this.beat = setInterval(() => {
      if (this.upTo >= this.shown.steps) return this.stop();
      this.put({ step: this.upTo + 1 });
      return this.drawTree();
    }, BEAT);
  }

  stop() {
    clearInterval(this.beat);
    this.beat = null;
    this.player.textContent = "Step by step";
  }

  // ---- drawing

  draw() {
    const { prefix, width } = this.answered;
    this.forcedBar.hidden = !prefix.length;
    if (prefix.length) {
      const words = textOf(this.piecesOf(prefix)) || "the end";
      this.forcedText.replaceChildren("▸ Forced to begin with ", element("q", {}, words));
    }
    this.say(outcome(this.result, { width, prefix }));
    this.drawTree();
    this.drawTable();
    this.cost.textContent = costInWords(this.shown, { width, size: this.result.size });
    const best = this.shown.ranking[0] ?? this.shown.greedy;
    this.explain(best);
  }

  piecesOf(prefix) {
    const { nodes } = this.result.forced;
    let at = 0;
    return prefix.flatMap((token) => {
      at = nodes.findIndex((node) => node.parent === at && node.token === token);
      return at < 0 ? [] : [nodes[at].piece];
    });
  }

  drawTree() {
    const { upTo } = this;
    this.step.max = Math.max(this.shown.steps, 1);
    this.step.value = upTo;
    this.stepText.textContent = `${upTo} of ${this.shown.steps}`;
    this.tree.draw(
      this.shown.nodes,
      layOut(this.shown, { upTo, prefix: this.answered.prefix }),
      upTo,
    );
    if (this.beat) this.tree.toEnd();
  }

  drawTable() {
    const { alpha, sampling } = this.answered;
    this.listed = rowsOf(this.result, {
      seed: sampling?.seed ?? 0,
      everything: this.result.everything,
    });
    this.rows.replaceChildren(...this.listed.map((row, place) => rankingRow(row, place, alpha)));
  }

  /** How the score of one sequence comes about, token by token. */
  explain(found) {
    if (!found?.parts.length) {
      this.parts.replaceChildren();
      return;
    }
    Object.assign(this.parts.dataset, {
      tokens: found.tokens.join(" "),
      parts: found.parts.map((part) => part.toFixed(4)).join(" "),
    });
    this.parts.replaceChildren(...partsNodes(found, this.answered.alpha));
  }

  dispose() {
    this.stop();
    super.dispose();
  }
}

export default {
  render({ model, el }) {
    const view = new BeamLaboratory(model, el);
    return () => view.dispose();
  },
};
