// One character in numbers: what the unit did there, and what the network expects next.

import { likeliest, NAMES, probability, quantitiesOf, seen, seriesOf, told } from "../kit/gates.js";
import { columnHead, element } from "../kit/view.js";

export class GatePanel {
  constructor() {
    this.numbers = element("table", { class: "g2h-numbers" });
    this.next = element("table", { class: "g2h-numbers g2h-next" });
    this.node = element("div", { class: "g2h-panel" }, this.numbers, this.next);
  }

  /**
   * Shows one character of a run beside the run without a clamp; null where that is the same.
   */
  show({ free, now, unit, place }) {
    const heads = free ? ["free", "clamped"] : [""];
    const at = ["after ", element("code", {}, seen(now.tokens[place])), `, character ${place + 1}`];
    fill(
      this.numbers,
      ["Unit ", element("b", {}, String(unit)), " ", ...at],
      ["", ...heads],
      quantitiesOf(now).map((name) => ({
        name: NAMES[name],
        cells: (free ? [free, now] : [now]).map((run) => {
          const value = seriesOf(run, name, unit)[place];
          return element("td", { "data-value": value.toFixed(5) }, told(value));
        }),
      })),
    );
    fill(
      this.next,
      ["Most probable next characters"],
      ["", ...(free ? ["free", "clamped"] : ["probability"])],
      expected(free, now, place + 1).map(({ id, token }) => ({
        name: element("code", { "data-id": id }, seen(token)),
        cells: (free ? [free, now] : [now]).map((run) => bar(probability(run, place + 1, id))),
      })),
    );
  }
}

/** The most probable next characters, and the one that the clamp removed from the first place. */
function expected(free, now, place) {
  const found = likeliest(now, place);
  const lost = (free ? likeliest(free, place).slice(0, 1) : []).filter(
    ({ id }) => !found.some((one) => one.id === id),
  );
  return [...found, ...lost];
}

function bar(share) {
  const cell = element("td", { "data-value": share.toFixed(5) }, told(share));
  cell.style.setProperty("--g2h-share", `${(100 * share).toFixed(1)}%`);
  return cell;
}

function fill(table, caption, heads, rows) {
  const head = element("tr", {}, ...heads.map(columnHead));
  const body = rows.map(({ name, cells }) =>
    element("tr", {}, element("th", { scope: "row" }, name), ...cells),
  );
  table.replaceChildren(
    element("caption", {}, ...caption),
    element("thead", {}, head),
    element("tbody", {}, ...body),
  );
}
