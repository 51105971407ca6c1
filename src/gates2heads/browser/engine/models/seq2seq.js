// Encoder–decoder models of recurrent networks.

import { embedding, logSoftmax } from "../tensor.js";
import { checkMask } from "../layers/masks.js";
import { SCORE_KINDS } from "../layers/scores.js";
import { checkTokens, recordOf } from "./checks.js";
import { DECODERS } from "./decoders.js";
import { RecurrentEncoder } from "./encoders.js";

/** An encoder and a decoder that were trained together. */
export class SequenceToSequence {
  constructor(weights, { encoder, decoder, max_length = 512 }) {
    if (!Object.hasOwn(DECODERS, decoder.kind))
      throw new Error(`decoder must be known, got ${decoder.kind}`);
    this.encoder = new RecurrentEncoder(weights.part("encoder"), encoder.settings);
    this.decoder = new DECODERS[decoder.kind](weights.part("decoder"), decoder.settings);
    this.max_length = max_length;
    this.step = this.step.bind(this);
  }

  /** Read a source of S tokens and give the state before the first step. */
  start(source, options = {}) {
    const { mask = null } = options;
    checkTokens("source", source, this.encoder.size, { most: this.max_length });
    checkMask(mask, source.length);
    const { states, summary } = this.encoder.forward(source, { mask, record: recordOf(options) });
    return this.decoder.start(states, summary, mask);
  }

  /** Read the last token; give log-probabilities (V,) in nats and the next state. */
  step(state, last, options = {}) {
    const { table } = this.decoder;
    checkTokens("last", [last], table.rows);
    const token = embedding([last], table).row(0);
    const { logits, state: next } = this.decoder.step(state, token, recordOf(options));
    return { logProbs: logSoftmax(logits), state: next };
  }
}

/** A bidirectional GRU that is read by a GRU: with attention, or without where `score` is null. */
export class EncoderDecoder extends SequenceToSequence {
  constructor(weights, { score, max_length }) {
    const attention = score && {
      kind: "Attention",
      settings: { score: { kind: SCORE_KINDS[score], settings: {} } },
    };
    super(weights, {
      encoder: { kind: "RecurrentEncoder", settings: { cell: "gru", bidirectional: true } },
      decoder: { kind: "Decoder", settings: { attention } },
      max_length,
    });
  }
}
