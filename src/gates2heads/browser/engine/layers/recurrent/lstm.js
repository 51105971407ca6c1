// Long short-term memory: a cell that is kept apart from what is shown, and three gates.

import { product, sigmoid } from "../../tensor.js";
import { bothBiases, Cell, Unrolled } from "./unroll.js";

/**
 * Advance by one time step: Hochreiter & Schmidhuber 1997 with the forget gate of Gers et al. 2000:
 * C' = F ⊙ C + I ⊙ tanh(candidate), H' = O ⊙ tanh(C').
 *
 * @param {Float32Array} projected (4U,) what the input and the biases say to input gate, forget
 *   gate, candidate and output gate, in this order
 * @param {Float32Array} hidden (U,) what was shown after the step before
 * @param {Float32Array} cell (U,) before the step
 * @param {function(string, Float32Array)} changed called with each gate before it is used
 * @returns {{hidden: Float32Array, cell: Float32Array, gates: object}} each (U,)
 */
export function lstmStep(projected, hidden, cell, { weight_hh }, changed = () => {}) {
  const units = hidden.length;
  const summed = product(weight_hh, hidden, projected); // (4U,)
  const block = (number, squash) =>
    summed.subarray(number * units, (number + 1) * units).map((sum) => squash(sum));
  const gates = {
    input: block(0, sigmoid),
    forget: block(1, sigmoid),
    candidate: block(2, Math.tanh),
    output: block(3, sigmoid),
  };
  for (const [gate, data] of Object.entries(gates)) changed(gate, data);
  const next = cell.map((old, i) => gates.forget[i] * old + gates.input[i] * gates.candidate[i]);
  changed("cell", next);
  const shown = next.map((number, i) => gates.output[i] * Math.tanh(number));
  return { hidden: shown, cell: next, gates };
}

// What a layer and a single cell do alike.
function advanceLstm(projected, [hidden, cell], weights, changed) {
  const after = lstmStep(projected, hidden, cell, weights, changed);
  return {
    next: [after.hidden, after.cell],
    seen: { ...after.gates, cell: after.cell, hidden: after.hidden },
  };
}

export class LSTMCell extends Cell {
  inputBias(weights) {
    return bothBiases(weights);
  }

  advance(projected, state, weights, changed) {
    return advanceLstm(projected, state, weights, changed);
  }
}

export class LSTM extends Unrolled {
  constructor(weights, sizes = {}) {
    super(weights, sizes);
    this.state_parts = 2;
    this.gates = ["input", "forget", "output"];
  }

  inputBias(weights) {
    return bothBiases(weights);
  }

  advance(projected, state, weights, changed) {
    return advanceLstm(projected, state, weights, changed);
  }
}
