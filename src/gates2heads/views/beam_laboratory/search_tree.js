// The picture of a search and its words: pure functions, tested in Node.

import { bytesOf, visible } from "../../browser/live/pieces.js";
import { raised } from "../kit/shares.js";

export const CELL = { width: 84, height: 38, across: 22, down: 6, head: 22 }; // pixels
/** What an output without a token is called, wherever it is named. */
export const EMPTY = "(empty output)";
const LETTER = /^[\p{L}\p{N}\p{M}]/u;
const FATES = {
  kept: "kept",
  ended: "finished",
  cut: "finished, cut at the maximum length",
  pruned: "pruned",
};

/** −2.05, with the sign that is as wide as a plus. */
export const written = (number, digits = 2) =>
  number
    .toFixed(digits)
    .replace("-", "−")
    .replace(/^−(0\.?0*)$/, "$1");

/** A probability as people write it: 0.054, or 3.2 · 10⁻⁷. */
export function chance(logProb) {
  const value = Math.exp(logProb);
  if (value >= 0.0005) return value.toFixed(3);
  const power = Math.floor(logProb / Math.LN10);
  return `${(10 ** (logProb / Math.LN10 - power)).toFixed(1)} · 10${raised(power)}`;
}

/** 440,000 */
export const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");

/** What a token looks like by itself; one that goes on a word begins with a dot. */
export function signOf(piece, isFirst) {
  if (piece === "<eos>") return "∎ end";
  if (piece === " ") return "␣";
  if (piece.startsWith(" ") && piece.length > 1) return visible(piece.slice(1));
  return !isFirst && LETTER.test(piece) ? `·${visible(piece)}` : visible(piece);
}

/** The text that pieces spell, the end left out. */
export function textOf(pieces) {
  const bytes = pieces.filter((piece) => piece !== "<eos>").flatMap(bytesOf);
  return new TextDecoder().decode(new Uint8Array(bytes)).trim();
}

/** The nodes from the first token to a node; the root is none. */
export function wayTo(nodes, place) {
  const way = [];
  for (let at = place; nodes[at].parent !== null; at = nodes[at].parent) way.unshift(at);
  return way;
}

/** The sequence that ends in a node, in the form of what a search found. */
export function sequenceAt(nodes, place) {
  const way = wayTo(nodes, place).map((at) => nodes[at]);
  return {
    tokens: way.map(({ token }) => token),
    pieces: way.map(({ piece }) => piece),
    parts: way.map((node, at) => node.log_prob - (at ? way[at - 1].log_prob : 0)),
    log_prob: nodes[place].log_prob,
    score: nodes[place].score,
    fate: nodes[place].fate,
  };
}

/** The nodes along a sequence of tokens, as far as the tree has them. */
export function along(nodes, tokens) {
  const way = [];
  let at = 0;
  for (const token of tokens) {
    at = nodes.findIndex((node) => node.parent === at && node.token === token);
    if (at < 0) break;
    way.push(at);
  }
  return way;
}

/**
 * The places of all nodes, one column a step: what was followed before what was not, likeliest
 * first.
 */
export function columnsOf(nodes, upTo) {
  const columns = Array.from({ length: upTo }, () => []);
  nodes.forEach(({ length }, place) => length && length <= upTo && columns[length - 1].push(place));
  const isPruned = (place) => Number(nodes[place].fate === "pruned");
  for (const column of columns) {
    column.sort(
      (a, b) => isPruned(a) - isPruned(b) || nodes[b].log_prob - nodes[a].log_prob || a - b,
    );
  }
  return columns;
}

/**
 * The layout of the tree.
 *
 * @param {object} compared nodes, ranking and greedy of a search
 * @param {{upTo: number, prefix: number[]}} options how many steps are shown, and what was forced
 * @returns {{cells, edges, cuts, width, height}} cells: {place, step, row, x, y, fate, isBest,
 *   isGreedy, isForced}; edges: {from, to, kind} between cells' places, kind best, kept or pruned,
 *   isGreedy; cuts: {step, x, y}, below which nothing was followed
 */
export function layOut({ nodes, ranking, greedy }, { upTo, prefix = [] }) {
  const best = new Set(ranking.length ? along(nodes, ranking[0].tokens) : []);
  const straight = new Set(along(nodes, greedy.tokens));
  const forced = new Set(along(nodes, prefix));
  const columns = columnsOf(nodes, upTo);
  const left = (step) => step * (CELL.width + CELL.across);
  const top = (row) => CELL.head + row * (CELL.height + CELL.down);
  const cells = columns.flatMap((column, step) =>
    column.map((place, row) => ({
      place,
      step,
      row,
      x: left(step),
      y: top(row),
      fate: nodes[place].fate,
      isBest: best.has(place),
      isGreedy: straight.has(place),
      isForced: forced.has(place),
    })),
  );
  const edges = cells
    .filter(({ step }) => step > 0)
    .map(({ place, fate, isBest, isGreedy }) => ({
      from: nodes[place].parent,
      to: place,
      kind: isBest ? "best" : fate === "pruned" ? "pruned" : "kept",
      isGreedy,
    }));
  const cuts = columns.flatMap((column, step) => {
    const followed = column.filter((place) => nodes[place].fate !== "pruned").length;
    return followed && followed < column.length
      ? [{ step, x: left(step), y: top(followed) - CELL.down / 2 }]
      : [];
  });
  const most = Math.max(1, ...columns.map((column) => column.length));
  return { cells, edges, cuts, width: left(upTo) - CELL.across, height: top(most) };
}

/**
 * Which cell the keyboard goes to: up and down in a column, back to the parent, on to the likeliest
 * child.
 */
export function neighbour({ cells }, nodes, place, key) {
  const at = cells.find((cell) => cell.place === place);
  if (!at) return null;
  const inColumn = (by) => cells.find((cell) => cell.step === at.step && cell.row === at.row + by);
  const found = {
    ArrowUp: () => inColumn(-1),
    ArrowDown: () => inColumn(1),
    ArrowLeft: () => cells.find((cell) => cell.place === nodes[place].parent),
    ArrowRight: () =>
      cells.find((cell) => nodes[cell.place].parent === place) ??
      cells.find((cell) => cell.step === at.step + 1),
    Home: () => cells[0],
    End: () => cells.findLast((cell) => cell.isBest),
  }[key]?.();
  return found ? found.place : null;
}

/** A cell for those who do not see it. */
export function cellInWords(node, { isBest, isGreedy, isForced }) {
  const parts = [
    `${signOf(node.piece, node.length === 1)}, step ${node.length}`,
    `log P ${written(node.log_prob)}`,
  ];
  parts.push(isForced ? "forced" : FATES[node.fate]);
  if (isBest) parts.push("on the path of the best hypothesis");
  if (isGreedy) parts.push("on the path of greedy search");
  return parts.join(", ");
}

/**
 * How a score comes about: {log_prob, length, power, score} of a sequence under the length rule.
 */
export function decomposed({ log_prob, parts }, alpha) {
  const power = parts.length ** alpha;
  return { log_prob, length: parts.length, power, score: log_prob / power };
}

/**
 * How many sequences end with `<eos>` within the steps, or reach the last of them without it:
 * (V − 1)^(t − 1) that end at step t, and (V − 1)^(T − 1) · V at the last step.
 */
export function completeSequences(size, steps) {
  const digits = steps * Math.log10(size);
  if (digits >= 7)
    return `about 10${raised(Math.round((steps - 1) * Math.log10(size - 1) + Math.log10(size)))}`;
  let count = (size - 1) ** (steps - 1) * size;
  for (let step = 1; step < steps; step += 1) count += (size - 1) ** (step - 1);
  return grouped(count);
}

/** What the candidates cost, in words. */
export function costInWords({ scored, steps }, { width, size }) {
  const most = width * size * steps;
  return (
    `Scored: ${grouped(scored)} candidates, at most k · V = ${grouped(width)} · ${grouped(size)} in each of ` +
    `${steps} steps (${grouped(most)} in all). Exhaustive search would score ` +
    `${completeSequences(size, steps)} complete sequences of at most ${steps} tokens.`
  );
}

const same = (a, b) => a.length === b.length && a.every((token, place) => token === b[place]);
const quoted = ({ pieces }) => (textOf(pieces) ? `“${textOf(pieces)}”` : EMPTY);

/** What came out, in words. */
export function outcome({ free, forced }, { width, prefix }) {
  const shown = forced ?? free;
  const best = shown.ranking[0];
  if (!best) return "No continuation of this prefix has a probability above zero.";
  const score = (found) => `score ${written(found.score, 3)}`;
  if (forced) {
    const begins = sequenceAt(forced.nodes, along(forced.nodes, prefix).at(-1) ?? 0);
    const told = `Forced to begin with ${quoted(begins)}, the best hypothesis is ${quoted(best)}, ${score(best)}.`;
    const other = free.ranking[0];
    if (!other) return told;
    if (same(best.tokens, other.tokens)) return `${told} The unconstrained search finds the same.`;
    const gap = best.score - other.score;
    return (
      `${told} The unconstrained search finds ${quoted(other)}, ${score(other)}. The forced score is ` +
      `${written(Math.abs(gap), 3)} ${gap > 0 ? "higher: the unconstrained beam had pruned it" : "lower"}.`
    );
  }
  const told = `Beam search with k = ${width} finds ${quoted(best)}, ${score(best)}.`;
  if (same(best.tokens, free.greedy.tokens)) return `${told} Greedy search outputs the same.`;
  const likelier = best.log_prob > free.greedy.log_prob;
  const why =
    best.score < free.greedy.score
      ? "that score is higher"
      : likelier
        ? "it is less probable than the result of beam search"
        : "it is more probable, but its score is lower once length is taken into account";
  const step = leaves(free);
  const where = step === null ? "" : ` The beam pruned this path at step ${step}.`;
  return `${told} Greedy search outputs ${quoted(free.greedy)}, ${score(free.greedy)}; ${why}.${where}`;
}

/** Where greedy search's way leaves the tree: the step at which the beam pruned it, or null. */
export function leaves({ nodes, greedy }) {
  const way = along(nodes, greedy.tokens);
  const last = way.at(-1);
  if (last !== undefined && nodes[last].fate === "pruned") return nodes[last].length;
  return way.length < greedy.tokens.length ? way.length + 1 : null;
}

/**
 * The rows of the table: the ranking, then the other searches.
 *
 * @returns {{rank, name, found, isBest, isGreedy, isBeside}[]}
 */
export function rowsOf({ free, forced, sample }, { seed, everything = null }) {
  const { ranking, greedy } = forced ?? free;
  const how = forced ? "forced, " : "";
  const rows = ranking.map((found, place) => ({
    rank: place + 1,
    name: `${how}beam`,
    found,
    isBest: !place,
    isGreedy: same(found.tokens, greedy.tokens),
    isBeside: false,
  }));
  const beside = (name, found, isGreedy = false) =>
    rows.push({ rank: null, name, found, isBest: false, isGreedy, isBeside: true });
  if (greedy.tokens.length) beside(`${how}greedy`, greedy, true);
  if (forced && free.ranking.length) beside("unconstrained beam", free.ranking[0]);
  if (sample?.tokens.length) beside(`sample, seed ${seed}`, sample);
  if (everything) beside("exhaustive", everything);
  return rows;
}
