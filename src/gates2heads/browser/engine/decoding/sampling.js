// Sampling: draw each token at random, from the model's distribution or a narrower one.

import { largest, logSoftmax } from "../tensor.js";
import { followSteps } from "./search.js";
import { finish } from "./steps.js";

/** Random numbers that a seed repeats: three 32-bit words and a counter, mixed as in sfc32. */
export class Generator {
  constructor(seed = 0) {
    if (!Number.isInteger(seed) || seed < 0)
      throw new Error(`seed must be a whole number from 0, got ${seed}`);
    this.words = [seed | 0, Math.floor(seed / 2 ** 32) | 0, 0, 1];
    for (let round = 0; round < 16; round += 1) this.word();
  }

  word() {
    const [a, b, c, counter] = this.words;
    const sum = (a + b + counter) | 0;
    this.words = [
      b ^ (b >>> 9),
      (c + (c << 3)) | 0,
      (((c << 21) | (c >>> 11)) + sum) | 0,
      (counter + 1) | 0,
    ];
    return sum >>> 0;
  }

  /** The next number in [0, 1), of 53 random bits. */
  next() {
    return ((this.word() >>> 5) * 2 ** 26 + (this.word() >>> 6)) / 2 ** 53;
  }
}

/** Sharpen (below 1) or flatten (above 1) a distribution: p^(1/temperature), normalised. */
export function temper(logProbs, temperature) {
  checkAllowed(logProbs);
  if (!(temperature > 0 && temperature < Infinity)) {
    throw new Error(`temperature must be positive and finite, got ${temperature}`);
  }
  const highest = largest(logProbs); // becomes 0 first, or dividing by a tiny number would overflow
  return logSoftmax(Float64Array.from(logProbs, (number) => (number - highest) / temperature));
}

/** Keep the k likeliest tokens: Fan et al. 2018, section 5.1. Of equals, the first stay. */
export function keepTopK(logProbs, k) {
  checkAllowed(logProbs);
  if (!Number.isInteger(k) || k < 1)
    throw new Error(`topK must be a whole number of at least 1, got ${k}`);
  return keepFirst(logProbs, k);
}

/** Keep the fewest likeliest tokens that hold at least the share p: Holtzman et al. 2020. */
export function keepTopP(logProbs, p) {
  checkAllowed(logProbs);
  if (!(p >= 0 && p <= 1)) throw new Error(`topP must lie from 0 to 1, got ${p}`);
  if (p === 1) return logSoftmax(Float64Array.from(logProbs)); // or rounding might drop the last
  const probs = logSoftmax(Float64Array.from(logProbs)).map(Math.exp);
  let kept = 0;
  let before = 0; // the mass of the likelier tokens
  for (const place of ranked(logProbs)) {
    if (kept && before >= p) break;
    before += probs[place];
    kept += 1;
  }
  return keepFirst(logProbs, kept);
}

/** Keep the tokens at least p times as probable as the most probable one: Nguyen et al. 2024. */
export function keepMinP(logProbs, p) {
  checkAllowed(logProbs);
  if (!(p >= 0 && p <= 1)) throw new Error(`minP must lie from 0 to 1, got ${p}`);
  const probs = logSoftmax(Float64Array.from(logProbs)).map(Math.exp);
  const least = p * largest(probs);
  return logSoftmax(
    Float64Array.from(logProbs, (number, token) => (probs[token] >= least ? number : -Infinity)),
  );
}

/** Temper a distribution, keep its top k, its top p, then by min-p: those that are given. */
export function narrow(logProbs, { temperature = 1, topK = null, topP = null, minP = null } = {}) {
  let narrowed = temper(logProbs, temperature);
  if (topK !== null) narrowed = keepTopK(narrowed, topK);
  if (topP !== null) narrowed = keepTopP(narrowed, topP);
  if (minP !== null) narrowed = keepMinP(narrowed, minP);
  return narrowed;
}

/** One token from a distribution, by a number in [0, 1). */
export function draw(logProbs, uniform) {
  const probs = Float64Array.from(logProbs, Math.exp);
  let rest = uniform * probs.reduce((total, prob) => total + prob, 0);
  let last = 0;
  for (let token = 0; token < probs.length; token += 1) {
    if (!probs[token]) continue;
    last = token;
    rest -= probs[token];
    if (rest < 0) return token;
  }
  return last;
}

/**
 * Draw one sequence, token by token; narrowed in the order temperature, top-k, top-p, min-p. The
 * logProb that is returned is the model's own. Options as for `greedy`, and temperature, topK,
 * topP, minP, seed.
 */
export function sample(step, state, options) {
  return finish(sampleSteps(step, state, options));
}

/** The same, yielding after every step what is written so far. */
export function sampleSteps(step, state, options) {
  const { temperature = 1, topK = null, topP = null, minP = null, seed = 0 } = options;
  const generator = options.generator ?? new Generator(seed);
  const choose = (logProbs) =>
    draw(narrow(logProbs, { temperature, topK, topP, minP }), generator.next());
  return followSteps(choose, step, state, options);
}

// The tokens by falling probability; of equals the first comes first.
function ranked(logProbs) {
  return Array.from(logProbs.keys()).sort(
    (left, right) => logProbs[right] - logProbs[left] || left - right,
  );
}

function keepFirst(logProbs, count) {
  const kept = new Set(ranked(logProbs).slice(0, count));
  return logSoftmax(
    Float64Array.from(logProbs, (number, token) => (kept.has(token) ? number : -Infinity)),
  );
}

function checkAllowed(logProbs) {
  if (!logProbs.length) throw new Error("logProbs must hold at least one token, got none");
  if (!Number.isFinite(largest(logProbs)))
    throw new Error("logProbs must allow at least one token and hold no NaN");
}
