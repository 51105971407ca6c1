// All heads of a model as small pictures: three blocks side by side, one row per layer.

import { BLOCKS, isOff, mapOf, thumbnail, unmoved } from "../kit/heads.js";
import { drawn, element } from "../kit/view.js";

export class ModelMap {
  /** stage: the view; choose: receives the block and the layer that are clicked. */
  constructor(stage, choose) {
    this.node = element("div", {
      class: "g2h-model",
      role: "group",
      "aria-label": "blocks and layers",
    });
    stage.listen(this.node, "click", (event) => {
      const cell = event.target.closest("button");
      if (cell) choose(Number(cell.dataset.block), Number(cell.dataset.depth));
    });
  }

  /** Draws the weights of {blocks}. */
  show({ blocks }) {
    const depths = unmoved(Math.max(...blocks.map(({ shape }) => shape[0])));
    const heads = BLOCKS.map(({ name }) => element("span", { class: "g2h-column" }, name));
    this.cells = [];
    const rows = depths.flatMap((depth) => [
      element("span", { class: "g2h-depth" }, `layer ${depth + 1}`),
      ...blocks.map((block, at) => (depth < block.shape[0] ? this.cell(block, at, depth) : "")),
    ]);
    this.node.replaceChildren(element("span"), ...heads, ...rows);
  }

  cell(block, at, depth) {
    const pictures = unmoved(block.shape[1]).map((head) => picture(mapOf(block, depth, head)));
    const node = element(
      "button",
      { type: "button", "data-block": at, "data-depth": depth },
      ...pictures,
    );
    this.cells.push({ node, at, depth, pictures });
    return node;
  }

  /** Marks the chosen layer and the heads that are off. */
  mark(block, chosen, off) {
    for (const { node, at, depth, pictures } of this.cells ?? []) {
      const isChosen = at === block && depth === chosen;
      node.setAttribute("aria-pressed", isChosen);
      const gone = pictures.map((_, head) => isOff(off, [BLOCKS[at].layer(depth), head]));
      pictures.forEach((one, head) => one.classList.toggle("g2h-off", gone[head]));
      const count = gone.filter(Boolean).length;
      const told = count ? `, ${count} of ${gone.length} heads off` : "";
      node.setAttribute("aria-label", `${BLOCKS[at].name}, layer ${depth + 1}${told}`);
    }
  }
}

function picture(map) {
  const shades = thumbnail(map).map(({ opacity, path }) => drawn("path", { d: path, opacity }));
  const cross = drawn("path", {
    class: "g2h-cross",
    d: `M0 0L${map[0].length} ${map.length}M0 ${map.length}L${map[0].length} 0`,
  });
  const view = {
    viewBox: `0 0 ${map[0].length} ${map.length}`,
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  };
  return drawn("svg", view, ...shades, cross);
}
