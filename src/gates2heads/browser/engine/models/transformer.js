// The Transformer: an encoder–decoder made of attention alone.

import { embedding, linear, logSoftmax } from "../tensor.js";
import { checkMask, keyMask } from "../layers/masks.js";
import { NoNorm, NORMS } from "../layers/norms.js";
import { positionsOf } from "../layers/positions.js";
import { DecoderLayer, EncoderLayer } from "../layers/transformer_layers.js";
import { checkTokens, recordOf } from "./checks.js";

/** Read the source with self-attention, write the target with self- and cross-attention. */
export class Transformer {
  constructor(weights, settings) {
    const { norm_first = false, norm = "layer", max_length = 512 } = settings;
    const last = (name) => (norm_first ? new NORMS[norm](weights.part(name)) : new NoNorm());
    const table = (name, otherwise) => (weights.has(name) ? weights.matrix(name) : otherwise);
    this.encoder_layers = weights
      .parts("encoder_layers")
      .map((part) => new EncoderLayer(part, settings));
    this.decoder_layers = weights
      .parts("decoder_layers")
      .map((part) => new DecoderLayer(part, settings));
    this.encoder_norm = last("encoder_norm");
    this.decoder_norm = last("decoder_norm");
    this.source_positions = positionsOf(weights.part("source_positions"));
    this.target_positions = positionsOf(weights.part("target_positions"));
    // A shared matrix is kept once.
    this.target_table = weights.matrix("target_table");
    this.source_table = table("source_table", this.target_table);
    this.readout_table = table("readout_table", this.target_table);
    this.readout_bias = weights.vector("readout_bias");
    this.max_length = max_length;
    this.factor = Math.sqrt(this.target_table.columns);
    this.step = this.step.bind(this);
  }

  /**
   * Read a source of S tokens: vectors (S, D).
   *
   * Without `positions` the encoder has no information on the order of tokens: no positional vector
   * is added, and no query or key is rotated.
   */
  encode(source, { mask = null, positions = true, ...options } = {}) {
    checkTokens("source", source, this.source_table.rows, { most: this.max_length });
    checkMask(mask, source.length);
    const record = recordOf(options);
    let vectors = embedding(source, this.source_table, this.factor);
    if (positions) vectors = this.source_positions.forward(vectors);
    for (const layer of this.encoder_layers) {
      vectors = layer.forward(vectors, { mask: keyMask(mask), record, positions });
    }
    return this.encoder_norm.forward(vectors, record);
  }

  /** Read a source and give the state before the first step. */
  start(source, options = {}) {
    const vectors = this.encode(source, options);
    return {
      past: this.decoder_layers.map(() => null),
      memory: this.decoder_layers.map((layer) => layer.cross_attn.project(vectors)),
      mask: options.mask ?? null,
      length: 0,
    };
  }

  /** Read the last token; give log-probabilities (V,) in nats and the next state. */
  step(state, last, options = {}) {
    checkTokens("last", [last], this.target_table.rows);
    const record = recordOf(options);
    const embedded = embedding([last], this.target_table, this.factor);
    let vectors = this.target_positions.forward(embedded, state.length);
    const past = this.decoder_layers.map((layer, depth) => {
      const seen = { mask: keyMask(state.mask), record };
      const after = layer.stepWith(vectors, state.past[depth], state.memory[depth], seen);
      vectors = after.output;
      return after.past;
    });
    const logits = this.readout(vectors, record);
    return {
      logProbs: logSoftmax(logits.row(0)),
      state: { ...state, past, length: state.length + 1 },
    };
  }

  /** Turn decoder vectors (T, D) into logits (T, V). */
  readout(vectors, record = null) {
    return linear(
      this.decoder_norm.forward(vectors, record),
      this.readout_table,
      this.readout_bias,
    );
  }
}
