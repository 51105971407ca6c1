// One text through the searches of the beam laboratory.

import { laboratorySteps, remembering } from "../laboratory.js";
import { tooLong } from "../pieces.js";

const MOST = 600; // remembered answers, of some 150 kB each: scores of all tokens, keys and values
const latest = new WeakMap(); // of each model the text that was read last, with all answers to it

/**
 * Searches for translations of a text.
 *
 * payload: {text, limit, …what `laboratorySteps` is asked}; limit is the most tokens that are read,
 * and that are written.
 * Yields {steps, scored}; returns {refused}, a sentence, or {text, source, size, free, forced,
 * sample}, size the number of tokens to choose from.
 */
export function* searchText(loaded, { text, limit, ...asked }) {
  const ids = loaded.source.encode(text);
  if (ids.length > limit) {
    return { refused: tooLong(ids.length, limit, "tokens") };
  }
  const words = loaded.target.vocabulary;
  const { step, state } = answersTo(loaded, text, ids);
  const sides = { bos: words.bos, eos: words.eos, maxLength: limit };
  const found = yield* laboratorySteps(step, state, words.tokens, sides, asked);
  const source = ids.map((id) => loaded.source.vocabulary.tokens[id]);
  return { text, source, size: words.tokens.length, ...found };
}

function answersTo(loaded, text, ids) {
  const known = latest.get(loaded);
  if (known?.text === text && known.answers.size() < MOST) return known.answers;
  const answers = remembering(
    (state, last) => loaded.model.step(state, last),
    loaded.model.start(ids),
  );
  latest.set(loaded, { text, answers });
  return answers;
}
