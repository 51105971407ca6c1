// Exact match and F1 of a short answer, as for SQuAD, of several references the best.

import { rougeN } from "./rouge.js";
import { splitWords } from "./sentences.js";

const ARTICLES = new Set(["a", "an", "the"]);

/** The words of an answer, in lower case, without ASCII punctuation and articles. */
export function answerWords(text) {
  const plain = text.toLowerCase().replace(/[!-/:-@[-`{-~]/gu, "");
  return splitWords(plain).filter((word) => !ARTICLES.has(word));
}

const normalised = (text) => answerWords(text).join(" ");

/** 1 if the answer has the same words in the same order as one of the references, otherwise 0. */
export function exactMatch(hypothesis, references) {
  return Number(references.some((reference) => normalised(reference) === normalised(hypothesis)));
}

/** Precision, recall and F1 of the words: {precision, recall, f}, 0 to 1. */
export function answerF1(hypothesis, references) {
  return rougeN(normalised(hypothesis), references.map(normalised), 1, { tokenize: "none" });
}

/** The rows of the bench: [name, precision, recall, score], 0 to 100; null where there is none. */
export function answerRows({ hypothesis, references }) {
  const { precision, recall, f } = answerF1(hypothesis, references);
  return [
    ["answer F1", 100 * precision, 100 * recall, 100 * f],
    ["exact match", null, null, 100 * exactMatch(hypothesis, references)],
  ];
}
