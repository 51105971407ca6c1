// A decoder-only Transformer, with the parts of GPT-2 or of Llama.

import { add, embedding, linear } from "../tensor.js";
import { FeedForward, SwiGLU } from "../layers/blocks.js";
import { GroupedQueryAttention } from "../layers/grouped_query.js";
import { NORMS } from "../layers/norms.js";
import { checkLength } from "../refusals.js";
import { LanguageModel } from "./language.js";

/** A pre-norm block: x + attention(norm(x)), then x + feed_forward(norm(x)). */
class Block {
  constructor(weights, { nhead, norm, positions, window }) {
    this.attention_norm = new NORMS[norm](weights.part("attention_norm"));
    this.feed_forward_norm = new NORMS[norm](weights.part("feed_forward_norm"));
    const how = { num_heads: nhead, rotary: positions === "rotary", window };
    this.attention = new GroupedQueryAttention(weights.part("attention"), how);
    const inner = weights.part("feed_forward");
    this.feed_forward = inner.has("gate_proj.weight")
      ? new SwiGLU(inner)
      : new FeedForward(inner, { activation: "gelu" });
  }

  /** Transform T new positions (T, D), the first of them at `start`. */
  step(vectors, past, start, record) {
    const read = this.attention_norm.forward(vectors, record);
    const { output, past: extended } = this.attention.extend(read, past, { start, record });
    const seen = add(vectors, output);
    const inner = this.feed_forward_norm.forward(seen, record);
    return { output: add(seen, this.feed_forward.forward(inner)), past: extended };
  }
}

/**
 * A causal language model of one stack of blocks: Radford et al. 2019, Touvron et al. 2023.
 *
 * Its state is the KV cache. `recompute` does without one.
 */
export class DecoderOnly extends LanguageModel {
  constructor(weights, settings) {
    const table = weights.matrix("token_table.weight");
    super(table.rows, settings.max_length);
    const optional = (name) => (weights.has(name) ? weights.matrix(name) : null);
    this.table = table;
    this.position_table = optional("position_table.weight"); // none: the attention rotates
    this.layers = weights.parts("layers").map((part) => new Block(part, settings));
    this.norm = new NORMS[settings.norm](weights.part("norm"));
    this.output = optional("output.weight") ?? table; // a shared matrix is kept once
  }

  blank() {
    return { past: this.layers.map(() => null), length: 0 };
  }

  read(tokens, { past, length }, record) {
    const end = length + tokens.length;
    checkLength("tokens", end, this.max_length);
    let vectors = embedding(tokens, this.table);
    if (this.position_table) {
      const places = Array.from(tokens, (_, place) => length + place);
      vectors = add(vectors, embedding(places, this.position_table));
    }
    const extended = this.layers.map((layer, depth) => {
      const after = layer.step(vectors, past[depth], length, record);
      vectors = after.output;
      return after.past;
    });
    return { vectors: this.norm.forward(vectors, record), state: { past: extended, length: end } };
  }

  readout(vectors) {
    return linear(vectors, this.output);
  }
}
