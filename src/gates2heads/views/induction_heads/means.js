// How surprising first occurrences and repeats were, in a table.

import { element } from "../kit/view.js";
import { inBits, measured } from "./repeats.js";

const REPEATS =
  "A repeat is a word whose previous word occurred earlier and was followed by this same word.";

/**
 * What the table holds: a row of the complete model, and one of the model without some heads, if
 * these are two. Each has a name; the vocabulary has so many words.
 */
export function meansTable({ base, now, complete, changed, words }) {
  const cell = (tag, ...content) => element(tag, tag === "th" ? { scope: "col" } : {}, ...content);
  const [first, again] = ["first", "repeat"].map((kind) => measured(now, kind));
  const row = (one, told) => {
    const [its, repeats] = ["first", "repeat"].map((kind) => measured(one, kind));
    return element(
      "tr",
      { "data-first": its.bits, "data-repeat": repeats.bits, "data-right": repeats.right },
      element("th", { scope: "row" }, told),
      cell("td", inBits(its.bits)),
      cell("td", inBits(repeats.bits)),
      cell("td", `${repeats.right} of ${repeats.count}`),
    );
  };
  const rows = [row(base, complete)];
  if (now !== base) rows.push(row(now, changed));
  const uniform = Math.log2(words).toFixed(2);
  return [
    element(
      "caption",
      {},
      `Mean surprisal per word. A uniform distribution over the ${words} words has ${uniform} bits. ${REPEATS}`,
    ),
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        element("td"),
        cell("th", `first occurrences (${first.count})`),
        cell("th", `repeats (${again.count})`),
        cell("th", "repeats predicted"),
      ),
    ),
    element("tbody", {}, ...rows),
  ];
}
