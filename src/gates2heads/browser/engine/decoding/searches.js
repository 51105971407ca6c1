// One source, two searches: what greedy search writes, and what a beam completes, with its tree.

import { beamSteps } from "./beam.js";
import { checkRule } from "./lengths.js";
import { greedySteps } from "./search.js";
import { finish } from "./steps.js";
import { Tree } from "./trace.js";

/**
 * Search greedily and with a beam, and keep the beam's tree.
 *
 * Complete sequences keep their places, so that a beam of k completes k sequences, if so many have
 * a probability above zero, and the tree ends with the last of them.
 *
 * @param {Function} step (state, last) -> {logProbs, state}
 * @param {object} options bos, eos (or null), maxLength, width, lengthRule, prefix; pruned: how
 *   many pruned candidates of each step the tree keeps, the likeliest
 * @returns {{nodes, ranking, greedy, scored, steps}} ranking: what the beam completed, the best
 *   score first; it and greedy are {tokens, parts, log_prob, score, finished}, parts the
 *   log-probability of each token after those before it; scored: how many sequences the beam
 *   computed a score for
 */
export function compare(step, state, options) {
  return finish(compareSteps(step, state, options));
}

/** The same, yielding after every step {steps, scored}. */
export function* compareSteps(step, state, options) {
  const { width = 5, pruned = 4, maxLength } = options;
  const rule = checkRule(options.lengthRule, maxLength);
  const single = new Tree(1);
  const tree = new Tree(width + pruned, { pruned });
  let written;
  for (written of greedySteps(step, state, { ...options, tree: single })) {
    yield { steps: written.tokens.length, scored: 0 };
  }
  let scored = 0;
  const counted = (known, last) => {
    const answer = step(known, last);
    scored += answer.logProbs.length;
    return answer;
  };
  const wide = { ...options, width, nBest: width, refill: false, lengthRule: rule, tree };
  for (const _ of beamSteps(counted, state, wide)) yield { steps: longest(tree), scored };
  const ranking = tree.complete().map((end) => foundAt(tree, end, rule));
  const greedy = whole(onlyPath(single, rule), written);
  return { nodes: tree.nodes, ranking, greedy, scored, steps: longest(tree) };
}

// The tree leaves out what has no probability, and what comes after it has none either.
function whole(found, { tokens, finished }) {
  const missing = tokens.length - found.tokens.length;
  if (!missing) return found;
  const parts = [...found.parts, ...Array(missing).fill(-Infinity)];
  return { tokens: [...tokens], parts, log_prob: -Infinity, score: -Infinity, finished };
}

/** The one sequence of a search that follows one. */
export function onlyPath(tree, rule) {
  return foundAt(
    tree,
    tree.nodes.findLastIndex(({ fate }) => fate !== "pruned"),
    rule,
  );
}

const longest = (tree) => tree.nodes.at(-1).length;

// The sequence that ends in a node, and what each of its tokens cost.
function foundAt(tree, end, rule) {
  const way = [];
  for (let at = end; tree.nodes[at].parent !== null; at = tree.nodes[at].parent)
    way.unshift(tree.nodes[at]);
  const log_prob = way.length ? way.at(-1).log_prob : 0;
  return {
    tokens: way.map(({ token }) => token),
    parts: way.map((node, place) => node.log_prob - (place ? way[place - 1].log_prob : 0)),
    log_prob,
    score: way.length ? rule.score(log_prob, way.length) : 0,
    finished: way.at(-1)?.fate === "ended",
  };
}
