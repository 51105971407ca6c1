// From scores to weights at one step: the source characters with the largest weights, in numbers.

import { headAndRest, rowOf, sign, softmaxRows } from "./readings.js";
import { element } from "../kit/view.js";

const TOP = 6; // how many characters the numbers name

export class WeightTable {
  constructor() {
    const heads = ["source character", "score e", "exp(e − largest)", "weight α"];
    this.rows = element("tbody");
    this.node = element(
      "table",
      { class: "g2h-numbers" },
      element("caption", {}, "From scores to weights at this step"),
      element(
        "thead",
        {},
        element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text))),
      ),
      this.rows,
    );
  }

  draw(result, step) {
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
    this.rows.replaceChildren(...rows);
  }
}
