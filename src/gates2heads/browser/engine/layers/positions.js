// Position vectors: attention does not see order, so order is written into what it sees.

import { Matrix } from "../tensor.js";

// Angles p / 10000^(2i/D), in double precision as in the library: they are large where their sines
// are small.
function angleOf(position, pair, size) {
  return position * 10000 ** ((-2 * pair) / size);
}

/** Waves of growing length, read off at a position: Vaswani et al. 2017, section 3.5: (D,). */
export function sinusoids(position, size) {
  return Float32Array.from({ length: size }, (_, i) => {
    const angle = angleOf(position, i >> 1, size);
    return i % 2 ? Math.cos(angle) : Math.sin(angle);
  });
}

/**
 * Turn each vector by angles that grow with its position: Su et al. 2021, section 3.2.2.
 *
 * @param {Matrix} vectors (L, H · K), heads side by side, the first row at position `start`
 * @param {number} heads H; position p turns dimensions i and i + K/2 of a head by p / 10000^(2i/K)
 */
export function rotate(vectors, heads, start = 0) {
  const width = vectors.columns / heads;
  const turned = new Matrix(vectors.rows, vectors.columns);
  for (let pair = 0; pair < width / 2; pair += 1) {
    for (let row = 0; row < vectors.rows; row += 1) {
      const angle = angleOf(start + row, pair, width);
      const sine = Math.sin(angle);
      const cosine = Math.cos(angle);
      for (let head = 0; head < heads; head += 1) {
        const at = row * vectors.columns + head * width + pair;
        const left = vectors.data[at];
        const right = vectors.data[at + width / 2];
        turned.data[at] = left * cosine - right * sine;
        turned.data[at + width / 2] = left * sine + right * cosine;
      }
    }
  }
  return turned;
}

/** Add to each vector the wave of its position. Nothing is learned, and no length is too long. */
export class SinusoidalPositions {
  forward(vectors, start = 0) {
    return joined(vectors, (row) => sinusoids(start + row, vectors.columns));
  }
}

/** Add to each vector the learned vector of its position: Gehring et al. 2017, section 3.1. */
export class LearnedPositions {
  constructor(weights) {
    this.table = weights.matrix("table");
  }

  forward(vectors, start = 0) {
    const last = start + vectors.rows - 1;
    if (last >= this.table.rows) {
      throw new Error(`vectors must end within ${this.table.rows} positions, got position ${last}`);
    }
    return joined(vectors, (row) => this.table.row(start + row));
  }
}

/** Those that the weights hold: a table is learned, no table are waves. */
export function positionsOf(weights) {
  return weights.has("table") ? new LearnedPositions(weights) : new SinusoidalPositions();
}

function joined(vectors, encode) {
  const placed = new Matrix(vectors.rows, vectors.columns, Float32Array.from(vectors.data));
  for (let row = 0; row < vectors.rows; row += 1) {
    const encoded = encode(row);
    const target = placed.row(row);
    for (let i = 0; i < target.length; i += 1) target[i] += encoded[i];
  }
  return placed;
}
