// One text through a small encoder–decoder, written from three times: freely, held, and taught.

import { forcingSteps } from "../../engine/decoding/held.js";
import { tooLong } from "../pieces.js";

export const LONGEST = 60; // characters of a source that the picture has room for
export const ROOM = 16; // tokens of a line

/**
 * Reads a text and writes from it.
 *
 * payload: {text; held: [[step, token]…], "<eos>" among them; taught: a text, or null for what is
 * written freely}. Yields {length}; returns {text, source: [token…], vocabulary: [token…], states,
 * summary, free, held, taught}, as `forcingSteps` gives them, the tokens as words. Or {refused},
 * a sentence.
 */
export function* forceText({ model, source, target }, { text, held = [], taught = null }) {
  const ids = source.encode(text);
  if (ids.length > LONGEST + 1) {
    return {
      refused: tooLong(ids.length - 1, LONGEST, "characters"),
    };
  }
  const { bos, eos, tokens: words, index } = target.vocabulary;
  const letters = taught === null ? null : [...taught];
  const strange = letters?.find((letter) => !index.has(letter));
  if (strange !== undefined)
    return {
      refusedLesson: `The target may contain only ${alphabet(words)}; “${strange}” is not allowed.`,
    };
  if (letters && letters.length >= ROOM) {
    return {
      refusedLesson: `The target has ${letters.length} characters; at most ${ROOM - 1} are possible.`,
    };
  }
  const answer = yield* forcingSteps(model, ids, {
    bos,
    eos,
    maxLength: ROOM,
    held: held.map(([step, token]) => [step, index.get(token)]),
    taught: letters && letters.map((letter) => index.get(letter)),
  });
  const named = (line) => ({ ...line, tokens: line.tokens.map((token) => words[token]) });
  return {
    text,
    source: ids.map((id) => source.vocabulary.tokens[id]),
    vocabulary: words,
    ...answer,
    free: named(answer.free),
    held: named(answer.held),
    taught: named(answer.taught),
  };
}

/** The characters that a target has, in words: “-” and digits. */
function alphabet(words) {
  const single = words.filter((word) => !word.startsWith("<"));
  const isDigits = [..."0123456789"].every((digit) => single.includes(digit));
  const others = single
    .filter((word) => !isDigits || !/[0-9]/.test(word))
    .map((word) => `“${word}”`);
  return [...(isDigits ? ["digits"] : []), ...others].join(" and ");
}
