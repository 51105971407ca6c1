// A vocabulary: the integer of each token.

const SPECIAL_TOKENS = ["<pad>", "<bos>", "<eos>"];

/** Number tokens from 0, the special tokens first. */
export class Vocabulary {
  constructor(tokens) {
    [this.pad, this.bos, this.eos] = [0, 1, 2];
    this.tokens = [...SPECIAL_TOKENS, ...tokens];
    this.index = new Map(this.tokens.map((token, number) => [token, number]));
  }

  get length() {
    return this.tokens.length;
  }
}

/** The numbers of the text: up to the first <eos>, without <pad> and <bos>. */
export function textNumbers(numbers, vocabulary) {
  const kept = [];
  for (const number of numbers) {
    if (!Number.isInteger(number) || number < 0 || number >= vocabulary.length) {
      throw new Error(
        `numbers holds ${number}, but the vocabulary knows 0 to ${vocabulary.length - 1}`,
      );
    }
    if (number === vocabulary.eos) break;
    if (number !== vocabulary.pad && number !== vocabulary.bos) kept.push(number);
  }
  return kept;
}

/** A text as whole characters: half of a pair that lost its other half becomes U+FFFD. */
export function wholeCharacters(text) {
  if (typeof text !== "string") throw new Error(`text must be a string, got ${typeof text}`);
  if (!text) throw new Error("text is empty; it must hold at least one character");
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}
