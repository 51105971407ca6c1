import { LiveStage, STORED } from "../../browser/live/stage.js";
import { HeadMaps } from "./head_maps.js";
import { isOff, mapOf, toggled, together, without } from "../kit/heads.js";
import { share, sharesFrom } from "../kit/shares.js";
import { choice, element, field, inside, moreControls } from "../kit/view.js";
import {
  attentionInWords,
  differentWords,
  existing,
  headName,
  headsOf,
  inBits,
  kindsOf,
  measured,
  nextInWords,
  offInWords,
  reordered,
  secondHalf,
  shade,
  someWords,
  twice,
  wordNamed,
} from "./repeats.js";

const LEAST = 0.05; // a smaller weight has no number on its word
const LEGEND =
  "Orange: the more surprising a word, given the words before it, the darker (darkest from 10 bits on). Blue bar and number: the attention weight that the word receives from the outlined word in the selected head. Select a word to change the outlined word; the arrow keys work, too.";
const MAPS =
  "Each map has one row for every word that attends, from top to bottom, and one column for every word that is attended to. Select a map to see the weights of its head on the words; clear its box to switch the head off.";
const REPEATS =
  "A repeat is a word whose previous word occurred earlier and was followed by this same word.";

let views = 0; // on this page, so that each names its words in its own way

class InductionHeads extends LiveStage {
  constructor(model, el) {
    super(model, el, "induction-heads");
    this.number = ++views;
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
    const maps = { class: "g2h-legend g2h-about-maps" };
    this.maps = new HeadMaps(this, {
      choose: (layer, head) => this.put({ layer, head }),
      toggle: (layer, head) => this.put({ off: toggled(this.off, [`layers.${layer}`, head]) }),
      layer: (layer, isOn) => this.switchLayer(layer, isOn),
    });
    this.picture = element("div", {
      class: "g2h-words g2h-dim",
      role: "listbox",
      tabindex: 0,
      lang: "en",
      "aria-label": "words, with their surprisal and the attention that they receive",
    });
    this.pointed = element("p", { class: "g2h-pointed" });
    this.panel = element("div", {
      class: "g2h-panel g2h-dim",
      role: "group",
      "aria-label": "the most probable next words",
    });
    this.table = element("table", { class: "g2h-means g2h-dim" });
    this.root.append(
      this.buildField("textarea", { rows: 3, lang: "en", autocapitalize: "off" }),
      this.refusal.node,
      this.buildControls(),
      this.buildList(),
      this.table,
      element(
        "div",
        { class: "g2h-both" },
        element("div", {}, this.picture, this.pointed),
        this.panel,
      ),
    );
    this.buildFoot();
    this.table.before(this.state); // in sight of who types and switches
    this.root.querySelector(".g2h-both").before(this.status);
    this.root
      .querySelector(".g2h-both")
      .after(
        element("p", { class: "g2h-legend" }, LEGEND),
        this.maps.node,
        element("p", maps, MAPS),
      );
    this.listen(this.picture, "keydown", (event) => this.walk(event));
    this.listen(this.picture, "click", ({ target }) => this.pick(target));
    this.listen(this.picture, "pointerover", ({ target }) => this.point(target));
    this.listen(this.picture, "pointerleave", () => this.point(null));
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
      field("different words, written twice: ", this.size, this.sizeText),
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
    this.sizeText.textContent = this.size.value;
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
    const size = this.model.get("sizes")[now.model];
    const name = this.model.get("names")[now.model];
    const cell = (tag, ...content) =>
      element(tag, tag === "th" ? { scope: "col" } : {}, ...content);
    const [first, again] = ["first", "repeat"].map((kind) => measured(now, kind));
    const row = (one, told) => {
      const [its, repeats] = ["first", "repeat"].map((kind) => measured(one, kind));
      return element(
        "tr",
        { "data-first": its.bits, "data-repeat": repeats.bits, "data-right": repeats.right },
        element("th", { scope: "row" }, told),
        cell("td", inBits(its.bits)),
        cell("td", inBits(repeats.bits)),
        cell("td", `${repeats.right} of ${repeats.count}`),
      );
    };
    const rows = [row(base, `${name}, all heads on`)];
    if (now !== base) rows.push(row(now, offInWords(now.off, size)));
    const uniform = Math.log2(this.vocabulary.length).toFixed(2);
    this.table.replaceChildren(
      element(
        "caption",
        {},
        `Mean surprisal per word. A uniform distribution over the ${this.vocabulary.length} words has ${uniform} bits. ${REPEATS}`,
      ),
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          element("td"),
          cell("th", `first occurrences (${first.count})`),
          cell("th", `repeats (${again.count})`),
          cell("th", "repeats predicted"),
        ),
      ),
      element("tbody", {}, ...rows),
    );
  }

  idOf(at) {
    return `g2h-induction-${this.number}-${at}`;
  }

  /** The words with the weights of the selected head in the row of the selected word. */
  drawWords() {
    const { tokens, weights } = this.now;
    const { layer, head, word } = this.chosen;
    const name = headName(layer, head);
    this.row = mapOf(weights, layer, head)[word];
    const kinds = kindsOf(tokens);
    this.half = secondHalf(tokens);
    this.nodes = tokens.map((token, at) => this.wordNode(token, at, kinds[at], word));
    this.picture.replaceChildren(...this.nodes);
    this.picture.setAttribute("aria-activedescendant", this.idOf(word));
    Object.assign(this.root.dataset, { layer, head, word });
    this.markMaps();
    this.drawPanel(word);
    this.point(null);
    const off = isOff(this.now.off, [`layers.${layer}`, head]);
    const told = attentionInWords({ tokens, row: this.row, at: word, name, isOff: off });
    this.say(`${told} ${nextInWords(this.now, word)}`);
  }

  wordNode(token, at, kind, chosen) {
    const weight = this.row[at];
    const bits = at ? this.now.bits[at - 1] : 0;
    const attributes = {
      class: "g2h-word",
      role: "option",
      id: this.idOf(at),
      "data-at": at,
      "data-bits": at ? bits : null,
      "data-weight": weight.toFixed(6),
      "data-kind": kind,
      "data-begins": at === this.half && "",
      "aria-selected": at === chosen && "true",
      "aria-label": this.inWordsOf(at),
      style: `--g2h-bits: ${(100 * shade(bits)).toFixed(0)}%; --g2h-weight: ${(100 * weight).toFixed(1)}%`,
    };
    const number = weight >= LEAST ? weight.toFixed(2) : "\u00a0";
    return element(
      "span",
      attributes,
      element("span", {}, wordNamed(token)),
      element("small", {}, number),
      element("i", { "aria-hidden": "true" }),
    );
  }

  /** A word in numbers. */
  inWordsOf(at) {
    const { tokens, bits } = this.now;
    const received = `attention weight ${share(this.row[at])}`;
    if (!at) return `start of the sequence: ${received}`;
    return `${tokens[at]}, word ${at}: ${bits[at - 1].toFixed(1)} bits, ${received}`;
  }

  /** The five most probable next words, and the next word of the text. */
  drawPanel(at) {
    const { tokens, bits, top } = this.now;
    const actual = tokens[at + 1];
    const rows = top[at].map(([word, prob]) => this.line(word, prob, word === actual));
    const isListed = actual === undefined || top[at].some(([word]) => word === actual);
    if (!isListed) rows.push(this.line(actual, 2 ** -bits[at], true));
    this.panel.dataset.at = at;
    this.panel.replaceChildren(
      element(
        "p",
        { class: "g2h-name" },
        at ? `after word ${at}, “${tokens[at]}”` : "at the start",
      ),
      element("p", { class: "g2h-told" }, "most probable next words; ▸ next word of the text"),
      ...rows,
    );
  }

  line(word, prob, isActual) {
    const attributes = {
      class: "g2h-row",
      "data-piece": word,
      "data-prob": prob,
      "data-actual": isActual && "",
      style: `--g2h-share: ${(100 * prob).toFixed(2)}%`,
    };
    const name = element("span", {}, isActual ? `▸ ${word}` : word);
    return element("p", attributes, name, element("span", {}, share(prob)));
  }

  // ---- pointing and walking

  placeOf(target) {
    const node = target?.closest?.(".g2h-word");
    return node ? Number(node.dataset.at) : null;
  }

  point(target) {
    const at = this.placeOf(target);
    this.pointed.textContent = at === null ? "\u00a0" : this.inWordsOf(at);
  }

  pick(target) {
    const word = this.placeOf(target);
    if (word !== null) this.put({ word });
  }

  walk(event) {
    const { word } = this.chosen;
    const to = {
      ArrowLeft: word - 1,
      ArrowRight: word + 1,
      Home: 0,
      End: this.nodes.length - 1,
      ArrowUp: this.lineAway(word, -1),
      ArrowDown: this.lineAway(word, 1),
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.put({ word: inside(to, this.nodes.length) });
    this.nodes[this.chosen.word].scrollIntoView({ block: "nearest" });
  }

  /** The word above or below another, nearest to it. */
  lineAway(word, step) {
    const boxes = this.nodes.map((node) => node.getBoundingClientRect());
    const here = boxes[word];
    const rows = [...new Set(boxes.map(({ top }) => top))].sort((a, b) => a - b);
    const row = rows[rows.indexOf(here.top) + step];
    const places = boxes.flatMap(({ top }, at) => (top === row ? [at] : []));
    const apart = (at) => Math.abs(boxes[at].left - here.left);
    return places.length
      ? places.reduce((best, at) => (apart(at) < apart(best) ? at : best))
      : word;
  }
}

export default {
  render({ model, el }) {
    const view = new InductionHeads(model, el);
    return () => view.dispose();
  },
};
