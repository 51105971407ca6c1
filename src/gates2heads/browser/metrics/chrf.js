// chrF: an F-score over character n-grams. The twin of metrics/chrf.py.

import { clippedMatches, countNgrams, totalOf } from "./ngrams.js";
import { characters, splitWords } from "./sentences.js";

const MARKS = new Set("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~");

/** Cuts at white space, and one mark off the end, or else off the start, of a word. */
function wordsAndMarks(text) {
  return splitWords(text).flatMap((word) => {
    if (word.length > 1 && MARKS.has(word.at(-1))) return [word.slice(0, -1), word.at(-1)];
    if (word.length > 1 && MARKS.has(word[0])) return [word[0], word.slice(1)];
    return [word];
  });
}

/** What to count: [tokens, order], the characters with each order, then the words. */
function units(text, charOrder, wordOrder) {
  const [letters, words] = [characters(text), wordOrder ? wordsAndMarks(text) : []];
  const orders = (most) => Array.from({ length: most }, (_, place) => place + 1);
  return [
    ...orders(charOrder).map((order) => [letters, order]),
    ...orders(wordOrder).map((order) => [words, order]),
  ];
}

/** For each order [n-grams of the hypothesis, of the reference, clipped matches]. */
function compare(hypothesis, reference, charOrder, wordOrder) {
  const others = units(reference, charOrder, wordOrder);
  return units(hypothesis, charOrder, wordOrder).map(([tokens, order], place) => {
    const ceiling = countNgrams(others[place][0], order);
    // An order that the reference is too short for does not count for the hypothesis either.
    const own = ceiling.size ? Math.max(tokens.length - order + 1, 0) : 0;
    return [own, totalOf(ceiling), clippedMatches(tokens, order, ceiling)];
  });
}

/** {score, precision, recall}, 0 to 100, of counts as `compare` gives them. */
export function chrfOfCounts(counts, beta = 2) {
  const usable = counts.filter(([own, other]) => own > 0 && other > 0);
  const nothing = { score: 0, precision: 0, recall: 0 };
  if (!usable.length) return nothing;
  const precision = usable.reduce((sum, [own, , match]) => sum + match / own, 0) / usable.length;
  const recall = usable.reduce((sum, [, other, match]) => sum + match / other, 0) / usable.length;
  if (precision + recall === 0) return nothing;
  const square = beta ** 2;
  const score = ((1 + square) * precision * recall) / (square * precision + recall);
  return { score: 100 * score, precision: 100 * precision, recall: 100 * recall };
}

/** chrF of one hypothesis; of several references the one with the highest score counts. */
export function sentenceChrf(hypothesis, references, options = {}) {
  const { charOrder = 6, wordOrder = 0, beta = 2, lowercase = false } = options;
  const read = (text) => (lowercase ? text.toLowerCase() : text);
  return references
    .map((reference) =>
      chrfOfCounts(compare(read(hypothesis), read(reference), charOrder, wordOrder), beta),
    )
    .reduce((best, one) => (one.score > best.score ? one : best));
}
