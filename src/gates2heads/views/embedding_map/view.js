import { shortened } from "../../browser/live/pieces.js";
import { LiveStage, STORED } from "../../browser/live/stages/stage.js";
import { choice, drawn, element, field, inside } from "../kit/view.js";
import { answerInWords, arrows, GOAL, headings, laidOut, LETTERS, told } from "./word_places.js";

const MOST = 20;
const WEAK = 0.5; // below it we say that no word lies close to a direction
const FAR = 24; // from a point to its name: then a line joins the two

class EmbeddingMap extends LiveStage {
  constructor(model, el) {
    super(model, el, "embedding-map");
    this.lives = [this.all[0]];
    this.recorded = this.answer = { ...model.get("recorded"), model: 0 };
    this.build();
    const first = [this.example(0), 0, this.recorded.found[0].length, true];
    this.first = JSON.stringify(first);
    this.begin(["text", "model", "count", "exclude"], first);
    this.size = new ResizeObserver(() => this.drawMap());
    this.size.observe(this.map);
  }

  // ---- what stays for the life of the view

  build() {
    const { model } = this;
    this.which = choice(model.get("names"));
    this.number = element("output");
    this.slider = element("input", { type: "range", min: 3, max: MOST, step: 1 });
    this.open = element("input", { type: "checkbox" });
    const left = element(
      "label",
      { class: "g2h-check" },
      this.open,
      element("span", {}, "Allow the query words as answers"),
    );
    this.map = element("div", { class: "g2h-map g2h-dim" });
    this.lists = element("div", { class: "g2h-lists g2h-dim" });
    this.root.append(
      element(
        "div",
        { class: "g2h-controls" },
        this.buildField("input", { autocapitalize: "off" }),
        field("Model", this.which),
      ),
      this.refusal.node,
      this.buildChips(model.get("labels")),
      element(
        "div",
        { class: "g2h-controls g2h-more" },
        field("neighbours shown: ", this.slider, this.number),
        left,
      ),
      element("div", { class: "g2h-answer" }, this.map, this.lists),
    );
    this.legend = element("p", { class: "g2h-legend" });
    this.root.append(this.legend);
    this.buildFoot();
    this.status.classList.add("g2h-dim"); // the answer in words is as old as the map
    this.listen(this.which, "change", () => this.put({ model: this.which.selectedIndex }));
    this.listen(this.slider, "input", () => this.put({ count: Number(this.slider.value) }));
    this.listen(this.open, "change", () => this.put({ exclude: !this.open.checked }));
    this.listen(this.lists, "click", (event) => this.askFor(event.target.closest("button")));
    this.listen(this.map, "click", (event) => this.askFor(event.target.closest("[data-word]")));
  }

  // ---- what is asked

  get nothing() {
    return "Enter a word.";
  }

  get old() {
    return this.phrases.asking;
  }

  get phrases() {
    return { ...super.phrases, running: "Computing …" };
  }

  read(typed) {
    return typed;
  }

  holds(text) {
    return Boolean(text.replace(/[\s,;:]/g, ""));
  }

  /** What is asked: the text, the table, how many, and whether asked words are left out. */
  question() {
    const [text, model, count, exclude] = ["text", "model", "count", "exclude"].map((name) =>
      this.model.get(name),
    );
    return [text, inside(model, this.all.length), count, exclude];
  }

  /** A word of the answer was pressed. */
  askFor(node) {
    if (!node) return;
    this.input.value = node.dataset.word;
    this.take();
  }

  /** Only the selected model is needed; what was asked about another one is withdrawn. */
  hear() {
    const chosen = this.all[inside(this.model.get("model"), this.all.length)];
    if (chosen !== this.lives[0]) this.permission.withdraw();
    this.lives = [chosen];
    return super.hear();
  }

  /** The first example needs no model; once its model is loaded, it is computed like any other. */
  stored(question) {
    const isFirst = JSON.stringify(question) === this.first;
    return isFirst && !this.all[0].isComing ? this.recorded : undefined;
  }

  async run([text, model, count, exclude]) {
    const names = this.model.get("names");
    const remedy = names[this.model.get("subword")]; // undefined where there is none
    const results = await this.runAll("words", { text, count, exclude, remedy });
    return results && { ...results[0], model };
  }

  show(answer) {
    this.answer = answer;
  }

  // ---- drawing

  /** The controls show what is asked. */
  mark() {
    const { model } = this;
    this.which.selectedIndex = inside(model.get("model"), this.all.length);
    this.slider.value = model.get("count");
    this.number.textContent = model.get("count");
    this.open.checked = !model.get("exclude");
    super.mark();
  }

  inWords() {
    return this.isRecorded
      ? STORED
      : `Computed in your browser with the ${this.model.get("names")[this.answer.model]} model.`;
  }

  draw() {
    this.say(answerInWords(this.answer));
    this.drawLists();
    this.drawMap();
    const asked = this.answer.asked.length;
    this.legend.textContent =
      "Bars and numbers show cosine similarity. On the map, query words are orange and neighbours are blue" +
      `${asked === 3 ? `; the cross is ${GOAL} scaled to length 1, so the two arrows need not be parallel` : ""}. Click a word to look it up.` +
      (isWeak(this.answer)
        ? ` No word lies close to this direction: all cosines are below ${WEAK}.`
        : "");
  }

  drawLists() {
    const { answer } = this;
    const heads = headings(answer);
    this.lists.replaceChildren(
      ...answer.found.map((words, place) =>
        element(
          "div",
          { class: "g2h-list" },
          element("p", { class: "g2h-head" }, heads[place]),
          element(
            "ol",
            {},
            ...words.map(([word, cosine]) =>
              element(
                "li",
                {},
                element(
                  "button",
                  {
                    type: "button",
                    class: "g2h-word",
                    "data-word": word,
                    "data-value": cosine,
                    style: `--g2h-share:${Math.max(0, 100 * cosine).toFixed(1)}%`,
                  },
                  element("span", {}, word),
                  element("span", { class: "g2h-cosine" }, told(cosine)),
                ),
              ),
            ),
          ),
        ),
      ),
    );
  }

  drawMap() {
    const { answer } = this;
    const width = Math.max(this.map.clientWidth, 240);
    const height = Math.round(Math.min(Math.max(0.72 * width, 240), 400));
    const places = laidOut(answer.places, answer.points.map(shortened), {
      width,
      height,
      letter: 7.4,
      line: 17,
      edge: Math.min(70, width / 5),
    });
    const at = new Map(answer.points.map((word, place) => [word, place]));
    const picture = drawn("svg", {
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": `Map of ${answer.points.length} points: ${answer.points.map(shortened).join(", ")}`,
    });
    for (const [from, to] of arrows(answer)) {
      const [start, end] = [places[at.get(from)], places[at.get(to)]];
      if (from !== to)
        picture.append(
          drawn("line", { class: "g2h-way", x1: start.x, y1: start.y, x2: end.x, y2: end.y }),
          head(start, end),
        );
    }
    answer.points.forEach((word, place) => {
      const { x, y, left, top, anchor } = places[place];
      const isGoal = word === GOAL;
      const letter = answer.asked.indexOf(word);
      const kind = isGoal ? "g2h-goal" : letter < 0 ? "g2h-found" : "g2h-asked";
      const mark = isGoal
        ? drawn("path", { d: `M${x - 5} ${y - 5}l10 10m0 -10l-10 10` })
        : drawn("circle", { cx: x, cy: y, r: letter < 0 ? 4 : 5.5 });
      const name = drawn(
        "text",
        { x: left, y: top, "text-anchor": anchor },
        letter >= 0 && answer.asked.length > 1
          ? `${LETTERS[letter]}: ${shortened(word)}`
          : shortened(word),
      );
      const group = drawn(
        "g",
        {
          class: `g2h-point ${kind}`,
          "data-x": answer.places[place][0],
          "data-y": answer.places[place][1],
        },
        ...(Math.hypot(left - x, top - 4 - y) > FAR
          ? [drawn("line", { class: "g2h-leader", x1: x, y1: y, x2: left, y2: top - 4 })]
          : []),
        mark,
        name,
      );
      if (!isGoal) group.dataset.word = word;
      picture.append(group);
    });
    this.map.replaceChildren(picture);
  }

  dispose() {
    this.size.disconnect();
    super.dispose();
  }
}

/** Whether two words were asked for, and no word lies close to the direction between them. */
function isWeak({ asked, found }) {
  return asked.length === 2 && found.flat().every(([, cosine]) => cosine < WEAK);
}

/** The head of an arrow that ends a little before its point. */
function head(start, end) {
  const long = Math.hypot(end.x - start.x, end.y - start.y) || 1;
  const [x, y] = [(end.x - start.x) / long, (end.y - start.y) / long];
  const [tipX, tipY] = [end.x - 8 * x, end.y - 8 * y];
  const wing = (side) => `${tipX - 8 * x + side * 4 * y},${tipY - 8 * y - side * 4 * x}`;
  return drawn("polygon", { class: "g2h-tip", points: `${tipX},${tipY} ${wing(1)} ${wing(-1)}` });
}

export default {
  render({ model, el }) {
    const view = new EmbeddingMap(model, el);
    return () => view.dispose();
  },
};
