// The searches of the laboratory on the two tables of the chapter, which need no model.

import { compare } from "../../browser/engine/decoding/searches.js";
import { Power } from "../../browser/engine/decoding/lengths.js";
import { finish } from "../../browser/engine/decoding/steps.js";
import { TABLES_START, twoTables } from "../../browser/engine/decoding/two_tables.js";
import { laboratorySteps } from "../../browser/live/laboratory.js";

/** The same searches as on a model, and the best of all sequences, which are few enough here. */
export function searchTables({ names, tables, bos, eos, limit }, asked) {
  const words = names.map((name) => (name === "<eos>" ? name : ` ${name}`));
  const step = twoTables(tables);
  const { width, alpha, prefix, sampling } = asked;
  const found = finish(
    laboratorySteps(
      step,
      TABLES_START,
      words,
      { bos, eos, maxLength: limit },
      { width, alpha, prefix, sampling },
    ),
  );
  const options = {
    bos,
    eos,
    maxLength: limit,
    width: names.length ** limit,
    pruned: 0,
    lengthRule: new Power(alpha),
  };
  const [best] = compare(step, TABLES_START, options).ranking;
  const everything = { ...best, pieces: best.tokens.map((token) => words[token]) };
  return { ...found, everything, size: names.length };
}
