// Beam search: the best few sequences are followed at once.

import { checkRule } from "./lengths.js";
import { ask, checkKnown, checkPrefix, checkSearch, finish } from "./steps.js";
import { top } from "./top.js";
import { fateOf } from "./trace.js";

/**
 * Follow the `width` = k likeliest sequences from step to step, and return the best complete.
 *
 * At each step all k·V ways to go on are scored, and the k likeliest are followed. A complete
 * sequence keeps its place among the k; with `refill` the next likeliest takes it. Early stopping
 * changes the time and nothing else.
 *
 * @param {Function} step (state, last) -> {logProbs, state}
 * @param {object} options bos, eos (or null), maxLength, width, nBest, lengthRule, refill,
 *   earlyStopping, prefix (tokens to begin with, whatever else is likelier), tree
 * @returns {{tokens, length, logProb, score, finished, state}[]} at most nBest, the best first
 */
export function beam(step, state, options) {
  return finish(beamSteps(step, state, options));
}

/** The same, yielding after every step the likeliest open or best complete sequence. */
export function* beamSteps(step, state, options) {
  const { bos, eos = null, maxLength, width = 5, nBest = 1, tree = null } = options;
  const { refill = false, earlyStopping = true, prefix = [] } = options;
  checkSearch(step, { bos, eos, maxLength });
  checkPrefix(prefix, { eos, maxLength });
  checkSizes(width, nBest);
  const rule = checkRule(options.lengthRule, maxLength);
  if (tree) tree.begin(bos);
  const pool = []; // complete sequences, best first
  let front = [{ tokens: [], logProb: 0, state }]; // open ones, likeliest first
  let room = width;
  for (let length = 1; length <= maxLength; length += 1) {
    const cut = length === maxLength;
    const answers = front.map((one) => ask(step, one.state, one.tokens.at(-1) ?? bos, eos));
    const count = refill ? 2 * width : width;
    const isForced = length <= prefix.length;
    const found = isForced
      ? only(prefix[length - 1], front, answers)
      : likeliest(front, answers, count);
    const { complete, goingOn } = sortOut(found, { room, eos, refill, cut });
    if (tree) tree.grow(sumsOf(front, answers), fates(found, complete, goingOn, eos), rule);
    const grown = ({ slot, token, logProb }) => ({
      tokens: [...front[slot].tokens, token],
      logProb,
      state: answers[slot].state,
    });
    for (const one of complete)
      collect(pool, { ...grown(one), finished: one.token === eos }, nBest, rule);
    const open = goingOn.map(grown);
    yield pool[0] ?? open[0] ?? { tokens: [], logProb: -Infinity };
    const worst = pool.length < nBest ? -Infinity : pool[nBest - 1].score;
    if (
      !open.length ||
      (earlyStopping && !(worst < rule.bound(open[0].logProb, length, maxLength)))
    )
      break;
    if (!refill) room -= complete.length;
    front = open;
  }
  return pool;
}

function checkSizes(width, nBest) {
  for (const [name, number] of [
    ["width", width],
    ["nBest", nBest],
  ]) {
    if (!Number.isInteger(number) || number < 1) {
      throw new Error(`${name} must be a whole number of at least 1, got ${number}`);
    }
  }
  if (nBest > width)
    throw new Error(`nBest must be at most width, got ${nBest} of a beam of ${width}`);
}

// The `count` likeliest of all ways to go on; they are among the likeliest of each open sequence.
function likeliest(front, answers, count) {
  const ways = front.flatMap(({ logProb }, slot) => {
    const { logProbs } = answers[slot];
    return top(logProbs, count).map((token) => ({
      slot,
      token,
      logProb: logProb + logProbs[token],
    }));
  });
  return top(
    ways.map((way) => way.logProb),
    count,
  ).map((place) => ways[place]);
}

// The forced way to go on, which keeps the log-probability that the model gives it.
function only(token, front, answers) {
  return front.map(({ logProb }, slot) => {
    checkKnown(token, answers[slot].logProbs);
    return { slot, token, logProb: logProb + answers[slot].logProbs[token] };
  });
}

// Which candidates are complete and which go on; the rest is pruned.
function sortOut(found, { room, eos, refill, cut }) {
  const possible = found.filter((way) => way.logProb > -Infinity);
  const followed = possible.slice(0, room);
  if (cut) return { complete: followed, goingOn: [] };
  const complete = followed.filter((way) => way.token === eos);
  const open = (refill ? possible : followed).filter((way) => way.token !== eos);
  return { complete, goingOn: open.slice(0, room) };
}

// Of two with the same score, the one that came first stays before.
function collect(pool, sequence, nBest, rule) {
  const length = sequence.tokens.length;
  const score = rule.score(sequence.logProb, length);
  const place = pool.findIndex((known) => score > known.score);
  pool.splice(place < 0 ? pool.length : place, 0, { ...sequence, length, score });
  pool.length = Math.min(pool.length, nBest);
}

function sumsOf(front, answers) {
  return front.map((one, slot) =>
    Float64Array.from(answers[slot].logProbs, (number) => one.logProb + number),
  );
}

// For the tree: what becomes of the candidates that are followed, in their order.
function fates(found, complete, goingOn, eos) {
  return found
    .filter((way) => complete.includes(way) || goingOn.includes(way))
    .map((way) => ({ ...way, fate: fateOf(way.token, eos, complete.includes(way)) }));
}
