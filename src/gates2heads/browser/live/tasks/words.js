// One to three words asked of a table of word vectors.

import { askWords, MOST_WORDS } from "../../engine/metrics/word_questions.js";
import { shortened, tidy } from "../pieces.js";

const SUGGESTED = 5;

/** What is typed, as the table writes it: small letters, no quotation marks. */
export function wordsIn(text) {
  return tidy(text)
    .toLowerCase()
    .replaceAll("’", "'")
    .replace(/[“”„«»"]/g, " ")
    .split(/[\s,;:]+/)
    .filter(Boolean);
}

/**
 * How many letters must be inserted, deleted, replaced or swapped with their neighbour to turn one
 * word into another.
 */
export function editDistance(from, to) {
  const [a, b] = [[...from], [...to]];
  let [before, last] = [[], b.map((_, column) => column).concat(b.length)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = last[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      row[j] = Math.min(change, last[j] + 1, row[j - 1] + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        row[j] = Math.min(row[j], before[j - 2] + 1);
    }
    [before, last] = [last, row];
  }
  return last[b.length];
}

/** Known words with a similar spelling, the most similar first, then the most frequent. */
export function suggestions(words, unknown) {
  const most = unknown.length < 6 ? 1 : 2; // letters that may differ
  return words
    .filter((word) => Math.abs(word.length - unknown.length) <= most)
    .filter((word) => [...word].some((letter) => unknown.includes(letter)))
    .map((word) => ({ word, distance: editDistance(unknown, word) }))
    .filter(({ distance }) => distance <= most)
    .sort((one, other) => one.distance - other.distance)
    .slice(0, SUGGESTED)
    .map(({ word }) => word);
}

/** "“a”, “b” or “c”" */
function alternatives(words) {
  const named = words.map((word) => `“${word}”`);
  return named.length < 2 ? named.join("") : `${named.slice(0, -1).join(", ")} or ${named.at(-1)}`;
}

/**
 * Why a word has no vector, in sentences.
 *
 * @param {?string} remedy the name of vectors that would have one for it
 */
function unknownInWords(vectors, unknown, remedy) {
  const short = shortened(unknown);
  const amount = vectors.words.length.toLocaleString("en");
  if (vectors.knownNgrams)
    return `“${short}” shares no character n-gram with any of the ${amount} words of the training vocabulary, so it has no vector.`;
  const near = short === unknown ? suggestions(vectors.words, unknown) : [];
  const told = near.length ? ` Did you mean ${alternatives(near)}?` : "";
  const advice =
    remedy && /[a-z0-9]/.test(unknown)
      ? ` To give an unseen word a vector, select the ${remedy} model.`
      : "";
  return `“${short}” is not among the ${amount} words that occur five times or more in the training text.${told}${advice}`;
}

/** Which words are the same: "both are “dog”". */
function repeated(words, twice) {
  if (new Set(words).size > 1) return `“${twice}” occurs twice`;
  return `${words.length === 2 ? "both" : "all three"} are “${twice}”`;
}

/**
 * Answers what is typed.
 *
 * payload: {text, count, exclude, remedy}; the last is the name of vectors that are made of n-grams,
 * where there are some.
 * Yields once; returns what `askWords` gives, text, and `unseen`: of each word outside the
 * vocabulary {word, ngrams: [[n-gram, share]…]}; or {refused} with a sentence.
 */
export function* askTable({ model }, { text, count, exclude, remedy }) {
  const vectors = model.compared();
  yield {};
  const words = wordsIn(text);
  if (words.length > MOST_WORDS)
    return { refused: `You entered ${words.length} words. Enter one, two or three.` };
  const unknown = words.find((word) => !vectors.has(word));
  if (unknown !== undefined) return { refused: unknownInWords(vectors, unknown, remedy) };
  const twice = words.find((word, place) => words.indexOf(word) !== place);
  if (twice !== undefined)
    return { refused: `Enter different words; ${repeated(words, shortened(twice))}.` };
  const unseen = [...new Set(words)]
    .filter((word) => !vectors.isInVocabulary(word))
    .map((word) => ({ word, ngrams: vectors.carriedBy(word) }));
  return { text, unseen, ...askWords(vectors, words, { count, exclude }) };
}
