// Blocks: what stands between attention layers.

import { add, apply, gelu, linear, relu, silu } from "../tensor.js";
import { NORMS } from "./norms.js";
import { note } from "../record.js";

const ACTIVATIONS = { relu, gelu, silu };

/** Put each position through the same network with one hidden layer: Vaswani et al. 2017, eq. 2. */
export class FeedForward {
  constructor(weights, { activation = "relu" } = {}) {
    this.linear1 = {
      weight: weights.matrix("linear1.weight"),
      bias: weights.vector("linear1.bias"),
    };
    this.linear2 = {
      weight: weights.matrix("linear2.weight"),
      bias: weights.vector("linear2.bias"),
    };
    this.activation = ACTIVATIONS[activation];
  }

  /** Map vectors (S, D) position by position: (S, D). */
  forward(vectors) {
    const hidden = apply(linear(vectors, this.linear1.weight, this.linear1.bias), this.activation);
    return linear(hidden, this.linear2.weight, this.linear2.bias);
  }
}

/**
 * Add what a layer computes to what it read: post-norm, norm(x + f(x)), Vaswani et al. 2017, or
 * pre-norm, x + f(norm(x)), Xiong et al. 2020. Used as after(x, layer(before(x))).
 */
export class Residual {
  constructor(weights, { norm_first = false, norm = "layer" } = {}) {
    this.name = weights.name;
    this.norm_first = norm_first;
    this.norm = new NORMS[norm](weights.part("norm"));
  }

  before(vectors, record = null) {
    return this.norm_first ? this.norm.forward(vectors, record) : vectors;
  }

  after(vectors, computed, record = null) {
    const total = add(vectors, computed);
    const output = this.norm_first ? total : this.norm.forward(total, record);
    const noted = { before: vectors, added: computed, after: output };
    for (const [name, { rows, columns, data }] of Object.entries(noted)) {
      note(record, this.name, name, [rows, columns], data);
    }
    return output;
  }
}
