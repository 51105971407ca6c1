// Words through a model of attention alone: how surprising each was, and what each head attends to.

import { top } from "../../engine/decoding/top.js";
import { headsOff } from "../../engine/layers/heads_off.js";
import { Trace } from "../../engine/record.js";
import { logSoftmax } from "../../engine/tensor.js";
import { tooLong } from "../pieces.js";

export const TOP = 5; // most probable next words that are told at each position
const LAYERS = /^layers\.\d+$/;

const inBits = (logProb) => Math.abs(logProb) / Math.LN2; // 0 and not −0 where a word was certain

const SPECIAL = /^<.*>$/;

/** The number of each word, by the word in lower case: case does not matter. */
const numbersOfWords = (tokens) =>
  new Map(
    tokens.flatMap((token, number) => (SPECIAL.test(token) ? [] : [[token.toLowerCase(), number]])),
  );

/**
 * Reads words.
 *
 * payload: {text, off}; text: words with spaces between them; off: [{layer, head}…], heads to switch
 * off. Yields nothing of interest; returns {text, tokens: [piece…], bits: [number…], top: [[[piece,
 * prob]…]…], weights}, or {refused} with a sentence. tokens: `<bos>` and the words; bits: the
 * surprisal of each word, one fewer than the tokens; top: the most probable words after each token;
 * weights: {shape: [layers, heads, tokens, tokens], data}, row by row what each token attends to.
 */
export function* readRepeats(loaded, { text, off = [] }) {
  const { model, source } = loaded;
  const { tokens: pieces, bos } = source.vocabulary;
  const known = numbersOfWords(pieces);
  const words = text.split(/\s+/).filter((word) => word);
  const unknown = [...new Set(words.filter((word) => !known.has(word.toLowerCase())))];
  if (unknown.length) {
    return { refused: `The model does not know ${unknown.map((word) => `“${word}”`).join(", ")}.` };
  }
  const most = model.max_length - 1; // <bos> has a position too
  if (words.length > most) return { refused: tooLong(words.length, most, "words") };
  const numbers = [bos, ...words.map((word) => known.get(word.toLowerCase()))];
  const trace = new Trace();
  const logits = model.logits(numbers, { trace, off: headsOff(model, off) });
  yield { length: numbers.length };
  const rows = numbers.map((_, position) => logSoftmax(logits.row(position)));
  return {
    text,
    tokens: numbers.map((number) => pieces[number]),
    bits: numbers.slice(1).map((number, position) => inBits(rows[position][number])),
    top: rows.map((logProbs) =>
      top(logProbs, TOP).map((number) => [pieces[number], Math.exp(logProbs[number])]),
    ),
    weights: trace.stacked(LAYERS, "weights"),
  };
}
