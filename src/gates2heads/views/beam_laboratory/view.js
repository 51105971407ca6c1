import { GermanStage } from "../../browser/live/stages/german_stage.js";
import { STORED } from "../../browser/live/stages/stage.js";
import { Player } from "./player.js";
import { SamplingControls } from "./sampling_controls.js";
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
import { Sliders } from "./sliders.js";
import { searchTables } from "./table_search.js";
import { TreePicture } from "./tree_picture.js";
import { element } from "../kit/view.js";

const OLD = "The dimmed result below belongs to the previous";
const LONGEST = 400; // characters; the tree's own limit is in tokens
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
    this.player = new Player(this, () => this.drawTree());
    this.root.append(this.player.node);
    this.parts = element("div", {
      class: "g2h-parts",
      tabindex: 0,
      role: "group",
      "aria-label": "score of one hypothesis",
    });
    this.root.append(this.parts);
    this.buildTable();
    this.sampling = new SamplingControls(this);
    this.root.append(this.sampling.node);
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
    this.sliders = new Sliders(this, { class: "g2h-controls" });
    this.sliders.add("beam width k", { min: 1, max: 10, step: 1, trait: "width" });
    this.sliders.add("length penalty exponent α", { min: 0, max: 2, step: 0.05, trait: "alpha" });
    this.root.append(kinds, this.field, this.sliders.node);
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

  // ---- what is asked

  get old() {
    const isSame = this.isAsTyped && this.model.get("text") === this.answered.text;
    return `${OLD} ${isSame ? "setting" : "input"}.`;
  }

  get nothing() {
    return "The input is empty: type a German sentence.";
  }

  get longest() {
    return LONGEST;
  }

  get phrases() {
    return { ...super.phrases, running: "Searching …", asking: this.old };
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
    this.sliders.mark();
    this.sampling.mark();
  }

  ask() {
    this.player.stop();
    return super.ask();
  }

  run(question) {
    return question.table
      ? searchTables(this.model.get("tables"), question)
      : this.onModel(question);
  }

  show(result) {
    this.result = result;
    this.answered = this.question();
    this.put({ step: 0 });
    this.root.dataset.told = JSON.stringify(this.answered);
  }

  inWords() {
    return this.isRecorded ? STORED : "Computed in your browser.";
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
    const { upTo } = this.player;
    this.player.mark();
    this.tree.draw(
      this.shown.nodes,
      layOut(this.shown, { upTo, prefix: this.answered.prefix }),
      upTo,
    );
    if (this.player.isPlaying) this.tree.toEnd();
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
    this.player.stop();
    super.dispose();
  }
}

export default {
  render({ model, el }) {
    const view = new BeamLaboratory(model, el);
    return () => view.dispose();
  },
};
