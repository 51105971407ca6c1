// One sentence through a Transformer, block by block: what each part did, and would already say.

import { walkSteps } from "../../engine/decoding/walk.js";
import { tooLong } from "../pieces.js";

export const MOST = 40; // tokens that the picture has room for, on either side

/**
 * Translates a sentence, always with the likeliest token.
 *
 * payload: {text}. Yields {length}; returns {text, written, source, target, logProb, finished,
 * stages, readouts, cache}: as `walkSteps` gives them, the readouts with `words` for their tokens.
 * Or {refused}, a sentence.
 */
export function* walkText({ model, source, target, decoding }, { text }) {
  const ids = source.encode(text);
  if (ids.length > MOST) {
    return { refused: tooLong(ids.length, MOST, "tokens") };
  }
  const { bos, eos, tokens: words } = target.vocabulary;
  const maxLength = Math.min(decoding.max_length, MOST);
  const { tokens, readouts, ...walked } = yield* walkSteps(model, ids, { bos, eos, maxLength });
  const { tokens: likeliest, ...numbers } = readouts;
  const named = likeliest.map((steps) => steps.map((step) => step.map((token) => words[token])));
  return {
    text,
    written: target.decode(tokens),
    source: ids.map((id) => source.vocabulary.tokens[id]),
    target: tokens.map((id) => words[id]),
    ...walked,
    readouts: { words: named, ...numbers },
  };
}
