// Whole models by the kind that their file names.

import { AttentionOnly } from "./attention_only.js";
import { DecoderOnly } from "./decoder_only.js";
import { FineTuned } from "./fine_tuned.js";
import { RecurrentLanguageModel, TransformerLanguageModel } from "./language.js";
import { PrunedKneserNey } from "./ngram.js";
import { BERT, GPT } from "./pretraining.js";
import { SequenceToSequence } from "./seq2seq.js";
import { SubwordTable } from "./subword.js";
import { Transformer } from "./transformer.js";
import { WordTable } from "./words.js";

const MODELS = {
  AttentionOnly,
  BERT,
  DecoderOnly,
  EncoderDecoder: SequenceToSequence,
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

/** Build the model that a header describes, from its weights. */
export function buildModel(described, weights) {
  if (!Object.hasOwn(MODELS, described.kind)) {
    throw new Error(
      `The model's kind must be one of ${Object.keys(MODELS).join(", ")}, got ${described.kind}.`,
    );
  }
  return new MODELS[described.kind](weights, described);
}
