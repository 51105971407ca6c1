// What a subword model reads and writes, put together into the words that a reader sees.

import { listed } from "../engine/refusals.js";

const BYTES = /^(?:<0x[0-9A-F]{2}>)+$/;
const END = /^<(?:eos|bos|pad)>$/;
const SELECTOR = "\uFE0F"; // asks for the coloured form of the sign before it
const JOINERS = "\u200c\u200d"; // they make one sign of several, as in many emoji
const LETTER = /[\p{L}\p{N}\p{M}]/u;

/** Whether a piece is one or more single bytes of a character without a token: “<0xF0>”. */
export const isBytes = (piece) => BYTES.test(piece);

/** The bytes of a piece; one that is no text by itself is written as <0xC3><0xA4>. */
export function bytesOf(piece) {
  if (!isBytes(piece)) return [...new TextEncoder().encode(piece)];
  return piece.match(/[0-9A-F]{2}(?=>)/g).map((digits) => Number.parseInt(digits, 16));
}

/** Whether bytes end inside a character. */
function isOpen(bytes) {
  const lead = bytes.findLastIndex((byte) => (byte & 0xc0) !== 0x80);
  if (lead < 0) return false;
  const length = [0x00, 0xc0, 0xe0, 0xf0].filter((least) => bytes[lead] >= least).length;
  return bytes[lead] >= 0xc0 && bytes.length - lead < length;
}

const read = (bytes) => new TextDecoder().decode(new Uint8Array(bytes));

/**
 * The text of pieces, without <eos> and the like. Of the first pieces of a text, the blank at the
 * beginning is none of it: the tokenizer put it there.
 */
export function textOf(pieces, isFirst = false) {
  const bytes = pieces.filter((piece) => !END.test(piece)).flatMap(bytesOf);
  const text = read(bytes);
  return isFirst && text.startsWith(" ") ? text.slice(1) : text;
}

/** Pieces that end inside a character are put together with those that end it. */
function wholeCharacters(pieces) {
  const parts = [];
  pieces.forEach((piece, place) => {
    const last = parts.at(-1);
    const isSpecial = END.test(piece);
    const isRaw = !isSpecial && isBytes(piece);
    if (last && !last.isSpecial && !isSpecial && isOpen(last.bytes)) {
      last.bytes.push(...bytesOf(piece));
      last.to = place + 1;
      last.isRaw ||= isRaw;
    } else {
      parts.push({ bytes: bytesOf(piece), from: place, to: place + 1, isSpecial, isRaw });
    }
  });
  return parts;
}

/** Whether a part belongs to the word before it. */
function goesOn(word, part) {
  if (!word || word.isSpecial || part.isSpecial || part.bytes[0] === 0x20) return false;
  if (read(word.bytes) === " ") return true; // a blank, then its sign
  const [last] = [...read(word.bytes)].slice(-1);
  const [first] = read(part.bytes);
  return LETTER.test(last) && LETTER.test(first);
}

/**
 * Words of pieces: a word begins at a blank, and where letters meet other signs.
 *
 * Gives [{text, from, to, isSpecial, isRaw}]: pieces from … to − 1; isRaw tells of a character that
 * the model has only in single bytes.
 */
export function wordsOf(pieces) {
  const words = [];
  for (const part of wholeCharacters(pieces)) {
    const word = words.at(-1);
    if (goesOn(word, part)) {
      word.bytes.push(...part.bytes);
      word.to = part.to;
      word.isRaw ||= part.isRaw;
    } else {
      words.push({ ...part, bytes: [...part.bytes] });
    }
  }
  return words.map(({ bytes, from, to, isSpecial, isRaw }) => {
    const text = isSpecial ? "end" : read(bytes).replace(/^ /, "");
    return { text, from, to, isSpecial, isRaw };
  });
}

/**
 * One map (T, S) out of {shape: [layers, heads, T, S], data}: a layer or the mean of all (null),
 * a head or the mean of all (null).
 */
export function chosenMap({ shape: [layers, heads, rows, columns], data }, layer, head) {
  const some = (count, chosen) => (chosen === null ? [...Array(count).keys()] : [chosen]);
  const maps = some(layers, layer).flatMap((l) => some(heads, head).map((h) => l * heads + h));
  return Array.from({ length: rows }, (_, t) =>
    Float64Array.from(
      { length: columns },
      (_, s) =>
        maps.reduce((sum, map) => sum + data[(map * rows + t) * columns + s], 0) / maps.length,
    ),
  );
}

/** A map of pieces as a map of words: summed over what was read, averaged over what was written. */
export function wordMap(map, source, target) {
  return target.map(({ from, to }) =>
    source.map((word) => {
      let sum = 0;
      for (let t = from; t < to; t++) for (let s = word.from; s < word.to; s++) sum += map[t][s];
      return sum / (to - from);
    }),
  );
}

// What is typed, as models read it. `data/tokens/typed.py` says why, and does the same rule for rule.

const BLANKS = "\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const UNSEEN = /\xad|\u200b|\u200c|\u200e|\u200f|\u2060|\ufeff/g;
const BLANK = new RegExp(`[${BLANKS}]+`, "g");
const ENDS = new RegExp(`^[${BLANKS}]+|[${BLANKS}]+$`, "g");
const CAPITAL = /[A-ZÀ-ÖØ-Þẞ]/;
const CAPITALS = new RegExp(CAPITAL, "g");
const SMALL = /[a-zà-öø-ÿ]/;
const SIGNS = [
  [/[‘’‚ʼ´`]/g, "'"],
  [/[«»]/g, '"'],
  [/[—―]/g, "–"],
  [/[\u2010\u2011]/g, "-"],
];

/** Any running text: composed characters, single blanks, nothing of no width. */
export const composed = (text) =>
  text.replace(UNSEEN, "").normalize("NFC").replace(BLANK, " ").replace(ENDS, "");

/** A date: a model of many languages knows other blanks than the common one. */
export const spelled = (text) =>
  text
    .normalize("NFC")
    .replace(/[ \t\r\n]+/g, " ")
    .replace(ENDS, "");

/** Whether two words or more hold capitals and none holds a small letter; ß counts as neither. */
export const isInCapitals = (text) =>
  !SMALL.test(text) && text.split(" ").filter((word) => CAPITAL.test(word)).length >= 2;

/** German or English as the captions are written: their quotation marks, and not all in capitals. */
export function tidy(text) {
  let plain = SIGNS.reduce((some, [signs, sign]) => some.replace(signs, sign), composed(text));
  plain = plain.includes("„") ? plain.replaceAll("”", "“") : plain.replace(/[“”]/g, '"');
  if (!isInCapitals(plain)) return plain;
  const first = plain.search(CAPITAL) + 1;
  const small = plain.slice(first).replace(CAPITALS, (sign) => sign.toLowerCase());
  return plain.slice(0, first) + small;
}

const LONG_WORD = 30; // letters: no word of a table of words is as long

/** A word, cut off where it is too long for a sentence, a heading or a map. */
export function shortened(word) {
  const letters = [...word];
  return letters.length <= LONG_WORD ? word : `${letters.slice(0, LONG_WORD).join("")}…`;
}

/** What is said of a text that is longer than what is read. */
export const tooLong = (length, most, unit) => `Too long: ${length} ${unit} (maximum ${most}).`;

/** What is said of fields that hold at most so many characters, if one of them is full. */
export const fullInWords = (texts, most) =>
  texts.some((text) => text.length >= most)
    ? ` The field is full: it holds ${most} characters, and further text is not inserted.`
    : "";

/** What a model says of a text that it cannot read, in a reader's words. */
export function refusalInWords({ message, refused = {} }) {
  const { unseen, most, length } = refused;
  if (unseen) return `The model cannot read this: ${listed(unseen)} did not occur in training.`;
  if (most) return tooLong(length, most, "tokens");
  return `The model cannot read this: ${message}.`;
}

/** A word as it can be seen: signs for blanks and for control characters. */
export function visible(text) {
  const shown = [...text].map((character) => {
    const code = character.codePointAt(0);
    if (code < 0x21) return String.fromCodePoint(0x2400 + code);
    if (code === 0x7f) return "␡";
    if (!/\p{C}/u.test(character) || JOINERS.includes(character)) return character;
    return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  });
  return shown.join("") || "␣";
}

const MOST_NAMED = 6;

/** Which words the models do not know, in a sentence; nothing where they know all. */
export function unknownInWords(strange) {
  if (!strange.length) return "";
  const named = strange.slice(0, MOST_NAMED).map((token) => `“${visible(token)}”`);
  const more = strange.length > MOST_NAMED ? `, and ${strange.length - MOST_NAMED} more` : "";
  return `Out of vocabulary: ${named.join(", ")}${more}. The models read each as ‹unk›.`;
}

/** What a reader should know of characters without a token; empty where every one has a token. */
export function bytesInWords(pieces) {
  const raw = wordsOf(pieces).filter((word) => word.isRaw && word.text !== SELECTOR);
  if (!raw.length) return "";
  const names = raw.map((word) => `“${visible(word.text.replace(SELECTOR, ""))}”`);
  const some = [...new Set(names)].slice(0, MOST_NAMED).join(", ");
  return `The vocabulary has no token for ${some}, so the model reads single bytes and has to guess.`;
}
