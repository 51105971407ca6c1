import {
  joined,
  linkPath,
  mostLookedAt,
  peakOf,
  placeInside,
  readAlignments,
  scrolledTo,
  stepsOf,
  visible,
} from "./alignments.js";
import { Stage, choice, direction, drawn, element, field, inside } from "./view.js";

const LINK_WIDTH = 12; // pixels of a link that carries all the weight
const FLIP = 0.65; // from this weight on the shade asks for the other ink (both stay above 4.5:1)

const quoted = (token) => ['"', element("bdi", {}, visible(token)), '"'];

class AlignmentExplorer extends Stage {
  constructor(model, el) {
    super(model, el, "alignment");
    this.alignments = readAlignments(model.get("catalogue"), model.get("weights"));
    this.preview = null; // {step, position} under the pointer
    this.buildControls();
    this.buildStage();
    this.follow(["sentence", "score", "step"], () => this.refresh());
    this.resizes = new ResizeObserver(() => this.measure());
    this.refresh();
  }

  // ---- where we are

  /** The model's positions, moved inside what there is to show. */
  get at() {
    const [score, sentence, step] = ["score", "sentence", "step"].map((name) =>
      this.model.get(name),
    );
    return placeInside(this.alignments, { score, sentence, step });
  }

  /** Goes to new positions; the step stays within the sentence that is then shown. */
  go(changes) {
    this.forget();
    this.put(placeInside(this.alignments, { ...this.at, ...changes }));
  }

  // ---- what stays for the life of the view

  buildControls() {
    const { scores, titles } = this.model.get("catalogue");
    this.sentences = choice(titles);
    this.scores = choice(scores);
    this.slider = element("input", { type: "range", min: 0, step: 1 });
    this.output = element("output");
    this.text = element("p", { class: "g2h-text" });
    this.live = element("p", { class: "g2h-live", "aria-live": "polite" });
    const controls = element(
      "div",
      { class: "g2h-controls" },
      field("sentence", this.sentences),
      field("score function", this.scores),
      field("output step ", this.slider, this.output),
    );
    this.root.append(controls, this.text, this.live);
    this.listen(this.sentences, "change", () =>
      this.go({ sentence: this.sentences.selectedIndex }),
    );
    this.listen(this.scores, "change", () => this.go({ score: this.scores.selectedIndex }));
    this.listen(this.slider, "input", () => this.go({ step: Number(this.slider.value) }));
  }

  buildStage() {
    this.picture = element("div", {
      class: "g2h-picture",
      role: "group",
      tabindex: 0,
      "aria-label": "alignment; left and right change the step, up and down the sentence",
    });
    this.scroll = element("div", { class: "g2h-scroll" }, this.picture);
    const scale = element("span", { class: "g2h-scale" }, "weight 0", element("i"), "1");
    const keys = element("span", { class: "g2h-keys" });
    [["←"], ["→"], " step  ", ["↑"], ["↓"], " sentence"].forEach((part) =>
      keys.append(typeof part === "string" ? part : element("kbd", {}, ...part)),
    );
    this.root.append(this.scroll, element("div", { class: "g2h-foot" }, scale, keys));
    this.listen(this.root, "keydown", (event) => this.key(event));
    this.listen(this.picture, "pointerover", (event) => this.point(event.target));
    this.listen(this.scroll, "scroll", () => this.measure());
    this.listen(this.picture, "pointerleave", () => this.point(null));
    this.listen(this.picture, "focusin", (event) => this.point(event.target));
    this.listen(this.picture, "focusout", () => this.point(null));
    this.listen(this.picture, "click", (event) => this.pick(event.target));
    this.listen(this.picture, "mousedown", (event) => {
      event.preventDefault(); // the keyboard goes on from the picture, not from the pressed token
      this.picture.focus({ preventScroll: true, focusVisible: false });
    });
  }

  // ---- one sentence under one score function

  buildSentence({ source, target }) {
    const side = direction(source.join(""));
    this.picture.dir = side;
    this.picture.style.setProperty("--g2h-columns", source.length);
    this.cells = source.map((token, position) => this.sourceCell(token, position));
    this.links = source.map((_, position) => drawn("path", { "data-position": position }));
    const svg = drawn("svg", { "aria-hidden": "true" }, ...this.links);
    this.between = element("div", { class: "g2h-links" }, svg);
    this.targets = target.map((token, step) => this.targetToken(token, step));
    const targets = element("div", { class: "g2h-targets", dir: direction(target.join("")) });
    targets.append(...this.targets);
    this.names = this.name("source");
    this.picture.replaceChildren(
      this.names,
      ...this.cells.map((cell) => cell.node),
      this.between,
      this.name("output"),
      targets,
    );
    this.text.replaceChildren(
      element("bdi", {}, joined(source)),
      " → ",
      element("bdi", {}, joined(target)),
    );
    this.slider.max = target.length - 1;
    this.resizes.disconnect();
    this.resizes.observe(this.picture);
  }

  name(text) {
    return element("span", { class: "g2h-name" }, text);
  }

  sourceCell(token, position) {
    const bar = element("i", { class: "g2h-bar" });
    const value = element("span", { class: "g2h-value" });
    const shade = element("i", { class: "g2h-shade" });
    const word = element("span", { class: "g2h-token" }, shade, element("bdi", {}, visible(token)));
    const bars = element("span", { class: "g2h-bars" }, bar, value);
    const node = element(
      "div",
      { class: "g2h-source", role: "img", tabindex: position ? -1 : 0, "data-position": position },
      bars,
      word,
    );
    return { node, bar, value, shade, word, token };
  }

  targetToken(token, step) {
    return element(
      "button",
      { type: "button", class: "g2h-target", tabindex: -1, "data-step": step },
      element("bdi", {}, visible(token)),
    );
  }

  /** The whole matrix; rows share the columns of the source tokens. */
  buildMatrix({ target, rows }) {
    this.rows = rows.map((weights, step) => {
      const token = element("bdi", {}, visible(target[step]));
      const label = element("span", { class: "g2h-label" }, token);
      const cells = weights.map((weight, position) => {
        const data = { "data-position": position, "data-weight": weight.toFixed(6) };
        return element("span", { class: "g2h-cell", ...data, style: `--g2h-weight: ${weight}` });
      });
      return element(
        "div",
        { class: "g2h-row", "data-step": step, "aria-hidden": "true" },
        label,
        ...cells,
      );
    });
    this.picture.append(...this.rows);
  }

  /**
   * Where tokens stand, read when the layout changes, so that a step reads nothing from the page.
   */
  measure() {
    const first = !this.ends;
    const box = this.between.getBoundingClientRect();
    const middle = (node) => {
      const { left, width } = node.getBoundingClientRect();
      return left + width / 2 - box.left;
    };
    this.ends = {
      source: this.cells.map((cell) => middle(cell.node)),
      target: this.targets.map(middle),
      height: box.height,
      hidden: this.scroll.scrollWidth - this.scroll.clientWidth,
      left: box.left - this.scroll.getBoundingClientRect().left + this.scroll.scrollLeft,
      width: this.scroll.clientWidth,
      names: this.names.getBoundingClientRect().width, // cover what slides under them
    };
    this.picture.style.setProperty("--g2h-names", `${this.ends.names}px`);
    this.drawLinks();
    if (first) this.reveal();
  }

  // ---- drawing

  refresh() {
    const at = this.at;
    this.settle(() => this.at);
    const alignment = this.alignments[at.score][at.sentence];
    if (alignment !== this.shown) {
      this.shown = alignment;
      this.preview = null;
      this.ends = null;
      this.buildSentence(alignment);
      this.buildMatrix(alignment);
    }
    this.sentences.selectedIndex = at.sentence;
    this.scores.selectedIndex = at.score;
    this.slider.value = at.step;
    const place = `${at.step + 1} of ${alignment.target.length}`;
    this.output.textContent = place;
    this.slider.setAttribute(
      "aria-valuetext",
      `${place}, writes ${visible(alignment.target[at.step])}`,
    );
    this.draw();
    this.reveal();
  }

  draw() {
    const { step } = this.at;
    this.step = this.preview?.step ?? step;
    this.weights = this.shown.rows[this.step];
    this.peak = peakOf(this.weights);
    this.cells.forEach((cell, position) => this.drawCell(cell, position, this.weights[position]));
    this.targets.forEach((node, place) => this.mark(node, place, step));
    this.rows.forEach((node, place) => this.mark(node, place, step));
    this.targets.forEach((node, place) => node.setAttribute("aria-pressed", place === step));
    this.picture.dataset.step = this.step;
    this.drawLinks();
    this.tell();
  }

  mark(node, place, step) {
    node.classList.toggle("g2h-current", place === step);
    node.classList.toggle("g2h-shown", place === this.step);
  }

  drawCell({ node, bar, value, shade, word, token }, position, weight) {
    node.dataset.weight = weight.toFixed(6);
    node.setAttribute(
      "aria-label",
      `${visible(token)}, position ${position + 1}, weight ${weight.toFixed(3)}`,
    );
    node.classList.toggle("g2h-pointed", this.preview?.position === position);
    bar.style.transform = `scaleY(${weight})`;
    node.classList.toggle("g2h-peak", position === this.peak);
    value.textContent = weight.toFixed(3);
    value.style.bottom = `${100 * weight}%`;
    shade.style.setProperty("--g2h-weight", weight);
    word.classList.toggle("g2h-strong", weight >= FLIP);
  }

  drawLinks() {
    if (!this.ends) return;
    const { source, target, height } = this.ends;
    const from = target[this.step];
    this.links.forEach((path, position) => {
      const weight = this.weights[position];
      path.dataset.weight = weight.toFixed(6);
      path.setAttribute("stroke-width", weight * LINK_WIDTH);
      path.setAttribute("d", linkPath(from, source[position], height));
    });
  }

  /** Says in one sentence what the step does; a pointed token adds its exact weight. */
  tell() {
    const { source, target } = this.shown;
    const looks = mostLookedAt(this.weights).flatMap((at, rank) => [
      rank ? ", " : "",
      ...quoted(source[at]),
      ` ${this.weights[at].toFixed(2)}`,
    ]);
    this.live.replaceChildren(
      `step ${this.step + 1} writes `,
      ...quoted(target[this.step]),
      ": looks at ",
      ...looks,
    );
  }

  /** Scrolls the picture, never the page, to the token that the step looks at most. */
  reveal() {
    if (!this.ends?.hidden) return;
    const { source, left, width, names } = this.ends;
    const [from, to] = this.picture.dir === "rtl" ? [0, width - names] : [names, width];
    this.scroll.scrollLeft = scrolledTo(left + source[this.peak], this.scroll.scrollLeft, from, to);
  }

  // ---- pointer and keys

  /**
   * What lies under the pointer or holds the focus: a step to preview, a source position, or both.
   */
  point(node) {
    const step = node?.closest("[data-step]:not(.g2h-picture)")?.dataset.step;
    const position = node?.closest(".g2h-source, .g2h-cell")?.dataset.position;
    const none = step === undefined && position === undefined;
    const preview = none
      ? null
      : {
          step: step === undefined ? undefined : Number(step),
          position: position === undefined ? undefined : Number(position),
        };
    if (preview?.step === this.preview?.step && preview?.position === this.preview?.position)
      return;
    this.forget();
    this.preview = preview;
    node?.closest(".g2h-cell")?.classList.add("g2h-pointed");
    this.draw();
  }

  forget() {
    this.preview = null;
    this.picture.querySelector(".g2h-cell.g2h-pointed")?.classList.remove("g2h-pointed");
  }

  /** A pressed token or row picks its step; a pressed source token keeps showing its weight. */
  pick(node) {
    const step = node.closest("[data-step]:not(.g2h-picture)")?.dataset.step;
    if (step !== undefined) this.go({ step: Number(step) });
    this.point(node);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (!this.picture.contains(event.target)) return; // native controls know their own keys
    const position = this.cells.findIndex((cell) => cell.node === event.target);
    const goal =
      position < 0
        ? stepsOf(this.at, this.shown.target.length - 1)[event.key]
        : this.neighbours(position)[event.key];
    if (goal === undefined) return;
    event.preventDefault();
    if (position < 0) this.go(goal);
    else this.focusCell(inside(goal, this.cells.length));
  }

  /** While a source token holds the focus, keys walk along the source as it is written. */
  neighbours(position) {
    const onward = this.picture.dir === "rtl" ? -1 : 1;
    return {
      ArrowLeft: position - onward,
      ArrowRight: position + onward,
      Home: 0,
      End: this.cells.length - 1,
    };
  }

  /** The source row is one stop of the tab key. */
  focusCell(position) {
    this.cells.forEach(({ node }, place) => (node.tabIndex = place === position ? 0 : -1));
    this.cells[position].node.focus();
  }

  dispose() {
    this.resizes.disconnect();
    super.dispose();
  }
}

export default {
  render({ model, el }) {
    const explorer = new AlignmentExplorer(model, el);
    return () => explorer.dispose();
  },
};
