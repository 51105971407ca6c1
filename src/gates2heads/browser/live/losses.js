// What the translators of captions lose although every word of the text occurs in their captions.

import { wordKey, wordsIn } from "./word_counts.js";

const NEGATIONS = {
  german: /^(?:kein\p{L}*|nicht|nichts|nie|niemals|niemand\p{L}*)$/u,
  english: /^(?:no|not|never|nobody|none|nothing|cannot)$/,
};
// A German number word is one word: “einundzwanzig”. An umlaut is spelt out in a word's key.
const GERMAN_PARTS = `ein|und|zwei|drei|vier|fuenf|sechs?|sieb(?:en)?|acht|neun|zwan`;
const GERMAN_TENS = "zehn|elf|zwoelf|zig|ssig|hundert|tausend";
const LARGE = {
  german: new RegExp(`^(?:${GERMAN_PARTS})*(?:${GERMAN_TENS})(?:${GERMAN_PARTS}|${GERMAN_TENS})*$`),
  english:
    /^(?:ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundred|thousand)$/,
};
const CONTRACTED = /n['’]t\b/i; // “isn't”

/**
 * What a reader should know of a text with a negation or with a number word above nine, in
 * sentences. Numbers in figures are not meant: the models copy most of them.
 */
export function lossesInWords(text, language) {
  const keys = wordsIn(text).map(wordKey);
  const has = (pattern) => keys.some((key) => pattern.test(key));
  const isNegated = has(NEGATIONS[language]) || (language === "english" && CONTRACTED.test(text));
  return [
    isNegated && "The model mistranslates most negations.",
    has(LARGE[language]) && "The model gets most number words above nine wrong.",
  ].filter(Boolean);
}
