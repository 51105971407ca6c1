// What a tokenizer makes of a text with only some of its merges. Pure functions, tested beside the
// library.

import { isBytes, visible } from "../../browser/live/pieces.js";
import { BPETokenizer } from "../../browser/engine/tokens/bpe.js";
import { wholeCharacters } from "../../browser/engine/tokens/vocabulary.js";

const BYTES = 256; // tokens without any merge, beside the special ones

/** The tokenizer that `described` gives with its first `count` merges. */
export function withMerges(described, count) {
  const { pieces, merges } = described;
  return new BPETokenizer({
    ...described,
    pieces: pieces.slice(0, BYTES + count),
    merges: merges.slice(0, 2 * count),
  });
}

/** The words of a text, between which nothing is merged, each with its tokens: [{word, tokens}]. */
export function wordsWithTokens(tokenizer, text) {
  if (!text) return [];
  const encoder = new TextEncoder();
  return tokenizer.words(text).map((word) => ({ word, tokens: tokenizer.split(word, encoder) }));
}

/**
 * How a word is put together: [{merge, tokens}…], `merge` counted from 1; the first entry has the
 * single bytes and merge 0.
 */
export function historyOf(tokenizer, word) {
  const bytes = [...new TextEncoder().encode(word)];
  let tokens = bytes.map((byte) => tokenizer.numberOfByte[byte]);
  const steps = [{ merge: 0, tokens }];
  for (;;) {
    const found = tokens
      .slice(1)
      .map((right, at) => tokenizer.mergeFor(tokens[at], right))
      .filter(Boolean);
    if (!found.length) return steps;
    const first = found.reduce((best, one) => (one.rank < best.rank ? one : best));
    tokens = merged(tokenizer, tokens, first.rank);
    steps.push({ merge: first.rank + 1, tokens });
  }
}

/** Every pair of neighbours that one merge joins is joined, from the left. */
function merged(tokenizer, tokens, rank) {
  const joined = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const found = tokenizer.mergeFor(tokens[at], tokens[at + 1]);
    joined.push(found?.rank === rank ? found.merged : tokens[at]);
    if (found?.rank === rank) at += 1;
  }
  return joined;
}

/** A token as it is shown: ␣ for a space, bytes that are no character in hexadecimal. */
export function shownToken(tokenizer, number) {
  const text = tokenizer.vocabulary.tokens[number];
  if (isBytes(text)) return text.replace(/<0x(..)>/g, "$1 ").trim();
  return [...text].map((sign) => (sign === " " ? "␣" : visible(sign))).join("");
}

/** What one merge joins: {left, right, merged}, `merge` counted from 1; null for none. */
export function mergeInWords(tokenizer, described, merge) {
  if (!merge) return null;
  const [left, right] = described.merges.slice(2 * merge - 2, 2 * merge);
  const { merged: number } = tokenizer.mergeFor(left, right);
  return {
    left: shownToken(tokenizer, left),
    right: shownToken(tokenizer, right),
    merged: shownToken(tokenizer, number),
  };
}

/**
 * Characters, bytes, words (what spaces separate) and tokens of a text; `bytesRead` also counts the
 * space that the tokenizer adds in front.
 */
export function countsOf(tokenizer, text) {
  const whole = text ? wholeCharacters(text) : "";
  const encoder = new TextEncoder();
  const read = wordsWithTokens(tokenizer, text);
  return {
    characters: [...whole].length,
    bytes: encoder.encode(whole).length,
    bytesRead: read.reduce((sum, { word }) => sum + encoder.encode(word).length, 0),
    words: whole.split(/\s+/u).filter(Boolean).length,
    tokens: read.reduce((sum, { tokens }) => sum + tokens.length, 0),
  };
}
