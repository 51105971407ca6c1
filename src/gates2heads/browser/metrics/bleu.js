// BLEU of one sentence, with all that it is made of. The twin of metrics/bleu.py.

import { clippedMatches, countNgrams, mostInAny } from "./ngrams.js";
import { cut } from "./sentences.js";
import { modifiedPrecisions } from "./smoothing.js";

/** 1 for a hypothesis longer than its reference, else exp(1 − l_s / l_x). */
export function brevityPenalty(hypothesisLength, referenceLength) {
  if (hypothesisLength > referenceLength) return 1;
  if (hypothesisLength === 0) return Number(referenceLength === 0);
  return Math.exp(1 - referenceLength / hypothesisLength);
}

/** The reference length nearest to the hypothesis; of two equally near, the shorter. */
export function closestLength(hypothesisLength, referenceLengths) {
  const away = (length) => Math.abs(length - hypothesisLength);
  return referenceLengths.reduce((best, length) =>
    away(length) < away(best) || (away(length) === away(best) && length < best) ? length : best,
  );
}

/** Turns counts into the score. Returns {score, precisions, penalty}, precisions of all orders. */
export function bleuOfCounts(matches, totals, hypothesisLength, referenceLength, options = {}) {
  const { smooth = "exp", smoothValue, effectiveOrder = false } = options;
  const found = modifiedPrecisions(matches, totals, smooth, smoothValue);
  const precisions = matches.map((_, place) => found[place] ?? 0);
  const used = effectiveOrder ? found : precisions;
  const penalty = brevityPenalty(hypothesisLength, referenceLength);
  const zero = !used.length || used.some((precision) => precision === 0);
  const weight = 1 / matches.length;
  const logs = used.reduce((sum, precision) => sum + weight * Math.log(precision), 0);
  const score = zero ? 0 : penalty * Math.exp(logs / (weight * used.length));
  return { score, precisions, penalty };
}

/**
 * BLEU of one hypothesis beside its references.
 *
 * options: {tokenize, lowercase, smooth, smoothValue, maxOrder, effectiveOrder}, as in the library.
 * Returns {score, precisions, penalty, matches, totals, hypothesisLength, referenceLength}.
 */
export function sentenceBleu(hypothesis, references, options = {}) {
  const { tokenize = "13a", lowercase = false, maxOrder = 4 } = options;
  const tokens = cut(hypothesis, tokenize, { lowercase });
  const others = references.map((reference) => cut(reference, tokenize, { lowercase }));
  const [matches, totals] = [[], []];
  for (let order = 1; order <= maxOrder; order += 1) {
    const ceiling = mostInAny(others.map((reference) => countNgrams(reference, order)));
    matches.push(clippedMatches(tokens, order, ceiling));
    totals.push(Math.max(tokens.length - order + 1, 0));
  }
  const referenceLength = closestLength(
    tokens.length,
    others.map((one) => one.length),
  );
  const told = bleuOfCounts(matches, totals, tokens.length, referenceLength, {
    effectiveOrder: true,
    ...options,
  });
  return { ...told, matches, totals, hypothesisLength: tokens.length, referenceLength };
}
