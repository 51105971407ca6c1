// One to three words asked of a table of word vectors.

import { askWords, MOST_WORDS } from "../../engine/metrics/word_questions.js";
import { tidy } from "../pieces.js";

const SUGGESTED = 5;
const LONGEST = 30; // letters: no word of a table is as long

/** What is typed, as the table writes it: small letters, words parted by blanks or commas. */
export function wordsIn(text) {
  return tidy(text)
    .toLowerCase()
    .replaceAll("’", "'")
    .split(/[\s,;:]+/)
    .filter(Boolean);
}

/** Known words that begin as an unknown one does, the most frequent first. */
export function suggestions(words, unknown) {
  const letters = [...unknown];
  for (let length = letters.length; length >= 2; length -= 1) {
    const found = words.filter((word) => word.startsWith(letters.slice(0, length).join("")));
    if (found.length) return found.slice(0, SUGGESTED);
  }
  return [];
}

/**
 * Answers what is typed.
 *
 * payload: {text, count, exclude}.
 * Yields once; returns what `askWords` gives, and text; or {refused} with a sentence.
 */
export function* askTable({ model }, { text, count, exclude }) {
  const vectors = model.compared();
  yield {};
  const words = wordsIn(text);
  if (words.length > MOST_WORDS)
    return { refused: `These are ${words.length} words; ask with one, two or three.` };
  const unknown = words.find((word) => !vectors.has(word));
  if (unknown !== undefined) {
    const letters = [...unknown];
    const short = letters.length <= LONGEST ? unknown : `${letters.slice(0, LONGEST).join("")}…`;
    const near = short === unknown ? suggestions(vectors.words, unknown) : [];
    const told = near.length ? ` Known: ${near.join(", ")}.` : "";
    return {
      refused: `“${short}” is not among the ${vectors.words.length.toLocaleString("en")} words that stand in the captions five times or more.${told}`,
    };
  }
  const pair = words.find((word, place) => words.indexOf(word) !== place);
  if (pair !== undefined && words.length === 2)
    return { refused: `Two words to be told apart must differ; both are “${pair}”.` };
  return { text, ...askWords(vectors, words, { count, exclude }) };
}
