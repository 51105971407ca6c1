// Byte-pair encoding: frequent words stay whole, rare words fall into pieces.

import { mergePieces } from "./merges.js";
import { textNumbers, Vocabulary, wholeCharacters } from "./vocabulary.js";

// White space as Unicode lists it; JavaScript's own \s knows U+FEFF and not U+0085.
const SPACE = "\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";

/**
 * Split a text into the pieces that byte-pair encoding has merged: Sennrich et al. 2016, on bytes
 * as in Radford et al. 2019. Equal to the library's, which asks 🤗 tokenizers.
 */
export class BPETokenizer {
  /**
   * @param {object} described pieces: the bytes of each token in hexadecimal; merges: left and
   *   right number of each, in turn; letters, numerals: first and last code points of each range,
   *   as the library's regular expressions know them, whatever the browser knows
   */
  constructor({ pieces, merges, letters, numerals }) {
    this.bytes = pieces.map(bytesOfHex);
    this.vocabulary = new Vocabulary(this.bytes.map(readablePiece));
    const special = this.vocabulary.length - pieces.length;
    const numbers = new Map(pieces.map((piece, place) => [piece, place + special]));
    this.numberOfByte = Array.from({ length: 256 }, (_, byte) => numbers.get(hexOfByte(byte)));
    this.mergeOf = new Map();
    for (let rank = 0; 2 * rank < merges.length; rank += 1) {
      const [left, right] = [merges[2 * rank], merges[2 * rank + 1]];
      const merged = numbers.get(pieces[left - special] + pieces[right - special]);
      this.mergeOf.set(pairKey(left, right), { rank, merged });
    }
    this.special = special;
    this.word = wordPattern(classOf(letters), classOf(numerals));
    this.known = new Map(); // words that were split before
  }

  /** Number the pieces of a text; <eos> closes it unless `eos` is false. */
  encode(text, { eos = true } = {}) {
    const encoder = new TextEncoder();
    const numbers = [];
    for (const word of this.words(text)) {
      for (const number of this.split(word, encoder)) numbers.push(number);
    }
    if (eos) numbers.push(this.vocabulary.eos);
    return numbers;
  }

  /** The words of a text, between which nothing is merged. */
  words(text) {
    return Array.from(` ${wholeCharacters(text)}`.matchAll(this.word), ([word]) => word);
  }

  /** What two neighbours become: {rank, merged}, or null if they are not merged. */
  mergeFor(left, right) {
    return this.mergeOf.get(pairKey(left, right)) ?? null;
  }

  /** The pieces of a text as a reader can read them; a leading space begins a word. */
  pieces(text) {
    return this.encode(text, { eos: false }).map((number) => this.vocabulary.tokens[number]);
  }

  /** Put the pieces together again, up to the first <eos>. */
  decode(numbers) {
    const kept = textNumbers(numbers, this.vocabulary);
    const bytes = Uint8Array.from(kept.flatMap((number) => [...this.bytes[number - this.special]]));
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    return text.startsWith(" ") ? text.slice(1) : text;
  }

  split(word, encoder) {
    const found = this.known.get(word);
    if (found) return found;
    const bytes = Array.from(encoder.encode(word), (byte) => this.numberOfByte[byte]);
    const split = mergePieces(bytes, (left, right) => this.mergeFor(left, right));
    if (this.known.size < 10000 && word.length < 50) this.known.set(word, split);
    return split;
  }
}

function pairKey(left, right) {
  return left * 2 ** 26 + right;
}

// Words between which nothing is merged: GPT-2's pattern.
function wordPattern(letter, numeral) {
  const other = `[^${SPACE}${letter}${numeral}]`;
  const parts = ["'s|'t|'re|'ve|'m|'ll|'d", ` ?[${letter}]+`, ` ?[${numeral}]+`, ` ?${other}+`];
  return new RegExp([...parts, `[${SPACE}]+(?![^${SPACE}])`, `[${SPACE}]+`].join("|"), "gu");
}

function classOf(ranges) {
  const point = (number) => `\\u{${number.toString(16)}}`;
  let written = "";
  for (let i = 0; i < ranges.length; i += 2)
    written += `${point(ranges[i])}-${point(ranges[i + 1])}`;
  return written;
}

function bytesOfHex(text) {
  return Uint8Array.from({ length: text.length / 2 }, (_, i) =>
    parseInt(text.slice(2 * i, 2 * i + 2), 16),
  );
}

function hexOfByte(byte) {
  return byte.toString(16).padStart(2, "0");
}

// The text of a piece, or its bytes where they are no whole character.
function readablePiece(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return Array.from(bytes, (byte) => `<0x${hexOfByte(byte).toUpperCase()}>`).join("");
  }
}
