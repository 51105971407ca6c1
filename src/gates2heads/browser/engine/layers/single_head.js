// Attention: average the values, each weighted by how well its key matches the query.

import { Matrix } from "../tensor.js";
import { note } from "../record.js";
import { LocalWindow } from "./local.js";
import { checkMask, keyMask, maskedSoftmax } from "./masks.js";
import { scoreOf } from "./scores.js";

/**
 * Turn scores into weights and average the values with them: Bahdanau et al. 2015, eq. 5–6.
 *
 * Hard attention does the same once it is trained; local attention sees a window alone.
 */
export class Attention {
  constructor(weights, { score, window = null, predictive = false }) {
    this.name = weights.name;
    this.score = scoreOf(score, weights.part("score"));
    this.local = window === null ? null : new LocalWindow(weights, { window, predictive });
  }

  /** What the score can compute once for all queries, from keys (S, K). */
  projectKeys(keys) {
    return this.score.projectKeys(keys);
  }

  /**
   * Attend from query (T, Q) to projected keys (S, ·) and values (S, D).
   *
   * @param {?boolean[]} mask (S,) true may be attended to
   * @param {number} start the step of the first query; monotonic attention reads it
   * @returns {{context: Matrix, weights: Matrix}} (T, D), and (T, S)
   */
  forward(query, projected, values, { mask = null, start = 0, record = null } = {}) {
    if (projected.rows !== values.rows) {
      throw new Error(
        `keys and values must agree in length, got ${projected.rows} and ${values.rows}`,
      );
    }
    checkMask(mask, values.rows);
    const weights = this.score.forward(query, projected); // (T, S), scores until the softmax
    const shape = [weights.rows, weights.columns];
    note(record, this.name, "scores", shape, weights.data);
    const near = this.local && this.local.look(query, values.rows, { mask, start });
    maskedSoftmax(weights.data, weights.columns, near ? near.allowed : keyMask(mask));
    if (near) near.weaken(weights);
    note(record, this.name, "weights", shape, weights.data);
    if (near) note(record, this.name, "centre", [query.rows, 1], near.centre);
    const context = average(weights, values);
    note(record, this.name, "context", [context.rows, context.columns], context.data);
    return { context, weights };
  }
}

/** Each row of weights (T, S) times values (S, D): (T, D). */
export function average(weights, values) {
  const context = new Matrix(weights.rows, values.columns);
  for (let row = 0; row < weights.rows; row += 1) {
    const sums = new Float64Array(values.columns);
    for (let place = 0; place < values.rows; place += 1) {
      const weight = weights.data[row * weights.columns + place];
      if (!weight) continue; // most of a window's surroundings
      const start = place * values.columns;
      for (let i = 0; i < sums.length; i += 1) sums[i] += weight * values.data[start + i];
    }
    context.row(row).set(sums);
  }
  return context;
}
