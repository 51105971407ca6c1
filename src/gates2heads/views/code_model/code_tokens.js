// Tokens of source code, in numbers and words.

import { bytesOf, isBytes, textOf, visible } from "../../browser/live/pieces.js";
import { counted, share } from "../kit/shares.js";
import { top } from "../../browser/engine/decoding/top.js";

export { share };

const DARK = 12; // bits from which a token is shaded most
const encoder = new TextEncoder();

/** How strongly a token is shaded, from 0 to 1. */
export const shade = (bits) => Math.min(bits / DARK, 1);

/** A probability, given in bits. */
export const probOf = (bits) => 2 ** -bits;

/** A token in a sentence or a list: its blanks, tabs and line ends can be seen. */
export function named(piece) {
  if (piece === "<eos>") return "end of the file";
  return visible(piece)
    .replaceAll("\u2420", "␣")
    .replaceAll("\u240a", "↵")
    .replaceAll("\u2409", "⇥");
}

/** A token in the picture: text with a sign before each line end. The text is in [sign, text] pairs. */
export function drawnText(piece, isFirst = false) {
  const text = isFirst && piece.startsWith(" ") ? piece.slice(1) : piece;
  return text.split("\n").map((line, at) => (at ? ["↵", `\n${line}`] : ["", line]));
}

/**
 * Which of the tokens are in a range of the text, which counts UTF-16 units: [true, …]; a token
 * that only overlaps the range is in it.
 */
export function inRange(unread, tokens, text, range) {
  if (!range) return tokens.map(() => false);
  const [from, to] = range.map((end) => encoder.encode(text.slice(0, end)).length);
  const size = (piece) => bytesOf(piece).length;
  // The tokenizer reads a blank before the text.
  let at = unread.reduce((sum, piece) => sum + size(piece), -1);
  return tokens.map(({ piece }) => {
    const start = at;
    at += size(piece);
    return at > from && start < to;
  });
}

/** What of a range of generated text is left after an edit; null if nothing. */
export function keptRange(range, before, after) {
  if (!range) return null;
  const length = Math.min(before.length, after.length);
  let same = 0;
  while (same < length && before[same] === after[same]) same += 1;
  const to = Math.min(range[1], same);
  return to > range[0] ? [range[0], to] : null;
}

/** Totals of the tokens that were read. */
export function totals(unread, tokens) {
  const pieces = tokens.map(({ piece }) => piece);
  const text = textOf(pieces, !unread.length);
  const bits = tokens.reduce((sum, one) => sum + one.bits, 0);
  return { count: tokens.length, bits, characters: [...text].length };
}

/** The same in a sentence or two. */
export function inWords(unread, tokens) {
  if (!tokens.length) return "The text is empty. The list shows the most probable first tokens.";
  const { count, bits, characters } = totals(unread, tokens);
  const least = tokens.reduce((worst, one) => (one.bits > worst.bits ? one : worst));
  const each = characters ? ` and ${(bits / characters).toFixed(2)} bits per character` : "";
  const raw = tokens.some(({ piece }) => isBytes(piece))
    ? " A token such as <0xC3> is a single byte of a character that has no token of its own."
    : "";
  const said = `${counted(count, "token")}, ${bits.toFixed(1)} bits: ${(bits / count).toFixed(2)} bits per token${each}. The least probable token is “${named(least.piece)}” (${least.bits.toFixed(1)} bits).${raw}`;
  if (!unread.length) return said;
  return `Only the last ${counted(count, "token")} of ${(count + unread.length).toLocaleString("en")} are read, because the context has no room for more (grey: not read). ${said}`;
}

/**
 * What may come next: the most probable tokens, each with the model's probability and the one with
 * which it is sampled, and how many tokens remain.
 */
export function ahead(logProbs, narrowed, vocabulary, count) {
  return {
    kept: narrowed.reduce((sum, one) => sum + (one > -Infinity), 0),
    best: top(logProbs, count).map((token) => ({
      piece: vocabulary[token],
      prob: Math.exp(logProbs[token]),
      drawn: Math.exp(narrowed[token]),
    })),
  };
}
