// Gated recurrent units: two gates decide what of the state is read and what is kept.

import { concatenate, product, sigmoid } from "../../tensor.js";
import { Cell, Unrolled } from "./unroll.js";

/**
 * Advance by one time step: Cho et al. 2014, eq. 5–8; update ≈ 1 keeps the old state.
 *
 * The paper resets the state before the matrix product, W x + U (R ⊙ h); libraries reset after
 * it, W x + R ⊙ (U h). The two are different functions with the same parameters.
 *
 * @param {Float32Array} projected (3U,) what the input says to reset gate, update gate, candidate
 * @param {Float32Array} hidden (U,) the state before the step
 * @param {boolean} resetAfter true resets after the product, false before
 * @param {function(string, Float32Array)} changed called with each gate before it is used
 * @returns {{hidden: Float32Array, gates: object}} each (U,)
 */
export function gruStep(
  projected,
  hidden,
  { weight_hh, bias_hh },
  resetAfter = true,
  changed = () => {},
) {
  const units = hidden.length;
  const said = resetAfter
    ? product(weight_hh, hidden, bias_hh)
    : product(weight_hh.slice(0, 2 * units), hidden, bias_hh.subarray(0, 2 * units));
  const reset = said.subarray(0, units).map((number, i) => sigmoid(projected[i] + number));
  changed("reset", reset);
  const update = said
    .subarray(units, 2 * units)
    .map((number, i) => sigmoid(projected[units + i] + number));
  changed("update", update);
  let carried;
  if (resetAfter) {
    carried = said.subarray(2 * units).map((number, i) => reset[i] * number);
  } else {
    const kept = hidden.map((number, i) => reset[i] * number);
    carried = product(weight_hh.slice(2 * units, 3 * units), kept, bias_hh.subarray(2 * units));
  }
  const candidate = carried.map((number, i) => Math.tanh(projected[2 * units + i] + number));
  changed("candidate", candidate);
  const next = hidden.map((old, i) => candidate[i] + update[i] * (old - candidate[i]));
  return { hidden: next, gates: { reset, update, candidate } };
}

// What a layer and a single cell do alike.
function advanceGru(projected, [hidden], weights, changed, resetAfter) {
  const after = gruStep(projected, hidden, weights, resetAfter, changed);
  return { next: [after.hidden], seen: { ...after.gates, hidden: after.hidden } };
}

export class GRUCell extends Cell {
  constructor(weights, { reset_after = true } = {}) {
    super(weights);
    this.reset_after = reset_after;
  }

  advance(projected, state, weights, changed) {
    return advanceGru(projected, state, weights, changed, this.reset_after);
  }
}

/** A unit whose gates and candidate also read a context: Bahdanau et al. 2015, appendix A.1.1. */
export class ContextGRUCell extends GRUCell {
  constructor(weights, { reset_after = false } = {}) {
    super(weights, { reset_after });
  }

  /** Read inputs (input_size,), context (context_size,) and hidden (U,): the next hidden. */
  stepWith(inputs, context, hidden, record = null) {
    return this.step(concatenate(inputs, context), [hidden], record)[0];
  }
}

export class GRU extends Unrolled {
  constructor(weights, { reset_after = true, ...sizes } = {}) {
    super(weights, sizes);
    this.reset_after = reset_after;
    this.gates = ["reset", "update"];
  }

  advance(projected, state, weights, changed) {
    return advanceGru(projected, state, weights, changed, this.reset_after);
  }
}
