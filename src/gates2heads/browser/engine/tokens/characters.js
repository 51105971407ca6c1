// Characters as tokens: every code point is one.

import { listed, refusal } from "../refusals.js";
import { textNumbers, Vocabulary, wholeCharacters } from "./vocabulary.js";

/** Split a text into characters. */
export class CharacterTokenizer {
  /**
   * @param {{tokens: string[]}} described what the library's tokenizer knows, without special
   *   tokens
   */
  constructor({ tokens }) {
    this.vocabulary = new Vocabulary(tokens);
  }

  /** Number the characters of a text; <eos> closes it unless `eos` is false. */
  encode(text, { eos = true } = {}) {
    const { index } = this.vocabulary;
    const characters = this.pieces(text);
    const unknown = [...new Set(characters)].filter((one) => !index.has(one)).sort();
    if (unknown.length) {
      const message = `text holds ${listed(unknown)}, which this model never saw`;
      throw refusal(message, { unseen: unknown });
    }
    const numbers = characters.map((one) => index.get(one));
    return eos ? [...numbers, this.vocabulary.eos] : numbers;
  }

  /** The characters themselves. */
  pieces(text) {
    return Array.from(wholeCharacters(text));
  }

  /** Put the characters together again, up to the first <eos>. */
  decode(numbers) {
    return textNumbers(numbers, this.vocabulary)
      .map((number) => this.vocabulary.tokens[number])
      .join("");
  }
}
