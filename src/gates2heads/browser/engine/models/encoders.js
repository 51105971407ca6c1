// Encoders: what reads the source. Each gives a state for every position, and one summary.

import { concatenate, embedding } from "../tensor.js";
import { recurrentLayer } from "../layers/recurrent/recurrent.js";

/** Read the source with a recurrent network: `Encoder` and `RecurrentEncoder` of the library. */
export class RecurrentEncoder {
  constructor(weights, settings) {
    this.table = weights.matrix("embedding.weight");
    this.recurrent = recurrentLayer(weights.part("recurrent"), settings);
  }

  /** How many tokens the encoder knows. */
  get size() {
    return this.table.rows;
  }

  /**
   * Read a source of S tokens.
   *
   * @returns {{states: Matrix, summary: Float32Array}} (S, U) of the last layer, and (U,): its
   *   state after the last real token, and with it that of the other direction after the first
   */
  forward(source, { mask = null, record = null } = {}) {
    const vectors = embedding(source, this.table);
    const { states, carried } = this.recurrent.run(vectors, undefined, { mask, record });
    const hidden = carried[0];
    const directions = this.recurrent.bidirectional ? 2 : 1;
    const last = Array.from({ length: directions }, (_, i) =>
      hidden.row(hidden.rows - directions + i),
    );
    return { states, summary: concatenate(...last) };
  }
}
