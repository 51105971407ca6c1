// Local attention: score only the positions in a window, and nothing outside it.

import { apply, linear, sigmoid } from "../tensor.js";

/**
 * A window of D positions on each side of a centre that moves along the source: Luong et al. 2015,
 * section 3.2. Monotonic, the centre moves on step by step; predictive, the model says where.
 */
export class LocalWindow {
  constructor(weights, { window, predictive }) {
    this.window = window;
    this.predictive = predictive;
    if (predictive) {
      this.hidden = weights.matrix("place.0.weight");
      this.readout = weights.matrix("place.2.weight");
    }
  }

  /**
   * Where each query (T, Q) looks in a source of S positions, the first query at step `start`.
   *
   * @returns {{centre, allowed, weaken}} centre (T,); allowed(row, position); and a function that
   *   multiplies weights (T, S) by a Gaussian around the centre, if it was predicted
   */
  look(query, size, { mask, start }) {
    let length = size; // up to the last allowed position
    while (mask && length && !mask[length - 1]) length -= 1;
    const centre = this.centres(query, length, start);
    const allowed = (row, place) =>
      Math.abs(place - centre[row]) <= this.window && (!mask || Boolean(mask[place]));
    const weaken = ({ rows, columns, data }) => {
      if (!this.predictive) return;
      for (let row = 0, at = 0; row < rows; row += 1) {
        for (let place = 0; place < columns; place += 1, at += 1) {
          data[at] *= Math.exp(-2 * ((place - centre[row]) / this.window) ** 2); // σ = D/2
        }
      }
    };
    return { centre, allowed, weaken };
  }

  centres(query, length, start) {
    if (this.predictive) {
      const hidden = apply(linear(query, this.hidden), Math.tanh);
      return linear(hidden, this.readout).data.map((score) => length * sigmoid(score));
    }
    return Float32Array.from({ length: query.rows }, (_, row) =>
      Math.min(start + row, Math.max(length - 1, 0)),
    );
  }
}
