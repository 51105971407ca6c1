import { spelled, visible } from "../../browser/live/pieces.js";
import { LiveStage, STORED } from "../../browser/live/stage.js";
import { warningOf, warningOfList } from "../../browser/live/unlike_dates.js";
import {
  asInTraining,
  compared,
  headAndRest,
  joinTokens,
  rowOf,
  softmaxRows,
  stepInWords,
} from "./readings.js";
import { element, field, inside } from "../kit/view.js";

const TOP = 6; // how many characters the numbers name
const [LEAST_CELL, MOST_CELL] = [8, 24]; // pixels
const LEGIBLE = 10; // below this many pixels a cell names only the row and column in question
const OLD = "The picture still shows the previous text.";
const sign = (token) => (token === "<eos>" ? "∎" : token === " " ? "␣" : visible(token));

class AttentionExplorer extends LiveStage {
  constructor(model, el) {
    super(model, el, "attention");
    this.names = model.get("names");
    this.results = this.recorded();
    this.build();
    this.begin(["text"]);
    this.resizes = new ResizeObserver(() => this.drawMap());
    this.resizes.observe(this.scroll);
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
    const own = { dir: "auto", autocapitalize: "off", maxlength: 400 };
    const titled = (place) => ({ dir: "auto", title: this.example(place) });
    this.warning = element("p", { class: "g2h-warning", role: "status" });
    this.root.append(
      this.buildField("input", own),
      this.refusal.node,
      this.warning,
      this.buildChips(this.model.get("labels"), titled),
    );
    this.buildReaders();
    this.buildMap();
    this.buildNumbers();
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
      "Underlined: where an output differs from that of the selected model, which may itself be wrong.",
    );
    this.root.append(list, legend);
  }

  buildMap() {
    this.slider = element("input", { type: "range", min: 0, step: 1 });
    this.stepText = element("output");
    this.canvas = element("canvas", { "aria-hidden": "true" });
    this.columns = element("div", { class: "g2h-columns", "aria-hidden": "true" });
    this.labels = element("div", { class: "g2h-rows" });
    this.scroll = element(
      "div",
      {
        class: "g2h-scroll",
        tabindex: 0,
        role: "group",
        "aria-label": "attention weights; the up and down arrow keys change the step",
      },
      element("div", { class: "g2h-plane" }, this.columns, this.canvas),
    );
    this.map = element("div", { class: "g2h-map" }, this.labels, this.scroll);
    this.noMap = element(
      "p",
      { class: "g2h-nothing" },
      "This model has no attention, so there are no weights to show. Its decoder sees the source only through the last states of the encoder.",
    );
    this.key = element(
      "p",
      { class: "g2h-legend g2h-key" },
      "One row per output character, one column per source character; the stronger the colour, the larger the weight. ␣ is a space, ∎ the end of the sequence. A state of the encoder also contains its neighbours, so attending to a neighbouring character is not an error.",
    );
    this.root.append(field("step ", this.slider, this.stepText), this.map, this.key, this.noMap);
    this.listen(this.slider, "input", () => this.go(Number(this.slider.value)));
    this.listen(this.canvas, "pointerdown", (event) => this.go(this.stepAt(event)));
    this.listen(this.canvas, "pointermove", (event) => this.point(event));
    this.listen(this.canvas, "pointerleave", () => this.point(null));
    this.listen(this.labels, "click", (event) => {
      const row = event.target.closest("[data-step]");
      if (row) this.go(Number(row.dataset.step));
    });
    this.listen(this.scroll, "keydown", (event) => {
      const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      this.go(this.step + by);
    });
  }

  buildNumbers() {
    const heads = ["source character", "score e", "exp(e − largest)", "weight α"];
    this.numbers = element("tbody");
    this.table = element(
      "table",
      { class: "g2h-numbers" },
      element("caption", {}, "From scores to weights at this step"),
      element(
        "thead",
        {},
        element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text))),
      ),
      this.numbers,
    );
    this.root.append(this.table);
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

  stepAt(event) {
    return Math.floor(event.offsetY / this.cell);
  }

  // ---- what is asked

  get old() {
    return OLD;
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
    this.map.hidden = this.key.hidden = this.table.hidden = !result.weights;
    this.noMap.hidden = Boolean(result.weights);
    this.say(stepInWords(result, step, this.names[this.selected]));
    if (!result.weights) return;
    this.drawMap();
    this.drawNumbers();
  }

  /** A stored example is the book's own; where nothing is shown, nothing is said of it. */
  warningFor({ written }) {
    if (this.isRecorded) return "";
    const text = this.read(this.model.get("text"));
    return this.model.get("separator") ? warningOfList(text) : warningOf(text, written);
  }

  drawMap() {
    const { result } = this;
    if (!result?.weights || !this.scroll.clientWidth) return;
    const [rows, columns] = result.weights.shape;
    this.cell = Math.min(
      Math.max(Math.floor(this.scroll.clientWidth / columns), LEAST_CELL),
      MOST_CELL,
    );
    this.map.style.setProperty("--g2h-cell", `${this.cell}px`);
    const isDense = this.cell < LEGIBLE;
    this.map.classList.toggle("g2h-dense", isDense);
    const most = rowOf(result.weights, this.step);
    const largest = most.indexOf(Math.max(...most));
    const named = (token, isNamed) => (isDense && !isNamed ? "" : sign(token));
    this.columns.replaceChildren(
      ...result.source.map((token, at) => element("span", {}, named(token, at === largest))),
    );
    this.labels.replaceChildren(
      ...result.target.map((token, step) =>
        element(
          "span",
          { "data-step": step, class: step === this.step ? "g2h-now" : null },
          named(token, step === this.step),
        ),
      ),
    );
    const ratio = globalThis.devicePixelRatio || 1;
    Object.assign(this.canvas, {
      width: columns * this.cell * ratio,
      height: rows * this.cell * ratio,
    });
    Object.assign(this.canvas.style, {
      width: `${columns * this.cell}px`,
      height: `${rows * this.cell}px`,
    });
    const pen = this.canvas.getContext("2d");
    const style = getComputedStyle(this.scroll);
    pen.scale(ratio, ratio);
    pen.fillStyle = style.getPropertyValue("color"); // the sheet gives the region the map's colour
    for (let t = 0; t < rows; t++) {
      for (let s = 0; s < columns; s++) {
        pen.globalAlpha = Math.min(0.04 + result.weights.data[t * columns + s], 1);
        pen.fillRect(s * this.cell, t * this.cell, this.cell - 1, this.cell - 1);
      }
    }
    pen.globalAlpha = 1;
    pen.strokeStyle = style.outlineColor;
    pen.lineWidth = 2;
    pen.strokeRect(1, this.step * this.cell, columns * this.cell - 3, this.cell - 1);
    this.canvas.dataset.step = this.step;
    this.comeIntoView(rowOf(result.weights, this.step));
  }

  /** On a narrow page the map scrolls: to the column with most weight, if it is out of sight. */
  comeIntoView(weights) {
    const left = weights.indexOf(Math.max(...weights)) * this.cell;
    const { scrollLeft, clientWidth } = this.scroll;
    if (left >= scrollLeft && left + this.cell <= scrollLeft + clientWidth) return;
    this.scroll.scrollLeft = left - clientWidth / 2;
  }

  drawNumbers() {
    const { result, step } = this;
    const scores = result.scores && rowOf(result.scores, step);
    const { head, rest } = headAndRest(softmaxRows(rowOf(result.weights, step), scores), TOP);
    const cell = (text) => element("td", {}, text);
    const rows = head.map(({ place, score, exp, weight }) => {
      const name = element(
        "th",
        { scope: "row" },
        element("bdi", {}, sign(result.source[place])),
        element("small", {}, ` position ${place + 1}`),
      );
      const bar = element(
        "td",
        { class: "g2h-weight", "data-weight": weight.toFixed(6) },
        weight.toFixed(3),
      );
      bar.style.setProperty("--g2h-share", `${(100 * weight).toFixed(1)}%`);
      return element(
        "tr",
        {},
        name,
        cell(score === null ? "–" : score.toFixed(2)),
        cell(exp.toFixed(3)),
        bar,
      );
    });
    if (rest) {
      const name = element("th", { scope: "row" }, `${rest.count} others`);
      rows.push(
        element("tr", {}, name, cell(""), cell(rest.exp.toFixed(3)), cell(rest.weight.toFixed(3))),
      );
    }
    this.numbers.replaceChildren(...rows);
  }

  point(event) {
    if (!event || !this.result.weights) return (this.canvas.title = "");
    const [rows, columns] = this.result.weights.shape;
    const [t, s] = [this.stepAt(event), Math.floor(event.offsetX / this.cell)];
    if (t >= rows || s >= columns || s < 0 || t < 0) return;
    const weight = this.result.weights.data[t * columns + s];
    this.canvas.title = `${sign(this.result.target[t])} attends to ${sign(this.result.source[s])}: ${weight.toFixed(3)}`;
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
