// Attention on a line, by hand: scores, weights, context. Pure functions, tested beside the
// library.

import { maskedSoftmax } from "../../browser/engine/layers/masks.js";

/** e_i = −(q − k_i)² / 2σ², the score of `GaussianScore`. */
export function gaussianScores(query, keys, width) {
  return keys.map((key) => -((query - key) ** 2) / (2 * width ** 2));
}

/** {scores, exps, weights, context}: exps are e^(score − largest), 0 where the mask excludes a slot. */
export function pool(query, keys, values, width, allowed) {
  const scores = gaussianScores(query, keys, width);
  const weights = [...maskedSoftmax(Float32Array.from(scores), keys.length, (_, i) => allowed[i])];
  const highest = Math.max(...scores.filter((_, i) => allowed[i]));
  const exps = scores.map((score, i) => (allowed[i] ? Math.exp(score - highest) : 0));
  const context = weights.reduce((sum, weight, i) => sum + weight * values[i], 0);
  return { scores, exps, weights, context };
}

/** The context for many queries, as points [[query, context]…]. */
export function contextCurve(keys, values, width, allowed, [low, high], count = 161) {
  return Array.from({ length: count }, (_, n) => {
    const query = low + ((high - low) * n) / (count - 1);
    return [query, pool(query, keys, values, width, allowed).context];
  });
}

/** The state in words, for those who do not see the picture. */
export function poolingInWords({ weights, context }, allowed) {
  if (!allowed.some(Boolean))
    return "Every slot is masked: all weights are 0, and so is the context.";
  const order = weights.map((_, i) => i).sort((a, b) => weights[b] - weights[a]);
  const named = order.filter((i, rank) => rank < 3 && (rank === 0 || weights[i] >= 0.05));
  const parts = named.map((i) => `slot ${i + 1} has weight ${weights[i].toFixed(2)}`);
  return `${parts.join(", ")}; the context is ${digits(context, 2)}.`.replace(/^s/, "S");
}

/** A number with some decimals, a minus sign where it has one, and no minus before a zero. */
export function digits(number, decimals) {
  const text = number.toFixed(decimals);
  return Number(text) === 0 ? (0).toFixed(decimals) : text.replace("-", "−");
}
