import { GermanStage } from "../../browser/live/stages/german_stage.js";
import { STORED } from "../../browser/live/stages/stage.js";
import { sharesFrom } from "../kit/shares.js";
import { element, inside } from "../kit/view.js";
import { WalkBlock } from "./walk_block.js";
import { WalkCache } from "./walk_cache.js";
import { WalkLens } from "./walk_lens.js";
import { WalkMap } from "./walk_map.js";
import {
  boxesOf,
  firstWriting,
  goOn,
  looksEnglish,
  placeInWords,
  placeWithin,
  walkInWords,
  wordsOfWalk,
} from "./walks.js";

const OLD = "The dimmed result below belongs to the previous sentence.";
const LEGEND = [
  ["read", "source"],
  ["write", "output"],
  ["added", "vector added by a sublayer"],
  ["shade", "attention weight"],
  ["tick", "✓ same token as the final output"],
];

class ModelWalk extends GermanStage {
  constructor(model, el) {
    super(model, el, "model-walk");
    this.result = this.recorded();
    this.build();
    this.begin(["text"], this.result.text);
    this.follow(["place", "step", "token"], () => this.drawPlace());
  }

  /** What Python recorded, in the shape in which a live answer comes. */
  recorded() {
    const { stages, ...told } = this.model.get("recorded");
    const take = sharesFrom(this.model.get("weights"));
    const whole = stages.map(({ shape, ...stage }) => ({
      ...stage,
      weights: shape ? take(shape) : null,
    }));
    return { ...told, stages: whole };
  }

  // ---- built once

  build() {
    this.buildInput();
    this.tokens = {
      read: this.row("read", "source", "token"),
      written: this.row("written", "output", "step"),
    };
    const rows = element(
      "div",
      { class: "g2h-tokens" },
      ...Object.values(this.tokens).map(({ node }) => node),
    );
    this.map = new WalkMap(this, (place) => this.put({ place }));
    this.block = new WalkBlock();
    this.lens = new WalkLens(this, (step, depth) =>
      this.put({ step, place: firstWriting(this.boxes) + depth }),
    );
    this.cache = new WalkCache();
    const parts = [this.map, this.block, this.lens, this.cache].map(({ node }) => node);
    const picture = element("div", { class: "g2h-dim" }, rows, this.controls(), ...parts);
    const legend = element(
      "p",
      { class: "g2h-legend" },
      ...LEGEND.map(([kind, text]) =>
        element(
          "span",
          {},
          kind === "tick" ? "" : element("i", { class: `g2h-fill g2h-${kind}` }),
          text,
        ),
      ),
    );
    this.root.append(picture, legend);
    this.buildFoot();
    this.refusal.node.after(this.state); // in sight of who types
    this.status.classList.add("g2h-dim"); // it describes the picture, also where that is old
    picture.before(this.status);
  }

  buildInput() {
    this.root.append(
      this.buildField("input", { dir: "auto", lang: "de" }),
      this.refusal.node,
      this.buildChips(this.model.get("examples"), () => ({ lang: "de" })),
    );
  }

  /** A row of tokens to click; the arrow keys move along it. */
  row(kind, name, trait) {
    const list = element("div", {
      class: "g2h-row",
      role: "group",
      "aria-label": `${name} tokens`,
    });
    this.listen(list, "click", (event) => {
      const token = event.target.closest("button");
      if (token) this.putToken(trait, Number(token.dataset.place));
    });
    this.listen(list, "keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[event.key];
      const nodes = [...list.children];
      if (!step || !nodes.length) return;
      event.preventDefault();
      const at = nodes.indexOf(event.target.closest("button"));
      const next = nodes[Math.min(Math.max(at + step, 0), nodes.length - 1)];
      this.putToken(trait, Number(next.dataset.place));
      next.focus();
    });
    const node = element(
      "div",
      { class: `g2h-side g2h-${kind}` },
      element("span", { class: "g2h-sidename" }, name),
      list,
    );
    return { node, list, trait };
  }

  controls() {
    this.slider = element("input", {
      type: "range",
      min: 1,
      step: 1,
      "aria-label": "output token",
    });
    this.sliderText = element("output");
    this.back = element("button", { type: "button" }, "Previous block");
    this.on = element("button", { type: "button", class: "g2h-main" }, "Next block");
    this.listen(this.slider, "input", () => this.put({ step: Number(this.slider.value) - 1 }));
    this.listen(this.back, "click", () => this.goOn(false));
    this.listen(this.on, "click", () => this.goOn(true));
    return element(
      "div",
      { class: "g2h-controls" },
      element(
        "label",
        { class: "g2h-hand" },
        element("span", {}, "output token: ", this.sliderText),
        this.slider,
      ),
      element("div", { class: "g2h-buttons" }, this.back, this.on),
    );
  }

  // ---- where we are

  get boxes() {
    return boxesOf(this.result.stages);
  }

  get at() {
    const { source, target } = this.result;
    return {
      place: inside(this.model.get("place"), this.boxes.length),
      step: inside(this.model.get("step"), target.length),
      token: inside(this.model.get("token"), source.length),
    };
  }

  /** A token of one side was chosen: open a box of that side. */
  putToken(trait, number) {
    const stack = trait === "token" ? "encoder" : "decoder";
    this.put({ [trait]: number, place: placeWithin(this.boxes, this.at.place, stack) });
  }

  goOn(forward) {
    const next = goOn(this.at, this.boxes, this.result.target.length, forward);
    if (next) this.put(next);
  }

  // ---- what is asked

  get old() {
    return OLD;
  }

  get nothing() {
    return "The field is empty: type a German sentence.";
  }

  question() {
    return this.model.get("text");
  }

  async run(text) {
    const results = await this.runAll("walk", { text });
    return results && results[0];
  }

  show(result) {
    this.result = result;
  }

  inWords() {
    if (this.isRecorded) return STORED;
    const warning = looksEnglish(this.result.text)
      ? "Warning: this looks like English. The model was trained on German sources only, so its output will not be a translation. "
      : "";
    return `${warning}${walkInWords(this.result)} (${(this.milliseconds / 1000).toFixed(2)} s, in your browser)`;
  }

  // ---- drawing

  draw() {
    this.root.dataset.shown = this.result.text;
    this.words = wordsOfWalk(this.result);
    const fill = (row, words) => {
      const hadFocus = row.list.contains(document.activeElement);
      row.list.replaceChildren(
        ...words.map((word, place) =>
          element(
            "button",
            { type: "button", class: "g2h-token", "data-place": place },
            element("bdi", {}, word),
          ),
        ),
      );
      if (hadFocus) row.list.children[this.at[row.trait]].focus({ preventScroll: true });
    };
    fill(this.tokens.read, this.words.read);
    fill(this.tokens.written, this.words.written);
    this.slider.max = this.words.written.length;
    this.map.show(this.result);
    this.lens.show(this.result);
    this.drawPlace();
  }

  drawPlace() {
    const { at, boxes, words } = this;
    for (const { list, trait } of Object.values(this.tokens)) {
      [...list.children].forEach((node, place) => {
        node.setAttribute("aria-pressed", place === at[trait]);
        node.tabIndex = place === at[trait] ? 0 : -1;
        node.classList.toggle("g2h-later", trait === "step" && place > at.step);
      });
    }
    this.slider.value = at.step + 1;
    this.sliderText.textContent = `${at.step + 1} of ${words.written.length}, “${words.written[at.step]}”`;
    this.slider.setAttribute("aria-valuetext", this.sliderText.textContent);
    this.back.disabled = !goOn(at, boxes, words.written.length, false);
    this.on.disabled = !goOn(at, boxes, words.written.length, true);
    this.map.mark(at);
    const [, heads, width] = this.result.cache.shape;
    this.block.show(boxes[at.place], at, words, heads * width);
    this.lens.mark(at.step, boxes[at.place]);
    this.cache.show(this.result, words, at.step);
    this.say(placeInWords(this.result, at));
  }
}

export default {
  render({ model, el }) {
    const view = new ModelWalk(model, el);
    return () => {
      view.block.dispose();
      view.dispose();
    };
  },
};
