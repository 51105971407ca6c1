// Words with their vectors, compared by the cosine of the angle between them.

export class WordVectors {
  /**
   * @param {string[]} words V distinct words
   * @param {Matrix} vectors (V, D); row i belongs to words[i]
   */
  constructor(words, vectors) {
    if (words.length !== vectors.rows) {
      throw new Error(
        `vectors must have one row for each of ${words.length} words, got ${vectors.rows}`,
      );
    }
    this.words = words;
    this.index = new Map(words.map((word, number) => [word, number]));
    this.unit = words.map((_, number) => normalised(vectors.row(number)));
  }

  has(word) {
    return this.index.has(word);
  }

  /** Whether a word has a vector of the training, and not one made of n-grams. */
  isInVocabulary(word) {
    return this.index.has(word);
  }

  /** (D,): the vector of a word, scaled to length 1. */
  unitVector(word) {
    const number = this.index.get(word);
    if (number === undefined)
      throw new Error(`word must be one of the ${this.words.length} known, got ${word}`);
    return this.unit[number];
  }

  similarity(first, second) {
    return dot(this.unitVector(first), this.unitVector(second));
  }

  /** [[word, cosine]…] with the largest cosine to a word, itself left out, best first. */
  nearest(word, count) {
    return this.best(this.unitVector(word), count, [word]);
  }

  /** The words nearest to b − a: what distinguishes b from a. */
  towards(a, b, count, { exclude = true } = {}) {
    return this.best(
      sum([-1, this.unitVector(a)], [1, this.unitVector(b)]),
      count,
      exclude ? [a, b] : [],
    );
  }

  /** "a is to b as c is to ?": the words nearest to b − a + c. */
  analogy(a, b, c, count, { exclude = true } = {}) {
    return this.best(this.fourth(a, b, c), count, exclude ? [a, b, c] : []);
  }

  /** b − a + c of unit vectors. */
  fourth(a, b, c) {
    return sum([-1, this.unitVector(a)], [1, this.unitVector(b)], [1, this.unitVector(c)]);
  }

  best(query, count, without) {
    const direction = normalised(query);
    const left = new Set(without.map((word) => this.index.get(word))); // undefined: an unseen word
    const cosines = this.unit.map((vector) => dot(vector, direction));
    return cosines
      .map((_, number) => number)
      .filter((number) => !left.has(number))
      .sort((x, y) => cosines[y] - cosines[x] || x - y)
      .slice(0, count)
      .map((number) => [this.words[number], cosines[number]]);
  }
}

export function dot(x, y) {
  let total = 0;
  for (let i = 0; i < x.length; i += 1) total += x[i] * y[i];
  return total;
}

/** A vector of length 1; a zero vector stays zero. */
export function normalised(vector) {
  const length = Math.sqrt(dot(vector, vector));
  return Float64Array.from(vector, (number) => (length > 0 ? number / Math.max(length, 1e-12) : 0));
}

/** Σ weight · vector over pairs [weight, vector]. */
export function sum(...pairs) {
  const at = (i) => pairs.reduce((total, [weight, vector]) => total + weight * vector[i], 0);
  return Float64Array.from(pairs[0][1], (_, i) => at(i));
}
