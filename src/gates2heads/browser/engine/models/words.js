// Word vectors as they are handed on: a row for each word, whatever model made them.

import { WordVectors } from "../metrics/word_vectors.js";

export class WordTable {
  constructor(weights, { words }) {
    this.words = words;
    this.vectors = weights.matrix("vectors.weight");
    this.known = null;
  }

  /** The words with their vectors, ready to be compared; made once. */
  compared() {
    this.known ??= new WordVectors(this.words, this.vectors);
    return this.known;
  }
}
