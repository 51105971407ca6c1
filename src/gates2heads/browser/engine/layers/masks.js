// Masks: true means "may attend" or "is a real token".

import { softmaxInPlace } from "../tensor.js";

/**
 * Softmax along the rows, among the positions that the mask allows, in their own place.
 *
 * @param {Float32Array} scores rows of `size` numbers each
 * @param {number} size S
 * @param {?function(number, number): boolean} allowed (row, position) -> may attend
 * @returns {Float32Array} each row sums to 1; a row that may attend to nothing is all zeros
 */
export function maskedSoftmax(scores, size, allowed = null) {
  for (let start = 0, row = 0; start < scores.length; start += size, row += 1) {
    const one = scores.subarray(start, start + size);
    if (allowed) {
      for (let place = 0; place < size; place += 1)
        if (!allowed(row, place)) one[place] = -Infinity;
    }
    softmaxInPlace(one);
  }
  return scores;
}

/**
 * Each of T queries sees keys up to its own position; the last query has the position of the last
 * of S keys.
 */
export function causalMask(queries, keys = queries) {
  return (query, key) => key <= query + keys - queries;
}

/** A list of S truth values, for all queries alike; null allows all. */
export function keyMask(mask) {
  return mask ? (query, key) => Boolean(mask[key]) : null;
}

/** What both allow; null allows all. */
export function bothMasks(left, right) {
  if (!left || !right) return left || right;
  return (query, key) => left(query, key) && right(query, key);
}

/** Refuse a mask that has not one truth value for each of S tokens. */
export function checkMask(mask, size) {
  if (mask && mask.length !== size)
    throw new Error(`mask must have ${size} entries, one a token, got ${mask.length}`);
}
