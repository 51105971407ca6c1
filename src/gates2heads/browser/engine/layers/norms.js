// Norms: keep the size of what flows through a deep network in bounds.

import { Matrix } from "../tensor.js";
import { note } from "../record.js";

/** Subtract each vector's mean and divide by its standard deviation: Ba et al. 2016, eq. 3–4. */
export class LayerNorm {
  constructor(weights, eps = 1e-5) {
    this.name = weights.name;
    this.weight = weights.vector("weight");
    this.bias = weights.vector("bias");
    this.eps = eps;
  }

  /** Normalise vectors (S, D) one by one. */
  forward(vectors, record = null) {
    const { rows, columns } = vectors;
    const mean = new Float32Array(rows);
    const deviation = new Float32Array(rows);
    for (let row = 0; row < rows; row += 1) {
      const one = vectors.row(row);
      const centre = sumOf(one, (number) => number) / columns;
      mean[row] = centre;
      deviation[row] = Math.sqrt(
        sumOf(one, (number) => (number - centre) ** 2) / columns + this.eps,
      );
    }
    note(record, this.name, "mean", [rows, 1], mean);
    note(record, this.name, "deviation", [rows, 1], deviation);
    const normal = new Matrix(rows, columns);
    for (let row = 0, at = 0; row < rows; row += 1) {
      for (let i = 0; i < columns; i += 1, at += 1) {
        const unit = (vectors.data[at] - mean[row]) / deviation[row];
        normal.data[at] = unit * this.weight[i] + this.bias[i];
      }
    }
    return normal;
  }
}

/** Divide each vector by its root mean square: Zhang & Sennrich 2019, eq. 4. */
export class RMSNorm {
  constructor(weights, eps = 1e-6) {
    this.name = weights.name;
    this.weight = weights.vector("weight");
    this.eps = eps;
  }

  /** Normalise vectors (S, D) one by one. */
  forward(vectors, record = null) {
    const { rows, columns } = vectors;
    const deviation = new Float32Array(rows);
    for (let row = 0; row < rows; row += 1) {
      deviation[row] = Math.sqrt(
        sumOf(vectors.row(row), (number) => number ** 2) / columns + this.eps,
      );
    }
    note(record, this.name, "deviation", [rows, 1], deviation);
    const normal = new Matrix(rows, columns);
    for (let row = 0, at = 0; row < rows; row += 1) {
      for (let i = 0; i < columns; i += 1, at += 1) {
        normal.data[at] = (vectors.data[at] / deviation[row]) * this.weight[i];
      }
    }
    return normal;
  }
}

/** The identity: the last norm of a post-norm stack. */
export class NoNorm {
  forward(vectors) {
    return vectors;
  }
}

export const NORMS = { layer: LayerNorm, rms: RMSNorm };

function sumOf(numbers, of) {
  let total = 0;
  for (let i = 0; i < numbers.length; i += 1) total += of(numbers[i]);
  return total;
}
