// The text in one line, and below each character what the gates did there: bars for one unit,
// shades for the named units, or for every unit. What is wider than the card scrolls in its box.

import {
  bars,
  bitsOf,
  fullShade,
  GATES,
  mostOf,
  NAMES,
  quantitiesOf,
  seen,
  seriesOf,
  shades,
  steps,
  SURPRISE,
  told,
} from "../kit/gates.js";
import { drawn, element, inside } from "../kit/view.js";

const MOVES = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };

export class GateTape {
  /** stage: the view; callbacks: {point, pick} with {place, unit}; without a unit it is kept. */
  constructor(stage, hears) {
    this.hears = hears;
    this.text = element("div", { class: "g2h-plot g2h-letters" });
    this.rows = element("div");
    this.map = drawn("svg", { preserveAspectRatio: "none", "aria-hidden": "true" });
    this.line = element("i", { class: "g2h-unit" });
    this.named = element("div");
    this.field = element("div", { class: "g2h-plot g2h-units" }, this.map, this.line);
    this.mapName = element("span", { class: "g2h-rowname" });
    this.all = row(this.mapName, this.field);
    this.at = element("i", { class: "g2h-at" });
    this.sheet = element(
      "div",
      { class: "g2h-sheet" },
      row(element("span", { class: "g2h-rowname" }, "text"), this.text),
      this.rows,
      this.named,
      this.all,
      this.at,
    );
    this.node = element("div", { class: "g2h-tape", tabindex: 0, role: "group" }, this.sheet);
    const on = (type, handler) => stage.listen(this.node, type, handler);
    on("pointermove", (event) => event.pointerType === "mouse" && hears.point(this.under(event)));
    on("pointerleave", () => hears.point(null));
    on("click", (event) => {
      const found = this.under(event);
      if (found) hears.pick(found);
    });
    on("keydown", (event) => this.walk(event));
  }

  /** What lies below a pointer: the character, and the unit where a row shows several. */
  under({ clientX, clientY, target }) {
    const box = this.text.getBoundingClientRect();
    const place = Math.floor(((clientX - box.left) / box.width) * this.length);
    if (!(place >= 0 && place < this.length)) return null;
    const named = target?.closest?.("[data-unit]");
    if (named) return { place, unit: Number(named.dataset.unit) };
    const { top, height } = this.field.getBoundingClientRect();
    const share = (clientY - top) / height;
    return share >= 0 && share < 1 ? { place, unit: Math.floor(share * this.units) } : { place };
  }

  walk(event) {
    const move = MOVES[event.key];
    if (!move) return;
    event.preventDefault();
    const place = inside(this.place + move[0], this.length);
    this.hears.pick(move[1] ? { place, unit: inside(this.unit + move[1], this.units) } : { place });
  }

  // ---- drawing

  /**
   * Draws a run, and as a line the run without a clamp, if it is another one; named: the units with
   * a row of their own; every: whether all units are shown.
   */
  show({ base, now, unit, quantity, named, every }) {
    Object.assign(this, { length: now.tokens.length, units: now.units, unit });
    this.sheet.style.setProperty("--g2h-length", this.length);
    this.node.setAttribute(
      "aria-label",
      `${this.length} characters and what the gates did; move with the arrow keys`,
    );
    this.drawText(now, unit, quantity);
    const free = now === base ? null : base;
    const bits = [now, ...(free ? [free] : [])].map(bitsOf);
    this.rows.replaceChildren(
      this.strip("surprise", {
        values: bits[0],
        free: bits[1],
        most: Math.max(SURPRISE, ...bits.flat().map(Math.ceil)),
        hasSign: false,
        unit: " bits",
      }),
      ...quantitiesOf(now).map((name) =>
        this.strip(name, {
          values: seriesOf(now, name, unit),
          free: free && seriesOf(free, name, unit),
          most: mostOf(free ? [now, free] : [now], name, unit),
          hasSign: !GATES.has(name),
        }),
      ),
    );
    this.named.replaceChildren(...named.map((one) => this.oneRow(now, quantity, one)));
    this.all.hidden = !every;
    if (every) this.drawAll(now, quantity);
    this.line.style.top = `${(100 * unit) / this.units}%`;
    this.line.style.height = `${100 / this.units}%`;
  }

  drawText(now, unit, quantity) {
    const values = seriesOf(now, quantity, unit);
    const most = mostOf([now], quantity, unit);
    this.text.replaceChildren(
      ...now.tokens.map((token, place) => {
        const node = element("span", { "data-value": values[place].toFixed(4) }, seen(token));
        node.classList.toggle("g2h-below", values[place] < 0);
        node.classList.toggle("g2h-blank", token === " " || token === "\n");
        node.style.setProperty(
          "--g2h-weight",
          Math.min(Math.abs(values[place]) / most, 1).toFixed(3),
        );
        return node;
      }),
    );
  }

  strip(name, { values, free, most, hasSign, unit = "" }) {
    const { above, below } = bars(values, most, hasSign);
    const view = {
      viewBox: `0 0 ${values.length} 1`,
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    };
    const svg = drawn(
      "svg",
      view,
      drawn("path", { class: "g2h-above", d: above }),
      drawn("path", { class: "g2h-below", d: below }),
    );
    if (hasSign) svg.append(drawn("path", { class: "g2h-zero", d: `M0 .5H${values.length}` }));
    if (free) svg.append(drawn("path", { class: "g2h-free", d: steps(free, most, hasSign) }));
    const reach = `${hasSign ? "±" : ""}${told(most, most % 1 ? 1 : 0)}${unit}`;
    const head = element(
      "span",
      { class: "g2h-rowname" },
      NAMES[name] ?? name,
      element("small", {}, reach),
    );
    const plot = element("div", { class: `g2h-plot g2h-strip g2h-${name}` }, svg);
    return row(head, plot);
  }

  /** A named unit: one row of shades, which chooses the unit when it is clicked. */
  oneRow(now, quantity, { unit, name }) {
    const only = {
      tokens: now.tokens,
      units: 1,
      quantities: { [quantity]: seriesOf(now, quantity, unit) },
    };
    const view = {
      viewBox: `0 0 ${now.tokens.length} 1`,
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    };
    const head = element(
      "span",
      { class: "g2h-rowname" },
      `unit ${unit}`,
      element("small", {}, name),
    );
    const plot = element(
      "div",
      { class: "g2h-plot g2h-one", "data-unit": unit },
      drawn("svg", view, ...this.shaded(only, quantity)),
    );
    const node = row(head, plot);
    node.classList.toggle("g2h-current", unit === this.unit);
    return node;
  }

  shaded(run, quantity) {
    return shades(run, quantity, fullShade(quantity)).flatMap(({ opacity, above, below }) => [
      drawn("path", { class: "g2h-above", d: above, opacity }),
      drawn("path", { class: "g2h-below", d: below, opacity }),
    ]);
  }

  drawAll(now, quantity) {
    this.map.setAttribute("viewBox", `0 0 ${now.tokens.length} ${now.units}`);
    this.map.replaceChildren(...this.shaded(now, quantity));
    this.mapName.replaceChildren("every unit:", element("br"), NAMES[quantity]);
  }

  /** Marks a character; one that was picked is brought into sight. */
  mark(place, isPicked) {
    this.place = place;
    this.at.style.setProperty("--g2h-place", place);
    if (!isPicked) return;
    const step = this.text.clientWidth / this.length;
    const room = this.node.clientWidth - (this.sheet.clientWidth - this.text.clientWidth);
    const left = place * step;
    if (left < this.node.scrollLeft) this.node.scrollLeft = left;
    else if (left + step > this.node.scrollLeft + room) this.node.scrollLeft = left + step - room;
  }
}

function row(head, plot) {
  return element("div", { class: "g2h-row" }, head, plot);
}
