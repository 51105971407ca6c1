// Blocks: the parts between attention layers.

import { add, apply, gelu, linear, relu, silu } from "../tensor.js";
import { NORMS } from "./norms.js";
import { note } from "../record.js";

const ACTIVATIONS = { relu, gelu, silu };

/** Put each position through the same network with one hidden layer: Vaswani et al. 2017, eq. 2. */
export class FeedForward {
  constructor(weights, { activation = "relu" } = {}) {
    this.linear1 = weights.linear("linear1");
    this.linear2 = weights.linear("linear2");
    this.activation = ACTIVATIONS[activation];
  }

  /** Map vectors (S, D) position by position: (S, D). */
  forward(vectors) {
    const hidden = apply(linear(vectors, this.linear1.weight, this.linear1.bias), this.activation);
    return linear(hidden, this.linear2.weight, this.linear2.bias);
  }
}

/** A feed-forward network with a gate, W_down (silu(W_gate x) ⊙ W_up x): Shazeer 2020, eq. 6. */
export class SwiGLU {
  constructor(weights) {
    this.gate_proj = weights.linear("gate_proj");
    this.up_proj = weights.linear("up_proj");
    this.down_proj = weights.linear("down_proj");
  }

  /** Map vectors (S, D) position by position: (S, D). */
  forward(vectors) {
    const hidden = apply(linear(vectors, this.gate_proj.weight, this.gate_proj.bias), silu);
    const up = linear(vectors, this.up_proj.weight, this.up_proj.bias);
    for (let at = 0; at < hidden.data.length; at += 1) hidden.data[at] *= up.data[at];
    return linear(hidden, this.down_proj.weight, this.down_proj.bias);
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
