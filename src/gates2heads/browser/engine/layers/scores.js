// Scores: how well a key matches a query, in the ways that the papers proposed.

import { apply, linear, Matrix, product } from "../tensor.js";

/** Score by the inner product, e = qᵀk: Luong et al. 2015, eq. 8; over √K if `scaled`. */
export class DotScore {
  constructor(weights, { scaled = false } = {}) {
    this.scaled = scaled;
  }

  /** What can be computed once for all queries: here nothing, keys (S, K) as they are. */
  projectKeys(keys) {
    return keys;
  }

  /** Score query (T, K) against projected keys (S, K): (T, S). */
  forward(query, projected) {
    const scores = linear(query, projected);
    return this.scaled ? apply(scores, (score) => score / Math.sqrt(query.columns)) : scores;
  }
}

/** Score by the inner product over √K: Vaswani et al. 2017, eq. 1. */
export class ScaledDotScore extends DotScore {
  constructor(weights) {
    super(weights, { scaled: true });
  }
}

/** Score by a learned bilinear form, e = qᵀ W k: Luong et al. 2015, eq. 8. */
export class GeneralScore {
  constructor(weights) {
    this.bilinear = weights.matrix("bilinear.weight");
  }

  /** W k for all keys (S, K): (S, Q). */
  projectKeys(keys) {
    return linear(keys, this.bilinear);
  }

  /** Score query (T, Q) against projected keys (S, Q): (T, S). */
  forward(query, projected) {
    return linear(query, projected);
  }
}

/** Score by a network with one hidden layer, e = vᵀ tanh(W_q q + W_k k): Bahdanau et al. 2015. */
export class AdditiveScore {
  constructor(weights) {
    this.query_layer = weights.matrix("query_layer.weight");
    this.key_layer = weights.matrix("key_layer.weight");
    this.vector = weights.matrix("vector.weight");
  }

  /** W_k k for all keys (S, K): (S, hidden_size). */
  projectKeys(keys) {
    return linear(keys, this.key_layer);
  }

  /** Score query (T, Q) against projected keys (S, hidden_size): (T, S). */
  forward(query, projected) {
    const asked = linear(query, this.query_layer);
    return pairwise(asked, projected, (from, key) => {
      const hidden = from.map((number, i) => Math.tanh(number + key[i]));
      return product(this.vector, hidden)[0];
    });
  }
}

/** Score the concatenation, e = vᵀ tanh(W [q; k]): the additive score under another name. */
export class ConcatScore extends AdditiveScore {}

/** Score by nearness, e = −‖q − k‖² / (2σ²): with it attention is kernel regression. */
export class GaussianScore {
  constructor(weights, { bandwidth = 1 } = {}) {
    this.bandwidth = bandwidth;
  }

  /** Keys (S, K) as they are. */
  projectKeys(keys) {
    return keys;
  }

  /** Score query (T, K) against keys (S, K): (T, S). */
  forward(query, projected) {
    return pairwise(query, projected, (from, key) => {
      let squares = 0;
      for (let i = 0; i < from.length; i += 1) squares += (from[i] - key[i]) ** 2;
      return -squares / (2 * this.bandwidth ** 2);
    });
  }
}

const SCORES = {
  DotScore,
  ScaledDotScore,
  GeneralScore,
  AdditiveScore,
  ConcatScore,
  GaussianScore,
};

/** The kinds of the scores that the library also knows by name. */
export const SCORE_KINDS = {
  additive: "AdditiveScore",
  dot: "DotScore",
  "scaled dot": "ScaledDotScore",
  general: "GeneralScore",
  concat: "ConcatScore",
};

/** The score of a kind with the library's settings. */
export function scoreOf({ kind, settings }, weights) {
  if (!Object.hasOwn(SCORES, kind)) throw new Error(`score must be known, got ${kind}`);
  return new SCORES[kind](weights, settings);
}

function pairwise(query, keys, score) {
  const scores = new Matrix(query.rows, keys.rows);
  for (let row = 0; row < query.rows; row += 1) {
    for (let key = 0; key < keys.rows; key += 1) {
      scores.data[row * keys.rows + key] = score(query.row(row), keys.row(key));
    }
  }
  return scores;
}
