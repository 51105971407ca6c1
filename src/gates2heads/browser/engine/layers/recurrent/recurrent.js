// Recurrent layers by name.

import { GRU } from "./gru.js";
import { LSTM } from "./lstm.js";
import { RNN } from "./rnn.js";

const CELLS = { rnn: RNN, gru: GRU, lstm: LSTM };

/** The layer whose cell is "rnn", "gru" or "lstm"; the other settings are the layer's. */
export function recurrentLayer(weights, { cell, ...settings }) {
  if (!Object.hasOwn(CELLS, cell))
    throw new Error(`cell must be one of ${Object.keys(CELLS).join(", ")}, got ${cell}`);
  return new CELLS[cell](weights, settings);
}
