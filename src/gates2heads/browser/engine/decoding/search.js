// Searches that follow one sequence, and greedy search, the first of them.

import { top } from "./top.js";
import { Power } from "./lengths.js";
import { ask, checkKnown, checkPrefix, checkSearch, finish } from "./steps.js";
import { fateOf } from "./trace.js";

/**
 * Write the likeliest token at every step.
 *
 * @param {Function} step (state, last) -> {logProbs, state}
 * @param {*} state what the step function needs at first
 * @param {object} options bos, eos (or null), maxLength, prefix (tokens to begin with, whatever
 *   else is likelier), tree
 * @returns {{tokens: number[], logProb: number, finished: boolean, state: *}} without <bos>
 */
export function greedy(step, state, options) {
  return finish(greedySteps(step, state, options));
}

/** The same, yielding after every step what is written so far. */
export function greedySteps(step, state, options) {
  return followSteps((logProbs) => top(logProbs, 1)[0], step, state, options);
}

/**
 * Write one sequence, token by token, without ever turning back; `choose` picks the next. It is
 * asked at forced steps too, or what is drawn after them would depend on who chose.
 */
export function* followSteps(choose, step, state, options) {
  const { bos, eos = null, maxLength, prefix = [], tree = null } = options;
  checkSearch(step, { bos, eos, maxLength });
  checkPrefix(prefix, { eos, maxLength });
  const rule = new Power(0);
  const written = { tokens: [], logProb: 0, finished: false, state };
  if (tree) tree.begin(bos);
  let last = bos;
  for (let length = 1; length <= maxLength && !written.finished; length += 1) {
    const answer = ask(step, written.state, last, eos);
    last = choose(answer.logProbs);
    if (length <= prefix.length) {
      last = prefix[length - 1];
      checkKnown(last, answer.logProbs);
    }
    if (tree) {
      const sums = Float64Array.from(answer.logProbs, (number) => written.logProb + number);
      tree.grow(
        [sums],
        [{ slot: 0, token: last, fate: fateOf(last, eos, length === maxLength) }],
        rule,
      );
    }
    written.state = answer.state;
    written.logProb += answer.logProbs[last];
    written.tokens.push(last);
    written.finished = last === eos;
    yield written;
  }
  return written;
}
