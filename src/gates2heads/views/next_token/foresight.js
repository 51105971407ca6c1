// Surprise, in numbers and words.

import { isBytes, visible, wordsOf } from "../../browser/live/pieces.js";
import { counted, raised, share } from "../kit/shares.js";

export { counted, share };

const END = "<eos>";
const LARGE = 1e4; // a perplexity from which powers of ten are easier to read

/**
 * Bits as they travel: what has no probability is null in a saved state, and Infinity from a model.
 */
export const bitsOf = (value) => value ?? Infinity;

export const told = (bits) => (bits === Infinity ? "∞" : bits.toFixed(1));

/** A perplexity; none of no tokens. */
export function perplexity(bits) {
  if (!bits.length) return "–";
  const mean = bits.reduce((sum, one) => sum + one, 0) / bits.length;
  if (mean === Infinity) return "∞";
  return mean < Math.log2(LARGE) ? (2 ** mean).toFixed(1) : inPowers(mean);
}

/** A positive number, of which the logarithm to the base 2 is given: 2.6 × 10⁶. */
export function inPowers(log2) {
  const log10 = log2 * Math.log10(2);
  let power = Math.floor(log10);
  let digits = (10 ** (log10 - power)).toFixed(1);
  if (digits === "10.0") [digits, power] = ["1.0", power + 1];
  return `${digits} × 10${raised(power)}`;
}

/** A probability, of which the logarithm to the base 2 is given: 0.19, or 3.2 × 10⁻⁷. */
export const probability = (log2) =>
  log2 > Math.log2(0.01) ? (2 ** log2).toFixed(2) : inPowers(log2);

/** Whether a model went on after what ends a sentence in a text. */
export function wentOn(before, pieces) {
  const read = [before.trim().at(-1) ?? "", ...pieces.map((piece) => piece.trim())];
  return read.some(
    (sign, at) => /^[.!?]$/.test(sign) && at + 1 < read.length && read[at + 1] !== END,
  );
}

/** Words of tokens with the bits of each column: [{text, bits: [a column…], tokens: a count}]. */
export function surprises(columns) {
  return wordsOf(columns[0].tokens).map(({ text, from, to }) => ({
    text: visible(text),
    bits: columns.map(({ bits }) => sum(bits.slice(from, to).map(bitsOf))),
    tokens: to - from,
  }));
}

export const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);

/** A token as a button shows it: one that continues a word follows a raised point, the end is a word. */
export function named(piece) {
  if (piece === END) return "end";
  if (piece.startsWith(" ")) return visible(piece.slice(1)) || "␣";
  return /^\p{L}/u.test(piece) ? `·${visible(piece)}` : visible(piece);
}

/** The text with a token appended; null where the token cannot be typed. */
export function extended(text, piece) {
  if (piece === END || isBytes(piece) || /^<(?:pad|bos)>$/.test(piece)) return null;
  return `${text}${piece}`.replace(/\s+/g, " ").trim();
}

/** How many tokens are left, and what those hold that are not shown. */
export function restInWords({ ahead, kept }) {
  if (!kept)
    return "The model keeps no trigram that begins with these two tokens (trigrams that occurred only once were pruned), so it assigns no probability.";
  const rest = Math.max(0, 1 - sum(ahead.map(({ drawn }) => drawn)));
  const shown = ahead.filter(({ drawn }) => drawn > 0).length;
  const others = kept - shown;
  if (others <= 0) return "all other tokens: 0";
  return others === 1
    ? `1 other token: ${share(rest)}`
    : `${others.toLocaleString("en")} other tokens: ${share(rest)} in total`;
}
