// Causal self-attention whose query heads share keys and values in groups.

import { KeyValues, MultiHeadAttention } from "./multi_head.js";
import { linear } from "../tensor.js";
import { causalMask } from "./masks.js";
import { rotate } from "./positions.js";

/** Attend in H query heads that share G heads of keys and values: Ainslie et al. 2023. */
export class GroupedQueryAttention extends MultiHeadAttention {
  constructor(weights, { num_heads, rotary = false, window = null }) {
    super(weights, { num_heads, rotary });
    const width = this.embed_dim / num_heads;
    this.num_key_value_heads = this.projections[1].weight.rows / width;
    this.window = window;
  }

  /** Queries, keys and values have a matrix each: those of keys and values are smaller. */
  projectionsOf(weights) {
    return ["q_proj", "k_proj", "v_proj"].map((name) => weights.linear(name));
  }

  columnOf(head) {
    const times = this.num_heads / this.num_key_value_heads;
    return super.columnOf(Math.floor(head / times));
  }

  /**
   * Transform T new positions (T, D), which attend to the past and to each other.
   *
   * @param {?KeyValues} past the cache; with a window only its last window − 1 positions
   * @param {number} start the position of the first of the vectors, for the rotation
   */
  extend(vectors, past = null, { start = 0, record = null } = {}) {
    const [queries, keys, values] = this.projections.map(({ weight, bias }) =>
      linear(vectors, weight, bias),
    );
    const turned = (some, heads) => (this.rotary ? rotate(some, heads, start) : some);
    const added = new KeyValues(turned(keys, this.num_key_value_heads), values);
    const all = past ? past.append(added) : added;
    const size = all.keys.rows;
    const mask = this.seen(vectors.rows, size);
    const output = this.attendFrom(turned(queries, this.num_heads), all, { mask, record });
    if (this.window === null) return { output, past: all };
    const first = Math.max(0, size - this.window + 1);
    const kept = new KeyValues(all.keys.slice(first, size), all.values.slice(first, size));
    return { output, past: kept };
  }

  // Which of S keys each of T queries sees; null where each sees all.
  seen(queries, keys) {
    const causal = queries > 1 ? causalMask(queries, keys) : null;
    if (this.window === null || keys <= this.window) return causal;
    const first = keys - queries - this.window; // a query sees what comes after
    return (query, key) => key > query + first && (!causal || causal(query, key));
  }
}
