import { spelled } from "../../browser/live/pieces.js";
import { LiveStage, STORED } from "../../browser/live/stages/stage.js";
import { asInTraining, warningOf, warningOfList } from "../../browser/live/unlike_dates.js";
import { compared, joinTokens, sign, stepInWords } from "./readings.js";
import { WeightMap } from "./weight_map.js";
import { WeightTable } from "./weight_table.js";
import { element, field, inside } from "../kit/view.js";

const LONGEST = 400; // characters
const OLD = "The heat map still shows the previous input.";

class AttentionExplorer extends LiveStage {
  constructor(model, el) {
    super(model, el, "attention");
    this.names = model.get("names");
    this.results = this.recorded();
    this.build();
    this.begin(["text"]);
    this.resizes = new ResizeObserver(() => this.map.draw(this.result, this.step));
    this.resizes.observe(this.map.scroll);
    this.follow(["selected", "step"], () => this.draw());
  }

  /** What Python recorded: one result for each reader, in the shape in which a live one comes. */
  recorded() {
    const bytes = this.model.get("maps");
    let offset = 0;
    const map = (shape) => {
      const data = new Float32Array(shape[0] * shape[1]);
      data.forEach((_, at) => (data[at] = bytes.getFloat32((offset += 4) - 4, true)));
      return { shape, data };
    };
    return this.model.get("readings").map(({ source, target, looks }) => {
      const shape = [target.length, source.length];
      const [weights, scores] = looks ? [map(shape), map(shape)] : [null, null];
      return { source, target, written: joinTokens(target), weights, scores };
    });
  }

  // ---- what stays for the life of the view

  build() {
    const own = { dir: "auto", autocapitalize: "off" };
    const titled = (place) => ({ dir: "auto", title: this.example(place) });
    this.warning = element("p", { class: "g2h-warning", role: "status" });
    this.root.append(
      this.buildField("input", own),
      this.refusal.node,
      this.warning,
      this.buildChips(this.model.get("labels"), titled),
    );
    this.buildReaders();
    this.buildSteps();
    this.table = new WeightTable();
    this.root.append(...this.map.nodes, this.table.node);
    this.buildFoot();
  }

  buildReaders() {
    const group = `g2h-reader-${Math.random().toString(36).slice(2)}`;
    this.readers = this.names.map((name, place) => {
      const radio = element("input", { type: "radio", name: group, value: place });
      const output = element("output", { class: "g2h-written", dir: "ltr" });
      const node = element(
        "label",
        { class: "g2h-reader" },
        radio,
        element("span", {}, name),
        output,
      );
      this.listen(radio, "change", () => this.put({ selected: place }));
      return { node, radio, output };
    });
    const list = element("div", {
      class: "g2h-readers",
      role: "radiogroup",
      "aria-label": "model",
    });
    list.append(...this.readers.map(({ node }) => node));
    const legend = element(
      "p",
      { class: "g2h-legend" },
      "Underlined characters differ from the output of the selected model, which may itself be wrong.",
    );
    this.root.append(list, legend);
  }

  buildSteps() {
    this.slider = element("input", { type: "range", min: 0, step: 1 });
    this.stepText = element("output");
    this.map = new WeightMap({
      onStep: (step) => this.go(step),
      listen: (...how) => this.listen(...how),
    });
    this.root.append(field("step ", this.slider, this.stepText));
    this.listen(this.slider, "input", () => this.go(Number(this.slider.value)));
  }

  // ---- where we are

  get selected() {
    return inside(this.model.get("selected"), this.names.length);
  }

  get result() {
    return this.results[this.selected];
  }

  get step() {
    return inside(this.model.get("step"), Math.max(this.result?.target.length ?? 1, 1));
  }

  go(step) {
    this.put({ step: inside(step, this.result.target.length) });
  }

  // ---- what is asked

  get old() {
    return OLD;
  }

  get longest() {
    return LONGEST;
  }

  get nothing() {
    return this.input.value.trim()
      ? "There is no date in the field, only separators: type a date."
      : "The field is empty: type a date.";
  }

  /** What the models are given: spaces and the parts of a list as in training, however typed. */
  read(typed) {
    const separator = this.model.get("separator");
    const text = asInTraining(spelled(typed));
    return separator
      ? text.split(separator).map(spelled).filter(Boolean).join(` ${separator} `)
      : text;
  }

  question() {
    return this.model.get("text");
  }

  /** These models are so small that they need not wait until the typing pauses. */
  later() {
    this.take();
  }

  run(text) {
    return this.runAll("read", { text });
  }

  show(results) {
    this.results = results;
    this.settle(() => ({ step: this.step }));
    this.root.dataset.text = this.model.get("text");
  }

  inWords() {
    if (this.isRecorded) {
      return STORED;
    }
    const cut = this.names.filter((_, place) => this.results[place].finished === false);
    const most = Math.max(...this.results.map(({ target }) => target.length));
    const stopped = ` Stopped at the limit of ${most} characters: ${cut.join(", ")}.`;
    return `Computed in this page.${cut.length ? stopped : ""}`;
  }

  // ---- drawing

  draw() {
    const { result, step } = this;
    this.readers.forEach(({ node, radio, output }, place) => {
      radio.checked = place === this.selected;
      node.classList.toggle("g2h-chosen", place === this.selected);
      const parts = compared(this.results[place].written, result.written);
      output.replaceChildren(
        ...parts.map(({ text, isSame }) => (isSame ? text : element("mark", {}, text))),
      );
    });
    this.warning.textContent = this.warningFor(result);
    this.slider.max = result.target.length - 1;
    this.slider.value = step;
    this.stepText.textContent = `${step + 1}: ${sign(result.target[step])}`;
    this.slider.setAttribute("aria-valuetext", `step ${step + 1}`);
    this.table.node.hidden = !result.weights;
    this.say(stepInWords(result, step, this.names[this.selected]));
    this.map.draw(result, step);
    if (result.weights) this.table.draw(result, step);
  }

  /** A stored example is the book's own; where nothing is shown, nothing is said of it. */
  warningFor({ written }) {
    if (this.isRecorded) return "";
    const text = this.read(this.model.get("text"));
    return this.model.get("separator") ? warningOfList(text) : warningOf(text, written);
  }

  dispose() {
    this.resizes.disconnect();
    super.dispose();
  }
}

export default {
  render({ model, el }) {
    const view = new AttentionExplorer(model, el);
    return () => view.dispose();
  },
};
