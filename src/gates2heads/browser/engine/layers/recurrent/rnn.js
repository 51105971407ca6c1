// Plain recurrent networks: the state is a squashed sum of the input and the state before.

import { product, relu } from "../../tensor.js";
import { bothBiases, Cell, Unrolled } from "./unroll.js";

const NONLINEARITIES = { tanh: Math.tanh, relu };

/** h' = φ(W x + b + U h), from projected (U,) = W x + b and hidden (U,): Elman 1990. */
export function rnnStep(projected, hidden, weight_hh, nonlinearity = "tanh") {
  const squash = NONLINEARITIES[nonlinearity];
  return product(weight_hh, hidden, projected).map((number) => squash(number));
}

// What a layer and a single cell do alike: the state is all that there is to see.
function advanceRnn(projected, [hidden], { weight_hh }, changed, nonlinearity) {
  const next = rnnStep(projected, hidden, weight_hh, nonlinearity);
  changed("hidden", next);
  return { next: [next], seen: { hidden: next } };
}

export class RNNCell extends Cell {
  constructor(weights, { nonlinearity = "tanh" } = {}) {
    super(weights);
    this.nonlinearity = nonlinearity;
  }

  inputBias(weights) {
    return bothBiases(weights);
  }

  advance(projected, state, weights, changed) {
    return advanceRnn(projected, state, weights, changed, this.nonlinearity);
  }
}

export class RNN extends Unrolled {
  constructor(weights, { nonlinearity = "tanh", ...sizes } = {}) {
    super(weights, sizes);
    this.nonlinearity = nonlinearity;
  }

  inputBias(weights) {
    return bothBiases(weights);
  }

  advance(projected, state, weights, changed) {
    return advanceRnn(projected, state, weights, changed, this.nonlinearity);
  }
}
