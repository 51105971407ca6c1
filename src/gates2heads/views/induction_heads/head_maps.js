// All heads of a model as small maps, layer by layer, each with a switch.

import { isOff, mapOf, thumbnail, unmoved } from "../kit/heads.js";
import { drawn, element } from "../kit/view.js";
import { headName } from "./repeats.js";

export class HeadMaps {
  /** stage: the view; callbacks: {choose(layer, head), toggle(layer, head), layer(layer, isOn)}. */
  constructor(stage, hears) {
    this.hears = hears;
    this.node = element("div", { class: "g2h-layers" });
    stage.listen(this.node, "click", (event) => this.press(event.target.closest("button")));
    stage.listen(this.node, "change", ({ target }) => {
      const { layer, head } = target.dataset;
      hears.toggle(Number(layer), Number(head));
    });
  }

  press(button) {
    if (!button) return;
    const { layer, head } = button.dataset;
    if (head === undefined) this.hears.layer(Number(layer), button.dataset.turns === "on");
    else this.hears.choose(Number(layer), Number(head));
  }

  /** Builds rows for a model of so many layers and heads; keeps those that it has. */
  build([layers, heads]) {
    if (this.size?.[0] === layers && this.size[1] === heads) return;
    this.size = [layers, heads];
    this.rows = unmoved(layers).map((layer) => this.row(layer, heads));
    this.node.replaceChildren(...this.rows.map(({ node }) => node));
  }

  row(layer, heads) {
    const whole = element("button", { type: "button", "data-layer": layer });
    const cells = unmoved(heads).map((head) => this.cell(layer, head));
    const node = element(
      "div",
      { class: "g2h-layer", role: "group", "aria-label": `layer ${layer + 1}` },
      element("p", { class: "g2h-depth" }, element("b", {}, `layer ${layer + 1}`), whole),
      element("div", { class: "g2h-maps" }, ...cells.map((cell) => cell.node)),
    );
    return { node, whole, cells };
  }

  cell(layer, head) {
    const name = headName(layer, head);
    const data = { "data-layer": layer, "data-head": head };
    const map = element("button", {
      type: "button",
      class: "g2h-map",
      ...data,
      "aria-label": `select head ${name}`,
    });
    const box = element("input", { type: "checkbox", ...data, "aria-label": `head ${name} on` });
    const label = element(
      "label",
      { class: "g2h-switch" },
      box,
      element("span", {}, `head ${name}`),
    );
    return { node: element("div", { class: "g2h-cell" }, map, label), map, box };
  }

  /** Draws the weights {shape: [layers, heads, T, T], data}. */
  show(weights) {
    this.each((layer, head, { map }) => map.replaceChildren(picture(mapOf(weights, layer, head))));
  }

  /** Marks the selected head and those that are off. */
  mark(chosen, off) {
    this.each((layer, head, { node, map, box }) => {
      const isGone = isOff(off, [`layers.${layer}`, head]);
      map.setAttribute("aria-pressed", layer === chosen.layer && head === chosen.head);
      box.checked = !isGone;
      node.classList.toggle("g2h-off", isGone);
    });
    this.rows.forEach(({ whole, cells }, layer) => {
      const turns = cells.some(({ box }) => box.checked) ? "off" : "on";
      whole.dataset.turns = turns;
      whole.textContent = `Switch layer ${layer + 1} ${turns}`;
    });
  }

  each(handle) {
    this.rows.forEach(({ cells }, layer) =>
      cells.forEach((cell, head) => handle(layer, head, cell)),
    );
  }
}

function picture(map) {
  const size = map.length;
  const shades = thumbnail(map).map(({ opacity, path }) => drawn("path", { d: path, opacity }));
  const cross = drawn("path", {
    class: "g2h-cross",
    d: `M0 0L${size} ${size}M0 ${size}L${size} 0`,
  });
  return drawn("svg", { viewBox: `0 0 ${size} ${size}`, "aria-hidden": "true" }, ...shades, cross);
}
