import { contextCurve, digits, pool, poolingInWords } from "./pooled.js";
import { Stage, drawn, element, field } from "../kit/view.js";

const [WIDTH, HEIGHT, MARGIN] = [640, 260, 30];
const STEPS = 400; // of the sliders

class PoolingView extends Stage {
  constructor(model, el) {
    super(model, el, "pooling");
    this.keys = model.get("slot_keys");
    this.values = model.get("slot_values");
    this.bounds = model.get("bounds");
    this.scale();
    this.buildControls();
    this.buildPicture();
    this.buildTable();
    this.follow(["query", "width", "allowed"], () => this.draw());
    this.draw();
  }

  /** From numbers to places in the picture; σ's slider moves by ratios. */
  scale() {
    const [left, right] = this.bounds.query;
    const [low, high] = [Math.min(...this.values), Math.max(...this.values)];
    const room = (high - low || 1) * 0.15;
    this.x = (query) => MARGIN + ((query - left) / (right - left)) * (WIDTH - 2 * MARGIN);
    this.y = (value) =>
      HEIGHT - MARGIN - ((value - low + room) / (high - low + 2 * room)) * (HEIGHT - 2 * MARGIN);
    this.queryAt = (x) =>
      Math.min(
        Math.max(left + ((x - MARGIN) / (WIDTH - 2 * MARGIN)) * (right - left), left),
        right,
      );
    const [narrow, wide] = this.bounds.width.map(Math.log);
    this.widthAt = (step) => Math.exp(narrow + ((wide - narrow) * step) / STEPS);
    this.stepOf = (width) => Math.round(((Math.log(width) - narrow) / (wide - narrow)) * STEPS);
  }

  buildControls() {
    const [left, right] = this.bounds.query;
    this.query = element("input", {
      type: "range",
      min: left,
      max: right,
      step: (right - left) / STEPS,
    });
    this.width = element("input", { type: "range", min: 0, max: STEPS, step: 1 });
    this.queryText = element("output");
    this.widthText = element("output");
    this.root.append(
      element(
        "div",
        { class: "g2h-controls" },
        field("query q = ", this.query, this.queryText),
        field("width σ = ", this.width, this.widthText),
      ),
    );
    this.listen(this.query, "input", () => this.put({ query: Number(this.query.value) }));
    this.listen(this.width, "input", () =>
      this.put({ width: this.widthAt(Number(this.width.value)) }),
    );
  }

  buildPicture() {
    this.curve = drawn("path", { class: "g2h-curve" });
    this.line = drawn("line", { class: "g2h-query", y1: MARGIN / 2, y2: HEIGHT - MARGIN / 2 });
    this.dots = this.keys.map((key, i) =>
      drawn("circle", {
        class: "g2h-slot",
        cx: this.x(key),
        cy: this.y(this.values[i]),
        "data-slot": i,
      }),
    );
    this.context = drawn("path", { class: "g2h-context", d: "M0,-8 L8,0 L0,8 L-8,0 Z" });
    const name = (x, y, text, anchor) => drawn("text", { x, y, "text-anchor": anchor }, text);
    this.picture = drawn(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT + 6}`, role: "img" },
      drawn("line", {
        class: "g2h-axis",
        x1: MARGIN,
        x2: WIDTH - MARGIN,
        y1: HEIGHT - 14,
        y2: HEIGHT - 14,
      }),
      name(WIDTH - MARGIN, HEIGHT - 19, "keys and query", "end"),
      name(2, 12, "values", "start"),
      ...this.ticks(name),
      this.curve,
      this.line,
      ...this.dots,
      this.context,
    );
    const legend =
      "Each disc is a slot; its area grows with its weight, and a hollow disc is masked. Click a disc to mask it or to allow it again. The dashed line is the query, the diamond its context, and the curve the context of every other query.";
    this.root.append(
      element("div", { class: "g2h-stage" }, this.picture),
      element("p", { class: "g2h-legend" }, legend),
    );
    this.listen(this.picture, "pointerdown", (event) => this.press(event));
    this.listen(this.picture, "pointermove", (event) => event.buttons && this.drag(event));
  }

  /** Whole numbers along the keys; the least and largest value, and nought between them. */
  ticks(name) {
    const [left, right] = this.bounds.query;
    const whole = Array.from(
      { length: Math.floor(right) - Math.ceil(left) + 1 },
      (_, n) => n + Math.ceil(left),
    );
    const apart = Math.ceil(whole.length / 12);
    const [least, most] = [Math.min(...this.values), Math.max(...this.values)];
    const ends = [...new Set(least < 0 && most > 0 ? [least, 0, most] : [least, most])];
    return [
      ...whole
        .filter((_, n) => n % apart === 0)
        .map((key) => name(this.x(key), HEIGHT, digits(key, 0), "middle")),
      ...ends.map((value) => name(2, this.y(value) + 4, digits(value, 1), "start")),
    ];
  }

  /** A click on a slot masks or allows it; elsewhere it moves the query. */
  press(event) {
    const slot = event.target.dataset.slot;
    if (slot === undefined) return this.drag(event);
    this.toggle(Number(slot));
    event.preventDefault();
  }

  drag(event) {
    const box = this.picture.getBoundingClientRect();
    this.put({ query: this.queryAt(((event.clientX - box.left) / box.width) * WIDTH) });
  }

  toggle(slot) {
    this.put({ allowed: this.model.get("allowed").map((one, i) => (i === slot ? !one : one)) });
  }

  buildTable() {
    const heads = [
      "allowed",
      "key",
      "value",
      "score",
      "exp(score − largest)",
      "weight",
      "weight · value",
    ];
    const head = element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text)));
    this.rows = this.keys.map((key, i) => {
      const box = element("input", {
        type: "checkbox",
        "aria-label": `slot ${i + 1} may be attended to`,
      });
      this.listen(box, "change", () => this.toggle(i));
      const cells = Array.from({ length: 4 }, () => element("td"));
      const bar = element("i", { class: "g2h-bar" });
      cells[2].append(bar, element("span"));
      const row = element(
        "tr",
        {},
        element("td", {}, box),
        element("td", {}, digits(key, 1)),
        element("td", {}, digits(this.values[i], 1)),
        ...cells,
      );
      return { row, box, cells, bar };
    });
    this.sums = [element("td"), element("td")];
    const foot = element(
      "tr",
      {},
      element("th", { scope: "row", colspan: 5 }, "sum"),
      ...this.sums,
    );
    this.root.append(
      element(
        "div",
        { class: "g2h-scroll", tabindex: 0, role: "group", "aria-label": "the numbers" },
        element(
          "table",
          {},
          element("thead", {}, head),
          element("tbody", {}, ...this.rows.map(({ row }) => row)),
          element("tfoot", {}, foot),
        ),
      ),
    );
    this.status = element("p", { class: "g2h-live", "aria-live": "polite" });
    this.root.append(this.status);
  }

  draw() {
    const [query, width] = [this.model.get("query"), this.model.get("width")];
    const allowed = this.model.get("allowed");
    const told = pool(query, this.keys, this.values, width, allowed);
    this.query.value = query;
    this.width.value = this.stepOf(width);
    this.queryText.textContent = digits(query, 2);
    this.widthText.textContent = width.toFixed(2);
    this.width.setAttribute("aria-valuetext", width.toFixed(2));
    const points = contextCurve(this.keys, this.values, width, allowed, this.bounds.query);
    this.curve.setAttribute(
      "d",
      `M${points.map(([q, c]) => `${this.x(q).toFixed(1)},${this.y(c).toFixed(1)}`).join(" L")}`,
    );
    this.line.setAttribute("x1", this.x(query));
    this.line.setAttribute("x2", this.x(query));
    this.dots.forEach((dot, i) => {
      dot.setAttribute("r", (6 + 18 * Math.sqrt(told.weights[i])).toFixed(2));
      dot.classList.toggle("g2h-forbidden", !allowed[i]);
    });
    this.context.setAttribute("transform", `translate(${this.x(query)},${this.y(told.context)})`);
    this.fill(told, allowed);
    const words = poolingInWords(told, allowed);
    this.status.textContent = words;
    this.picture.setAttribute("aria-label", words);
    Object.assign(this.root.dataset, { context: told.context.toFixed(6), width: width.toFixed(6) });
  }

  fill({ scores, exps, weights, context }, allowed) {
    this.rows.forEach(({ row, box, cells, bar }, i) => {
      box.checked = allowed[i];
      row.classList.toggle("g2h-forbidden", !allowed[i]);
      row.dataset.weight = weights[i].toFixed(6);
      cells[0].textContent = allowed[i] ? digits(scores[i], 2) : "–";
      cells[1].textContent = exps[i].toFixed(3);
      bar.style.width = `${(100 * weights[i]).toFixed(1)}%`;
      cells[2].lastChild.textContent = weights[i].toFixed(3);
      cells[3].textContent = digits(weights[i] * this.values[i], 3);
    });
    this.sums[0].textContent = weights.reduce((sum, weight) => sum + weight, 0).toFixed(3);
    this.sums[1].textContent = `c = ${digits(context, 3)}`;
  }
}

export default {
  render({ model, el }) {
    const view = new PoolingView(model, el);
    return () => view.dispose();
  },
};
