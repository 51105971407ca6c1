// GPT, which looks back, and BERT, which sees both sides of a gap.

import { add, apply, embedding, gelu, linear, oneRow } from "../tensor.js";
import { checkMask, keyMask } from "../layers/masks.js";
import { LayerNorm } from "../layers/norms.js";
import { positionsOf } from "../layers/positions.js";
import { EncoderLayer } from "../layers/transformer_layers.js";
import { checkTokens, recordOf } from "./checks.js";
import { CausalStack } from "./language.js";

/** A language model of causal self-attention: Radford et al. 2018, 2019. */
export class GPT extends CausalStack {
  constructor(weights, settings) {
    const how = { ...settings, activation: "gelu" };
    super(weights, how, weights.matrix("token_table.weight"));
  }

  /** The readout's matrix is the table of the embeddings. */
  readout(vectors) {
    return linear(vectors, this.table);
  }
}

/** Read a sequence in both directions at once: Devlin et al. 2019, section 3. */
export class BERT {
  constructor(weights, { nhead, max_length }) {
    const how = { nhead, activation: "gelu" };
    const layer = (name) => [weights.matrix(`${name}.weight`), weights.vector(`${name}.bias`)];
    this.table = weights.matrix("token_table.weight");
    this.segment_table = weights.matrix("segment_table.weight");
    this.positions = positionsOf(weights.part("positions"));
    this.norm = new LayerNorm(weights.part("norm"));
    this.layers = weights.parts("layers").map((part) => new EncoderLayer(part, how));
    this.pooler = layer("pooler");
    this.next_readout = layer("next_readout");
    this.transform = layer("transform");
    this.transform_norm = new LayerNorm(weights.part("transform_norm"));
    this.readout_bias = weights.vector("readout_bias");
    this.max_length = max_length;
  }

  /** What each layer makes of L tokens, the embeddings first: num_layers + 1 matrices (L, D). */
  states(tokens, { segments = tokens.map(() => 0), mask = null, ...options } = {}) {
    checkTokens("tokens", tokens, this.table.rows, { most: this.max_length });
    checkTokens("segments", segments, this.segment_table.rows);
    if (segments.length !== tokens.length) {
      throw new Error(
        `segments must be ${tokens.length} numbers long, as the tokens are, got ${segments.length}`,
      );
    }
    checkMask(mask, tokens.length);
    const record = recordOf(options);
    const both = add(embedding(tokens, this.table), embedding(segments, this.segment_table));
    const states = [this.norm.forward(this.positions.forward(both), record)];
    for (const layer of this.layers) {
      states.push(layer.forward(states.at(-1), { mask: keyMask(mask), record }));
    }
    return states;
  }

  /** What the last layer makes of the tokens: (L, D). */
  encode(tokens, options = {}) {
    return this.states(tokens, options).at(-1);
  }

  /** What stood at hidden places, from their vectors (L, D): logits (L, V). */
  readout(vectors) {
    const hidden = this.transform_norm.forward(apply(linear(vectors, ...this.transform), gelu));
    return linear(hidden, this.table, this.readout_bias);
  }

  /** Whether the second text follows the first, read at [CLS] of vectors (L, D): logits no, yes. */
  follows(vectors) {
    const pooled = apply(linear(oneRow(vectors.row(0)), ...this.pooler), Math.tanh);
    return linear(pooled, ...this.next_readout).row(0);
  }
}
