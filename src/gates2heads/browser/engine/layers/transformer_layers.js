// The two layers of a Transformer: attention and a feed-forward network, each with its residual.

import { FeedForward, Residual } from "./blocks.js";
import { MultiHeadAttention } from "./multi_head.js";

/** Self-attention, then a feed-forward network: Vaswani et al. 2017, section 3.1. */
export class EncoderLayer {
  constructor(
    weights,
    { nhead, activation = "relu", norm_first = false, norm = "layer", rotary = false },
  ) {
    const residual = { norm_first, norm };
    this.self_attn = new MultiHeadAttention(weights.part("self_attn"), {
      num_heads: nhead,
      rotary,
    });
    this.self_residual = new Residual(weights.part("self_residual"), residual);
    this.feed_forward = new FeedForward(weights.part("feed_forward"), { activation });
    this.feed_forward_residual = new Residual(weights.part("feed_forward_residual"), residual);
  }

  /** Transform vectors (S, D) at all positions at once. */
  forward(vectors, { record = null, ...options } = {}) {
    const read = this.self_residual.before(vectors, record);
    const attended = this.self_attn.forward(read, { record, ...options });
    return this.feedForward(this.self_residual.after(vectors, attended, record), record);
  }

  /** Transform T new positions (T, D) that see the past, and only the past. */
  step(vectors, past = null, record = null) {
    const { output, past: extended } = this.lookBack(vectors, past, record);
    return { output: this.feedForward(output, record), past: extended };
  }

  lookBack(vectors, past, record) {
    const read = this.self_residual.before(vectors, record);
    const { output, past: extended } = this.self_attn.extend(read, past, record);
    return { output: this.self_residual.after(vectors, output, record), past: extended };
  }

  feedForward(vectors, record) {
    const read = this.feed_forward_residual.before(vectors, record);
    return this.feed_forward_residual.after(vectors, this.feed_forward.forward(read), record);
  }
}

/** Causal self-attention, attention to the source, then a feed-forward network. */
export class DecoderLayer extends EncoderLayer {
  constructor(weights, settings) {
    super(weights, settings);
    const { nhead, norm_first = false, norm = "layer" } = settings;
    this.cross_attn = new MultiHeadAttention(weights.part("cross_attn"), { num_heads: nhead });
    this.cross_residual = new Residual(weights.part("cross_residual"), { norm_first, norm });
  }

  /**
   * Transform T new positions (T, D) that see the past and the source.
   *
   * @param {?KeyValues} past from the step before
   * @param {KeyValues} memory what `cross_attn.project` made of the source (S, D)
   * @param {?Function} mask which positions of the source may be attended to
   */
  stepWith(vectors, past, memory, { mask = null, record = null } = {}) {
    const { output, past: extended } = this.lookBack(vectors, past, record);
    const read = this.cross_residual.before(output, record);
    const seen = this.cross_attn.attend(read, memory, { mask, record });
    const after = this.cross_residual.after(output, seen, record);
    return { output: this.feedForward(after, record), past: extended };
  }
}
