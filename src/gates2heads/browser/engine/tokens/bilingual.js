// English by the word and Chinese by the character.

import { textNumbers, Vocabulary, wholeCharacters } from "./vocabulary.js";

// Python's blanks, which are not quite JavaScript's
const BLANK =
  "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const SIGN = "\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff";
const LETTER = `(?:(?![${SIGN}])[\\p{L}\\p{N}_])`;
const TOKEN = new RegExp(
  `\\[MASK\\]|[${SIGN}]|${LETTER}+(?:['’-]${LETTER}+)*|[^\\p{L}\\p{N}_${BLANK}]`,
  "gu",
);
const MARK = new RegExp(`^[^\\p{L}\\p{N}_${BLANK}<>[\\]&(“]$`, "u");
const CLOSE = new RegExp(`^[${SIGN}，。、？]$`, "u");

/** How a masked token is written where a reader sees or types it. */
export const MASK = "[MASK]";

/** Cut a text into words, Chinese characters, punctuation marks and [MASK], without spaces. */
export function splitBilingual(text) {
  return text.match(TOKEN) ?? [];
}

/** Put tokens together: a blank between two words, none beside a Chinese sign or before a mark. */
export function writeBilingual(tokens) {
  let text = "";
  for (const token of tokens) {
    const isClose =
      !text || MARK.test(token) || CLOSE.test([...token][0]) || CLOSE.test([...text].at(-1));
    text += isClose ? token : ` ${token}`;
  }
  return text;
}

/** Cut a text into English words, single Chinese characters and punctuation marks; number them. */
export class BilingualTokenizer {
  /** @param {{tokens: string[]}} described what the library's tokenizer knows, <unk> first */
  constructor({ tokens }) {
    this.vocabulary = new Vocabulary(tokens);
    this.vocabulary.unk = 3;
  }

  /**
   * Number the tokens of a text, <unk> for those that are not known; <eos> closes it unless `eos`
   * is false.
   */
  encode(text, { eos = true } = {}) {
    const { index, unk } = this.vocabulary;
    const tokens = this.pieces(text);
    if (!tokens.length) throw new Error("text must hold at least one word or character");
    const numbers = tokens.map((token) => index.get(token) ?? unk);
    return eos ? [...numbers, this.vocabulary.eos] : numbers;
  }

  /** The tokens themselves. */
  pieces(text) {
    return splitBilingual(wholeCharacters(text));
  }

  /** Write the tokens up to the first <eos>. */
  decode(numbers) {
    const { tokens } = this.vocabulary;
    return writeBilingual(textNumbers(numbers, this.vocabulary).map((number) => tokens[number]));
  }
}
