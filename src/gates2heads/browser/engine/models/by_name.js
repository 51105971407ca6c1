// Whole models by the kind that their file names.

import { AttentionOnly } from "./attention_only.js";
import { DecoderOnly } from "./decoder_only.js";
import { FineTuned } from "./fine_tuned.js";
import { RecurrentLanguageModel, TransformerLanguageModel } from "./language.js";
import { PrunedKneserNey } from "./ngram.js";
import { BERT, GPT } from "./pretraining.js";
import { EncoderDecoder, SequenceToSequence } from "./seq2seq.js";
import { SubwordTable } from "./subword.js";
import { Transformer } from "./transformer.js";
import { WordTable } from "./words.js";

const MODELS = {
  AttentionOnly,
  BERT,
  DecoderOnly,
  EncoderDecoder,
  FineTuned,
  GPT,
  PrunedKneserNey,
  RecurrentLanguageModel,
  SequenceToSequence,
  SubwordTable,
  Transformer,
  TransformerLanguageModel,
  WordTable,
};

/** Build the model of a kind with the library's settings, from its weights. */
export function buildModel({ kind, settings }, weights) {
  if (!Object.hasOwn(MODELS, kind)) {
    throw new Error(
      `The model's kind must be one of ${Object.keys(MODELS).join(", ")}, got ${kind}.`,
    );
  }
  return new MODELS[kind](weights, settings);
}
