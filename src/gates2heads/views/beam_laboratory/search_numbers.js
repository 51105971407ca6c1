// The numbers of a search as tables and rows of the page.

import { chance, decomposed, EMPTY, signOf, textOf, written } from "./search_tree.js";
import { columnHead, element } from "../kit/view.js";

/** The two tables of probabilities, side by side. */
export function twoTablesNode({ names, tables, source }) {
  const heads = ["step", ...tables[0][0].map((_, step) => step + 1)];
  const one = (rows, caption) =>
    element(
      "table",
      {},
      element("caption", {}, caption),
      element(
        "thead",
        {},
        element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text))),
      ),
      element(
        "tbody",
        {},
        ...rows.map((row, place) =>
          element(
            "tr",
            {},
            element("th", { scope: "row" }, names[place]),
            ...row.map((number) => element("td", {}, number.toFixed(1))),
          ),
        ),
      ),
    );
  const pair = element(
    "div",
    { class: "g2h-two" },
    one(tables[0], "unless C was chosen at step 2"),
    one(tables[1], "after C at step 2"),
  );
  return element(
    "div",
    { class: "g2h-numbers", role: "group", "aria-label": "two tables" },
    pair,
    element("p", { class: "g2h-legend" }, source),
  );
}

export function rankingHead() {
  const power = element("span", {}, "L", element("sup", {}, "α"));
  const names = ["", "finished hypotheses, by score", "score", "log P", "L", power, "P"];
  return element("thead", {}, element("tr", {}, ...names.map(columnHead)));
}

/** One row of the table; a click on its text shows its parts. */
export function rankingRow({ rank, name, found, isBest, isGreedy, isBeside }, place, alpha) {
  const { length, power } = decomposed(found, alpha);
  const marks = `${isBest ? " ★" : ""}${isGreedy ? " G" : ""}`;
  const text = element(
    "button",
    { type: "button", class: "g2h-text" },
    textOf(found.pieces) || EMPTY,
    found.finished ? "" : " …",
  );
  const numbers = [
    written(found.score, 3),
    written(found.log_prob),
    length,
    power.toFixed(2),
    chance(found.log_prob),
  ];
  return element(
    "tr",
    { "data-row": place, class: isBeside ? "g2h-beside" : null, "data-name": name },
    element("th", { scope: "row" }, rank ?? name, marks),
    element("td", {}, text),
    ...numbers.map((number) => element("td", {}, number)),
  );
}

/** How the score of one sequence comes about, token by token. */
export function partsNodes(found, alpha) {
  const { length, power, score } = decomposed(found, alpha);
  const tokens = found.pieces.map((piece, place) =>
    element(
      "span",
      { class: "g2h-part" },
      element("bdi", {}, signOf(piece, !place)),
      element("small", {}, written(found.parts[place])),
    ),
  );
  const sum = element("p", {}, `log P = sum of these = ${written(found.log_prob)}`);
  // A prefix that is not finished has no score: length normalisation ranks finished hypotheses.
  if (["kept", "pruned"].includes(found.fate)) {
    sum.append("; an unfinished prefix is ranked by log P alone");
  } else {
    sum.append(
      `; L = ${length}; L`,
      element("sup", {}, "α"),
      ` = ${length}`,
      element("sup", {}, String(Number(alpha.toFixed(2)))),
      ` = ${power.toFixed(2)}; score = ${written(found.log_prob)} / ${power.toFixed(2)} = `,
      element("b", {}, written(score, 3)),
    );
  }
  return [element("div", { class: "g2h-row" }, ...tokens), sum];
}
