// The heads of one layer side by side: queries on the left, keys on the right, one line per weight.

import { BLOCKS, isOff, lines, mapOf, numbersOf, sidesOf, unmoved } from "../kit/heads.js";
import { drawn, element } from "../kit/view.js";

const NAMED = 6; // how many tokens the numbers name
const FLIP = 0.65; // from this weight on, the shade asks for the other ink
const WIDEST = 7; // pixels of a line that carries all the weight
const STEPS = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity };
const ACROSS = { ArrowRight: 1, ArrowLeft: -1 };

export class HeadPanels {
  /** stage: the view; callbacks: {point, pick} of a row, {toggle, alone} of a head. */
  constructor(stage, hears) {
    this.hears = hears;
    this.grid = element("div", { class: "g2h-heads" });
    this.caption = element("caption");
    this.head = element("tr");
    this.body = element("tbody");
    this.table = element(
      "table",
      { class: "g2h-numbers" },
      this.caption,
      element("thead", {}, this.head),
      this.body,
    );
    this.node = element("div", {}, this.grid, this.table);
    const on = (type, handler) => stage.listen(this.grid, type, handler);
    on("pointerover", (event) => event.pointerType === "mouse" && this.point(event.target));
    on("pointerleave", () => hears.point(null));
    on("focusin", (event) => this.point(event.target));
    on("focusout", () => hears.point(null));
    on("click", (event) => this.press(event.target));
    on("change", (event) => hears.toggle(Number(event.target.closest("[data-head]").dataset.head)));
    on("keydown", (event) => this.walk(event));
    this.resizes = new ResizeObserver(() => this.panels && this.drawLines());
    this.resizes.observe(this.grid);
  }

  // ---- pointing and pressing

  rowOf(node) {
    const row = node?.closest?.(".g2h-looks");
    return row ? Number(row.dataset.row) : null;
  }

  point(node) {
    if (this.rowOf(node) !== null) this.hears.point(this.rowOf(node));
  }

  press(node) {
    if (this.rowOf(node) !== null) this.hears.pick(this.rowOf(node));
    const button = node.closest(".g2h-alone");
    if (button) this.hears.alone(Number(button.closest("[data-head]").dataset.head));
  }

  walk(event) {
    const at = this.rowOf(event.target);
    const [step, across] = [STEPS[event.key], ACROSS[event.key]];
    if (at === null || !(step || across)) return;
    event.preventDefault();
    const head = Number(event.target.closest("[data-head]").dataset.head) + (across ?? 0);
    const { looks } = this.panels[Math.min(Math.max(head, 0), this.panels.length - 1)];
    looks[Math.min(Math.max(at + (step ?? 0), 0), looks.length - 1)].focus();
  }

  // ---- drawing

  /** Shows one layer of one block of a result. */
  show(result, block, depth) {
    const { rows, columns } = (this.sides = sidesOf(result, block));
    const chosen = result.blocks[block];
    this.names = unmoved(chosen.shape[1]).map((head) => [BLOCKS[block].layer(depth), head]);
    this.maps = this.names.map(([, head]) => mapOf(chosen, depth, head));
    this.panels = this.maps.map((_, head) => this.panel(head, rows, columns));
    const focused = this.focused();
    this.grid.replaceChildren(...this.panels.map(({ node }) => node));
    focused?.(this.panels);
    this.head.replaceChildren(
      element("th", { scope: "col" }, "key"),
      ...this.names.map(([, head]) => element("th", { scope: "col" }, `head ${head + 1}`)),
    );
    this.drawLines();
  }

  /**
   * How to give the focus back to what has it now, once all is drawn anew; null if it is elsewhere.
   */
  focused() {
    const node = document.activeElement;
    if (!this.grid.contains(node)) return null;
    const head = Number(node.closest("[data-head]").dataset.head);
    const row = this.rowOf(node);
    return (panels) => {
      const { node: panel, looks } = panels[Math.min(head, panels.length - 1)];
      const same =
        row === null
          ? panel.querySelector(node.localName === "input" ? "input" : ".g2h-alone")
          : looks[row];
      (same ?? looks.at(-1)).focus({ preventScroll: true });
    };
  }

  panel(head, rows, columns) {
    const box = element("input", { type: "checkbox" });
    const label = element("label", {}, box, element("span", {}, `head ${head + 1}`));
    const only = element(
      "button",
      { type: "button", class: "g2h-alone", "aria-label": `only this: head ${head + 1}` },
      "only this",
    );
    const looks = rows.map((text, row) =>
      element(
        "button",
        { type: "button", class: "g2h-looks", "data-row": row, tabindex: -1, title: text },
        element("bdi", {}, text),
      ),
    );
    const seen = columns.map((text) =>
      element(
        "span",
        { class: "g2h-seen", title: text },
        element("i", { class: "g2h-shade" }),
        element("bdi", {}, text),
      ),
    );
    const svg = drawn("svg", { "aria-hidden": "true" });
    const sides = [
      ["g2h-left", looks],
      ["g2h-right", seen],
    ].map(([name, nodes]) => element("div", { class: name }, ...nodes));
    const plane = element("div", { class: "g2h-plane" }, svg, ...sides);
    const node = element(
      "div",
      { class: "g2h-head", "data-head": head, role: "group", "aria-label": `head ${head + 1}` },
      element("div", { class: "g2h-switch" }, label, only),
      plane,
    );
    return { node, box, svg, looks, seen, plane };
  }

  /** Lines of all rows, faint; those of the chosen row lie upon them. */
  drawLines() {
    const [panel] = this.panels;
    const frame = panel.plane.getBoundingClientRect();
    if (!frame.width) return;
    const left = panel.looks[0].parentElement.getBoundingClientRect();
    const right = panel.seen[0].parentElement.getBoundingClientRect();
    const step = panel.looks[0].getBoundingClientRect().height;
    this.ends = { x: left.right - frame.left, to: right.left - frame.left, step };
    this.panels.forEach(({ svg }, head) => {
      const faint = drawn("g", { class: "g2h-faint" }, ...this.paths(lines(this.maps[head])));
      svg.replaceChildren(faint, drawn("g", { class: "g2h-strong" }));
    });
    if (this.row !== undefined) this.drawChosen();
  }

  paths(some) {
    const { x, to, step } = this.ends;
    return some.map(({ row, column, weight }) =>
      drawn("path", {
        d: `M${x},${((row + 0.5) * step).toFixed(1)} L${to},${((column + 0.5) * step).toFixed(1)}`,
        "stroke-width": (weight * WIDEST).toFixed(2),
        "data-weight": weight.toFixed(6),
      }),
    );
  }

  /** Marks the chosen row in every head, and gives its weights in numbers. */
  choose(row, off) {
    Object.assign(this, { row, off });
    this.drawChosen();
    this.drawNumbers();
  }

  drawChosen() {
    const { row, off } = this;
    this.panels.forEach(({ node, box, svg, looks, seen }, head) => {
      const weights = this.maps[head][row];
      box.checked = !isOff(off, this.names[head]);
      node.classList.toggle("g2h-off", !box.checked);
      looks.forEach((one, place) => {
        one.classList.toggle("g2h-shown", place === row);
        one.setAttribute("aria-pressed", place === row);
        one.tabIndex = place === row ? 0 : -1;
      });
      seen.forEach((one, place) => {
        one.dataset.weight = weights[place].toFixed(6);
        one.style.setProperty("--g2h-weight", weights[place].toFixed(4));
        one.classList.toggle("g2h-full", weights[place] >= FLIP);
      });
      const own = lines(this.maps[head]).filter((line) => line.row === row);
      svg.lastChild?.replaceChildren(...(this.ends ? this.paths(own) : []));
    });
  }

  drawNumbers() {
    const { row, off, sides } = this;
    const { head, rest } = numbersOf(this.maps, row, NAMED);
    const cells = (weights) =>
      weights.map((weight) => {
        const cell = element("td", { "data-weight": weight.toFixed(6) }, weight.toFixed(2));
        cell.style.setProperty("--g2h-share", `${(100 * weight).toFixed(1)}%`);
        return cell;
      });
    const line = (name, weights, place = "") =>
      element(
        "tr",
        { "data-place": place },
        element(
          "th",
          { scope: "row" },
          element("bdi", {}, name),
          place === "" ? "" : element("small", {}, ` ${place + 1}`),
        ),
        ...cells(weights),
      );
    const rows = head.map(({ place, weights }) => line(sides.columns[place], weights, place));
    if (rest) rows.push(line(`${rest.count} others`, rest.weights));
    this.body.replaceChildren(...rows);
    this.caption.replaceChildren(
      "Attention weights of the query ",
      element("bdi", {}, `“${sides.rows[row]}”`),
      ", token ",
      String(row + 1),
    );
    [...this.head.children].slice(1).forEach((cell, at) => {
      const gone = isOff(off, this.names[at]);
      cell.textContent = gone ? `head ${at + 1} (off)` : `head ${at + 1}`;
    });
  }

  dispose() {
    this.resizes.disconnect();
  }
}
