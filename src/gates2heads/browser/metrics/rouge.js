// ROUGE: how much of the reference comes back. The twin of metrics/rouge.py.

import { clippedMatches, countNgrams, totalOf } from "./ngrams.js";
import { cut } from "./sentences.js";

function scoreOf(matches, own, other) {
  if (matches === 0) return { precision: 0, recall: 0, f: 0 };
  const [precision, recall] = [matches / own, matches / other];
  return { precision, recall, f: (2 * precision * recall) / (precision + recall) };
}

const bestOf = (scores) => scores.reduce((best, one) => (one.f > best.f ? one : best));

/** ROUGE-N, of several references the best, or pooled: {precision, recall, f}, 0 to 1. */
export function rougeN(
  hypothesis,
  references,
  order = 1,
  { tokenize = "rouge", pooling = "best" } = {},
) {
  const tokens = cut(hypothesis, tokenize);
  const own = Math.max(tokens.length - order + 1, 0);
  const ceilings = references.map((reference) => countNgrams(cut(reference, tokenize), order));
  const matches = ceilings.map((ceiling) => clippedMatches(tokens, order, ceiling));
  const totals = ceilings.map(totalOf);
  if (pooling === "best")
    return bestOf(matches.map((match, place) => scoreOf(match, own, totals[place])));
  const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
  return scoreOf(sum(matches), ceilings.length * own, sum(totals));
}

/**
 * table[i][j]: the length of the longest common subsequence of the first i and the first j tokens.
 */
function lcsTable(reference, hypothesis) {
  const table = [new Array(hypothesis.length + 1).fill(0)];
  for (const token of reference) {
    const [above, row] = [table.at(-1), [0]];
    hypothesis.forEach((other, j) => {
      row.push(token === other ? above[j] + 1 : Math.max(above[j + 1], row[j]));
    });
    table.push(row);
  }
  return table;
}

/** ROUGE-L by the longest common subsequence, of several references the best. */
export function rougeL(hypothesis, references, { tokenize = "rouge" } = {}) {
  const tokens = cut(hypothesis, tokenize);
  return bestOf(
    references.map((reference) => {
      const others = cut(reference, tokenize);
      return scoreOf(lcsTable(others, tokens).at(-1).at(-1), tokens.length, others.length);
    }),
  );
}

/**
 * The places in both of one longest common subsequence: [[in the reference, in the hypothesis]…].
 */
export function commonSubsequence(reference, hypothesis) {
  const table = lcsTable(reference, hypothesis);
  let [row, column] = [reference.length, hypothesis.length];
  const places = [];
  while (row > 0 && column > 0) {
    if (reference[row - 1] === hypothesis[column - 1]) {
      [row, column] = [row - 1, column - 1];
      places.push([row, column]);
    } else if (table[row][column - 1] > table[row - 1][column]) column -= 1;
    else row -= 1;
  }
  return places.reverse();
}
