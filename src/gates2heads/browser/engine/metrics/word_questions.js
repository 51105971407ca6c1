// One, two or three words asked of their vectors, and the answer as a map of two axes.

import { dot, normalised } from "./word_vectors.js";

export const MOST_WORDS = 3;
export const GOAL = "b − a + c"; // the point of the map that is no word

/**
 * Lay vectors out on the two axes along which they spread most; the farthest point of an axis lies
 * on its positive side.
 *
 * @returns {{places: number[][], shares: number[]}} (N, 2), and how much of the spread each axis
 *   shows
 */
export function flatMap(vectors) {
  const count = vectors.length;
  const mean = Float64Array.from(
    vectors[0],
    (_, i) => vectors.reduce((total, one) => total + one[i], 0) / count,
  );
  const centred = vectors.map((one) => Float64Array.from(one, (number, i) => number - mean[i]));
  const { values, axes } = eigen(centred.map((x) => centred.map((y) => dot(x, y))));
  const spread = centred.reduce((total, one) => total + dot(one, one), 0);
  const order = values
    .map((_, place) => place)
    .sort((x, y) => values[y] - values[x])
    .slice(0, 2);
  const found = order.map((place) => {
    const value = Math.max(values[place], 0);
    const axis = axes.map((row) => row[place]);
    const farthest = axis.reduce(
      (best, number) => (Math.abs(number) > Math.abs(best) ? number : best),
      0,
    );
    const scale = Math.sqrt(value) * (farthest < 0 ? -1 : 1);
    return { along: axis.map((number) => number * scale), share: spread > 0 ? value / spread : 0 };
  });
  while (found.length < 2) found.push({ along: vectors.map(() => 0), share: 0 });
  return {
    places: vectors.map((_, point) => found.map(({ along }) => along[point])),
    shares: found.map(({ share }) => share),
  };
}

/** Eigenvalues of a symmetric matrix, and eigenvectors as columns, by Jacobi's rotations. */
export function eigen(matrix) {
  const size = matrix.length;
  const a = matrix.map((row) => [...row]);
  const axes = a.map((_, i) => a.map((_, j) => Number(i === j)));
  const whole = a.reduce((total, row) => total + dot(row, row), 0);
  for (let sweep = 0; sweep < 60; sweep += 1) {
    let off = 0;
    for (let p = 0; p < size; p += 1) for (let q = p + 1; q < size; q += 1) off += a[p][q] ** 2;
    if (off <= 1e-26 * whole) break;
    for (let p = 0; p < size; p += 1) for (let q = p + 1; q < size; q += 1) turnAxes(a, axes, p, q);
  }
  return { values: a.map((row, i) => row[i]), axes };
}

/** Turn the axes p and q so that a[p][q] becomes 0. */
function turnAxes(a, axes, p, q) {
  if (a[p][q] === 0) return;
  const half = (a[q][q] - a[p][p]) / (2 * a[p][q]);
  const tangent = (half < 0 ? -1 : 1) / (Math.abs(half) + Math.sqrt(half * half + 1));
  const cosine = 1 / Math.sqrt(tangent * tangent + 1);
  const sine = tangent * cosine;
  const turn = (rows, i, j) => {
    const [x, y] = [rows[i][p], rows[j][q]];
    rows[i][p] = cosine * x - sine * y;
    rows[j][q] = sine * x + cosine * y;
  };
  for (let k = 0; k < a.length; k += 1) turn(a, k, k);
  for (let k = 0; k < a.length; k += 1) {
    const [x, y] = [a[p][k], a[q][k]];
    a[p][k] = cosine * x - sine * y;
    a[q][k] = sine * x + cosine * y;
  }
  for (let k = 0; k < axes.length; k += 1) turn(axes, k, k);
}

/**
 * Find the neighbours of one word, the words that distinguish two, or the fourth word to three.
 *
 * @returns {{asked, cosines, found, points, places, shares}} as `ask_words` of the library
 */
export function askWords(vectors, words, { count = 10, exclude = true } = {}) {
  if (words.length < 1 || words.length > MOST_WORDS) {
    throw new Error(`words must be one, two or three, got ${words.length}`);
  }
  const [a, b, c] = words;
  const points = new Map(words.map((word) => [word, vectors.unitVector(word)]));
  let found;
  if (c !== undefined) {
    found = [vectors.analogy(a, b, c, count, { exclude })];
    points.set(GOAL, normalised(vectors.fourth(a, b, c)));
  } else if (b !== undefined) {
    found = [vectors.towards(a, b, count, { exclude }), vectors.towards(b, a, count, { exclude })];
  } else {
    found = [vectors.nearest(a, count)];
  }
  for (const [word] of found.flat()) points.set(word, vectors.unitVector(word));
  const pairs = [
    [a, b],
    [a, c],
    [b, c],
  ].filter(([x, y]) => x !== undefined && y !== undefined);
  return {
    asked: words,
    cosines: pairs.map(([x, y]) => vectors.similarity(x, y)),
    found,
    points: [...points.keys()],
    ...flatMap([...points.values()]),
  };
}
