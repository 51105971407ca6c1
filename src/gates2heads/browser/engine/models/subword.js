// Subword vectors: a word is the mean of its character n-grams, so an unseen word has one too.

import { WordVectors, dot, normalised } from "../metrics/word_vectors.js";
import { Matrix } from "../tensor.js";

const OFFSET = 2166136261; // of FNV-1a with 32 bits
const PRIME = 16777619;

/** The character n-grams of `<word>`, by where they begin and then by length. */
export function characterNgrams(word, shortest = 3, longest = 5) {
  const marked = ["<", ...word, ">"];
  const found = [];
  for (let start = 0; start < marked.length; start += 1)
    for (let length = shortest; length <= longest && start + length <= marked.length; length += 1)
      found.push(marked.slice(start, start + length).join(""));
  return found;
}

/** The 32-bit FNV-1a hash of the bytes of a text in UTF-8; a byte above 127 counts as negative. */
export function fnvHash(text) {
  let value = OFFSET;
  for (const byte of new TextEncoder().encode(text))
    value = Math.imul(value ^ ((byte << 24) >> 24), PRIME);
  return value >>> 0;
}

/** The rows of words and buckets, and what a word makes of them. */
class Subwords {
  /**
   * @param {Matrix} weight (own + buckets, D)
   * @param {{buckets, own, shortest, longest}} sizes as in the library
   */
  constructor(weight, { buckets, own, shortest, longest }) {
    Object.assign(this, { weight, buckets, own, shortest, longest });
  }

  ngrams(word) {
    return characterNgrams(word, this.shortest, this.longest);
  }

  /** The vector of an n-gram. */
  piece(ngram) {
    return this.weight.row(this.own + (fnvHash(ngram) % this.buckets));
  }

  /** The mean of the rows of known word `number`. */
  wordVector(word, number) {
    const pieces = this.ngrams(word).map((ngram) => this.piece(ngram));
    if (number < this.own) pieces.unshift(this.weight.row(number));
    return mean(pieces);
  }
}

/** Known words with their vectors; any other word is compared by its known n-grams. */
export class SubwordVectors extends WordVectors {
  constructor(words, table) {
    const { columns } = table.weight;
    const vectors = new Matrix(words.length, columns);
    words.forEach((word, number) =>
      vectors.data.set(table.wordVector(word, number), number * columns),
    );
    super(words, vectors);
    this.table = table;
    this.knownNgrams = new Set(words.flatMap((word) => table.ngrams(word)));
  }

  has(word) {
    return this.isInVocabulary(word) || this.knownPieces(word).length > 0;
  }

  /** The n-grams of a word that are also in a known word. */
  knownPieces(word) {
    return this.table.ngrams(word).filter((ngram) => this.knownNgrams.has(ngram));
  }

  unitVector(word) {
    if (this.isInVocabulary(word)) return super.unitVector(word);
    return normalised(mean(this.pieces(word)));
  }

  /** [[n-gram, share]…]: what each known n-gram contributes to a word's vector, largest first. */
  carriedBy(word) {
    const pieces = this.pieces(word);
    const whole = mean(pieces);
    const length = pieces.length * Math.max(dot(whole, whole), 1e-300);
    return this.knownPieces(word)
      .map((ngram, place) => [ngram, dot(pieces[place], whole) / length])
      .sort((one, other) => other[1] - one[1]);
  }

  pieces(word) {
    const known = this.knownPieces(word);
    if (!known.length)
      throw new Error(`word must share a character n-gram with a known word, got ${word}`);
    return known.map((ngram) => this.table.piece(ngram));
  }
}

/** Subword vectors as they are handed on. */
export class SubwordTable {
  constructor(weights, { words, ...sizes }) {
    this.words = words;
    this.vectors = new Subwords(weights.matrix("vectors.weight"), sizes);
    this.known = null;
  }

  /** The words with their vectors, ready to be compared, also with unseen words; made once. */
  compared() {
    this.known ??= new SubwordVectors(this.words, this.vectors);
    return this.known;
  }
}

function mean(vectors) {
  const total = new Float64Array(vectors[0].length);
  for (const vector of vectors) for (let i = 0; i < total.length; i += 1) total[i] += vector[i];
  return total.map((number) => number / vectors.length);
}
