// Language models: recurrent, and a Transformer. Which token comes next?

import { embedding, linear, logSoftmax } from "../tensor.js";
import { NoNorm, NORMS } from "../layers/norms.js";
import { positionsOf } from "../layers/positions.js";
import { recurrentLayer } from "../layers/recurrent/recurrent.js";
import { EncoderLayer } from "../layers/transformer_layers.js";
import { checkLength } from "../refusals.js";
import { checkTokens, recordOf } from "./checks.js";

/**
 * What language models share; a subclass says in `read` how it goes on, and in `blank` from where.
 */
export class LanguageModel {
  constructor(vocabularySize, maxLength = Infinity) {
    this.vocabulary_size = vocabularySize;
    this.max_length = maxLength;
    this.step = this.step.bind(this);
  }

  /** The state before the first step, after a prompt that may be empty. */
  start(prompt = [], options = {}) {
    checkTokens("prompt", prompt, this.vocabulary_size, { most: this.max_length, least: 0 });
    return prompt.length ? this.read(prompt, this.blank(), recordOf(options)).state : this.blank();
  }

  /**
   * Read T more tokens at once, such as a prompt: logits (T, V) and the next state; `step` reads
   * one.
   */
  extend(state, tokens, options = {}) {
    checkTokens("tokens", tokens, this.vocabulary_size);
    const { vectors, state: next } = this.read(tokens, state, recordOf(options));
    return { logits: this.readout(vectors), state: next };
  }

  /**
   * Log-probabilities (V,) of the token after all of these, <bos> first, with nothing kept from
   * before and nothing kept for later: what a step costs without a state.
   */
  recompute(tokens, options = {}) {
    checkTokens("tokens", tokens, this.vocabulary_size, { most: this.max_length });
    const { vectors } = this.read(tokens, this.blank(), recordOf(options));
    return logSoftmax(this.readout(vectors.slice(vectors.rows - 1, vectors.rows)).row(0));
  }

  /** Read the last token; give log-probabilities (V,) in nats and the next state. */
  step(state, last, options = {}) {
    checkTokens("last", [last], this.vocabulary_size);
    const { vectors, state: next } = this.read([last], state, recordOf(options));
    return { logProbs: logSoftmax(this.readout(vectors).row(0)), state: next };
  }

  /** What may come after each of T tokens, <bos> first: logits (T, V). */
  logits(tokens, options = {}) {
    checkTokens("tokens", tokens, this.vocabulary_size, { most: this.max_length });
    return this.readout(this.read(tokens, this.blank(), recordOf(options)).vectors);
  }
}

/** Carry all that was read along in a state of fixed width: Mikolov et al. 2010. */
export class RecurrentLanguageModel extends LanguageModel {
  constructor(weights, settings) {
    const table = weights.matrix("embedding.weight");
    super(table.rows);
    this.table = table;
    this.recurrent = recurrentLayer(weights.part("recurrent"), settings);
    this.readoutLayer = [weights.matrix("readout.weight"), weights.vector("readout.bias")];
  }

  blank() {
    return { carried: this.recurrent.blank() };
  }

  read(tokens, { carried }, record) {
    const vectors = embedding(tokens, this.table);
    const after = this.recurrent.run(vectors, carried, { record });
    return { vectors: after.states, state: { carried: after.carried } };
  }

  readout(vectors) {
    return linear(vectors, ...this.readoutLayer);
  }
}

/** What models of causal self-attention share: each position sees what was read before it. */
export class CausalStack extends LanguageModel {
  constructor(weights, settings, table) {
    super(table.rows, settings.max_length ?? Infinity);
    const { norm_first = false, norm = "layer" } = settings;
    this.table = table;
    this.layers = weights.parts("layers").map((part) => new EncoderLayer(part, settings));
    this.norm = norm_first ? new NORMS[norm](weights.part("norm")) : new NoNorm();
    this.positions = positionsOf(weights.part("positions"));
    this.factor = 1;
  }

  blank() {
    return { past: this.layers.map(() => null), length: 0 };
  }

  read(tokens, { past, length }, record) {
    const end = length + tokens.length;
    checkLength("tokens", end, this.max_length);
    let vectors = this.positions.forward(embedding(tokens, this.table, this.factor), length);
    const extended = this.layers.map((layer, depth) => {
      const after = layer.step(vectors, past[depth], record);
      vectors = after.output;
      return after.past;
    });
    return { vectors: this.norm.forward(vectors, record), state: { past: extended, length: end } };
  }
}

/** Look back at all that was read, and predict from it: Liu et al. 2018. */
export class TransformerLanguageModel extends CausalStack {
  constructor(weights, settings) {
    super(weights, settings, weights.matrix("table"));
    this.factor = Math.sqrt(this.table.columns);
    this.readout_table = weights.has("readout_table")
      ? weights.matrix("readout_table")
      : this.table;
    this.readout_bias = weights.vector("readout_bias");
  }

  readout(vectors) {
    return linear(vectors, this.readout_table, this.readout_bias);
  }
}
