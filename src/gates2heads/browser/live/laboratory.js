// What the beam laboratory asks, of whatever step function: a free search, one that is forced to
// begin with a prefix, and a sample; each token with the piece that it stands for.

import { compareSteps, onlyPath } from "../engine/decoding/searches.js";
import { Power } from "../engine/decoding/lengths.js";
import { sampleSteps } from "../engine/decoding/sampling.js";
import { Tree } from "../engine/decoding/trace.js";

/**
 * Search.
 *
 * @param {string[]} words the piece of each token
 * @param {object} asked width, alpha, pruned, prefix, and sampling: null or {temperature, topK,
 *   topP, seed}, where topK 0 keeps all
 * @returns {{free, forced, sample}} forced is null without a prefix; yields {steps, scored}
 */
export function* laboratorySteps(step, state, words, { bos, eos, maxLength }, asked) {
  const { width, alpha, pruned = 4, prefix = [], sampling = null } = asked;
  const lengthRule = new Power(alpha);
  const options = { bos, eos, maxLength, width, pruned, lengthRule };
  const free = yield* compareSteps(step, state, options);
  const forced = prefix.length ? yield* compareSteps(step, state, { ...options, prefix }) : null;
  const tree = new Tree(1);
  if (sampling) {
    const narrow = { ...sampling, topK: sampling.topK || null };
    for (const { tokens } of sampleSteps(step, state, {
      bos,
      eos,
      maxLength,
      prefix,
      tree,
      ...narrow,
    })) {
      yield { steps: tokens.length, scored: free.scored };
    }
  }
  return {
    free: named(free, words),
    forced: forced && named(forced, words),
    sample: sampling && withPieces(onlyPath(tree, lengthRule), words),
  };
}

function named(compared, words) {
  return {
    ...compared,
    nodes: compared.nodes.map((node) => ({
      ...node,
      piece: node.parent === null ? "" : words[node.token],
    })),
    ranking: compared.ranking.map((found) => withPieces(found, words)),
    greedy: withPieces(compared.greedy, words),
  };
}

const withPieces = (found, words) => ({
  ...found,
  pieces: found.tokens.map((token) => words[token]),
});

/**
 * A step function that remembers what it was asked: what goes on from a sequence is computed once,
 * whichever search comes by again.
 *
 * @returns {{step: Function, state: object, size: () => number}} size: how many answers it holds
 */
export function remembering(step, first) {
  let size = 0;
  const remembered = ({ inner, known }, last) => {
    if (!known.has(last)) {
      const { logProbs, state } = step(inner, last);
      known.set(last, { logProbs, state: { inner: state, known: new Map() } });
      size += 1;
    }
    return known.get(last);
  };
  return { step: remembered, state: { inner: first, known: new Map() }, size: () => size };
}
