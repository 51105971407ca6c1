import { LiveStage, STORED } from "../../browser/live/stages/stage.js";
import { HeadMaps } from "./head_maps.js";
import { meansTable } from "./means.js";
import { isOff, mapOf, toggled, together, without } from "../kit/heads.js";
import { sharesFrom } from "../kit/shares.js";
import { choice, element, field, inside, moreControls } from "../kit/view.js";
import {
  attentionInWords,
  differentWords,
  existing,
  headName,
  headsOf,
  nextInWords,
  offInWords,
  reordered,
  someWords,
  twice,
} from "./repeats.js";
import { WordGrid } from "./word_grid.js";

const LEGEND =
  "Orange: the more surprising a word, given the words before it, the darker (darkest from 10 bits on). Blue bar and number: the attention weight that the word receives from the outlined word in the selected head. Select a word to change the outlined word; the arrow keys work, too.";
const MAPS =
  "Each map has one row for every word that attends, from top to bottom, and one column for every word that is attended to. Select a map to see the weights of its head on the words; clear its box to switch the head off.";

class InductionHeads extends LiveStage {
  constructor(model, el) {
    super(model, el, "induction-heads");
    this.vocabulary = model.get("vocabulary");
    this.chips = [];
    const { shape, ...told } = model.get("recorded");
    const weights = sharesFrom(model.get("weights"))(shape);
    this.kept = { ...told, weights, model: 0, off: [] };
    this.base = this.now = this.kept;
    this.build();
    this.begin(["text", "model", "off"], this.keptQuestion);
    this.follow(["layer", "head", "word"], () => this.drawWords());
  }

  // ---- what stays for the life of the view

  build() {
    this.maps = new HeadMaps(this, {
      choose: (layer, head) => this.put({ layer, head }),
      toggle: (layer, head) => this.put({ off: toggled(this.off, [`layers.${layer}`, head]) }),
      layer: (layer, isOn) => this.switchLayer(layer, isOn),
    });
    this.grid = new WordGrid(this, (word) => this.put({ word }));
    this.table = element("table", { class: "g2h-means g2h-dim" });
    this.root.append(
      this.buildField("textarea", { rows: 3, lang: "en", autocapitalize: "off" }),
      this.refusal.node,
      this.buildControls(),
      this.buildList(),
      this.table,
      this.grid.node,
    );
    this.buildFoot();
    this.table.before(this.state); // in sight of who types and switches
    this.status.classList.add("g2h-dim");
    this.grid.node.before(this.status);
    this.grid.node.after(
      element("p", { class: "g2h-legend" }, LEGEND),
      this.maps.node,
      element("p", { class: "g2h-legend" }, MAPS),
    );
  }

  buildControls() {
    const button = (text, press) => {
      const node = element("button", { type: "button" }, text);
      this.listen(node, "click", press);
      return node;
    };
    this.shuffle = button("Shuffle the words", () => this.write(reordered(this.words)));
    this.renew = button("New words", () => this.write(this.some(this.size.value)));
    this.size = element("input", { type: "range", min: 3, max: this.most, step: 1 });
    this.sizeText = element("output");
    this.which = choice(this.model.get("names"));
    this.which.dataset.trait = "model";
    this.listen(this.size, "input", () => this.write(this.some(this.size.value)));
    this.listen(this.which, "change", () => this.put({ model: this.which.selectedIndex }));
    return element(
      "div",
      { class: "g2h-controls" },
      element("div", { class: "g2h-buttons" }, this.shuffle, this.renew),
      field("number of different words: ", this.size, this.sizeText),
      field("model", this.which),
    );
  }

  buildList() {
    const words = element("p", { class: "g2h-known", lang: "en" }, this.vocabulary.join(" "));
    return moreControls([words], `The ${this.vocabulary.length} words that the models know`);
  }

  // ---- where we are

  /** Of so many words at most the models read a repetition. */
  get most() {
    return Math.min(Math.floor((this.model.get("max_length") - 1) / 2), this.vocabulary.length);
  }

  /** The different words of what is typed. */
  get words() {
    return differentWords(this.read(this.input.value));
  }

  get place() {
    return inside(this.model.get("model"), this.all.length);
  }

  get shape() {
    return this.model.get("sizes")[this.place];
  }

  /** The heads that are off, of those that the chosen model has. */
  get off() {
    return existing(this.model.get("off"), this.shape);
  }

  /** The selected head and word of the answer that is shown. */
  get chosen() {
    const [layers, heads, length] = this.now.weights.shape;
    return {
      layer: inside(this.model.get("layer"), layers),
      head: inside(this.model.get("head"), heads),
      word: inside(this.model.get("word"), length),
    };
  }

  // ---- what is asked

  get old() {
    return "The dimmed result below belongs to the previous text.";
  }

  get nothing() {
    return "The field is empty: type some of the words that the models know.";
  }

  some(count) {
    return someWords(this.vocabulary, Number(count));
  }

  /** Words, twice, become the text, also where the field holds what was refused. */
  write(words) {
    this.input.value = twice(words);
    this.take();
  }

  switchLayer(layer, isOn) {
    const heads = headsOf(this.shape).filter(([name]) => name === `layers.${layer}`);
    this.put({ off: isOn ? without(this.off, heads) : together(this.off, heads) });
  }

  question() {
    return [this.model.get("text"), this.place, this.off];
  }

  get keptQuestion() {
    return [this.kept.text, 0, []];
  }

  stored(question) {
    const isKept = JSON.stringify(question) === JSON.stringify(this.keptQuestion);
    return isKept ? { base: this.kept, now: this.kept } : undefined;
  }

  /** Asks the complete model first, if the text is new to it, then the one without some heads. */
  async run([text, model, off]) {
    this.lives = [this.all[model]];
    const known = [this.base, this.kept].find((one) => one.text === text && one.model === model);
    const base = known ?? (await this.runOne(text, model, []));
    if (!base) return null;
    const now = off.length ? await this.runOne(text, model, off) : base;
    return now && { base, now };
  }

  async runOne(text, model, off) {
    const payload = { text, off: off.map(([layer, head]) => ({ layer, head })) };
    const results = await this.runAll("induction", payload);
    return results && { ...results[0], model, off };
  }

  show(answer) {
    Object.assign(this, answer);
  }

  inWords() {
    return this.isRecorded ? STORED : this.computed([]);
  }

  // ---- drawing

  /** The controls show what is asked. */
  mark() {
    const { length } = this.words;
    this.which.selectedIndex = this.place;
    this.shuffle.disabled = length < 2 || length > this.most;
    this.size.value = length;
    this.sizeText.textContent = length;
    this.maps.build(this.shape);
    this.markMaps();
  }

  markMaps() {
    const { layer, head } = this.chosen;
    this.maps.mark({ layer: inside(layer, this.shape[0]), head }, this.off);
  }

  draw() {
    this.maps.build(this.shape);
    const [layers, heads] = this.now.weights.shape;
    if (layers === this.shape[0] && heads === this.shape[1]) this.maps.show(this.now.weights);
    this.drawMeans();
    this.drawWords();
  }

  drawMeans() {
    const { base, now } = this;
    const [names, sizes] = [this.model.get("names"), this.model.get("sizes")];
    const complete = `${names[now.model]}, all heads on`;
    const changed = offInWords(now.off, sizes[now.model]);
    const words = this.vocabulary.length;
    this.table.replaceChildren(...meansTable({ base, now, complete, changed, words }));
  }

  /** The words with the weights of the selected head in the row of the selected word. */
  drawWords() {
    const { tokens, weights } = this.now;
    const { layer, head, word } = this.chosen;
    const name = headName(layer, head);
    const row = mapOf(weights, layer, head)[word];
    this.grid.show(this.now, row, word);
    Object.assign(this.root.dataset, { layer, head, word });
    this.markMaps();
    const off = isOff(this.now.off, [`layers.${layer}`, head]);
    const told = attentionInWords({ tokens, row, at: word, name, isOff: off });
    this.say(`${told} ${nextInWords(this.now, word)}`);
  }
}

export default {
  render({ model, el }) {
    const view = new InductionHeads(model, el);
    return () => view.dispose();
  },
};
