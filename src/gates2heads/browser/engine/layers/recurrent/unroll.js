// Unroll a step along time, in layers and directions: what all recurrent layers share.

import { beside, linear, Matrix, oneRow, product } from "../../tensor.js";
import { change } from "../../record.js";
import { checkMask } from "../masks.js";

/** The parameters of one layer in one direction; G blocks of U rows, one block a gate. */
export function recurrentWeights(weights, suffix = "") {
  return {
    weight_ih: weights.matrix(`weight_ih${suffix}`),
    weight_hh: weights.matrix(`weight_hh${suffix}`),
    bias_ih: weights.vector(`bias_ih${suffix}`),
    bias_hh: weights.vector(`bias_hh${suffix}`),
  };
}

/** Their sum: for layers that add the contributions of input and state directly. */
export function bothBiases({ bias_ih, bias_hh }) {
  return bias_ih.map((bias, i) => bias + bias_hh[i]);
}

/** One recurrent step; a subclass says in `advance` what it does, as does `Unrolled`. */
export class Cell {
  constructor(weights) {
    this.name = weights.name;
    this.weights = recurrentWeights(weights);
    this.hidden_size = this.weights.weight_hh.columns;
  }

  /** Read inputs (input_size,) and the parts of the state, each (U,); give the next parts. */
  step(inputs, state, record = null) {
    const projected = product(this.weights.weight_ih, inputs, this.inputBias(this.weights));
    const shape = [1, this.hidden_size];
    const changed = (gate, data) => change(record, this.name, gate, shape, data);
    const { next, seen } = this.advance(projected, state, this.weights, changed);
    if (record && record.trace) {
      for (const [gate, data] of Object.entries(seen))
        record.trace.add(this.name, gate, shape, data);
    }
    return next;
  }

  inputBias({ bias_ih }) {
    return bias_ih;
  }
}

/** A recurrent step along a sequence, in one or more layers, one or two directions. */
export class Unrolled {
  constructor(weights, { num_layers = 1, bidirectional = false } = {}) {
    this.name = weights.name;
    this.num_layers = num_layers;
    this.bidirectional = bidirectional;
    this.state_parts = 1; // how many vectors are carried along: 2 for an LSTM
    this.gates = []; // by the names under which they are noted
    this.layers = Array.from({ length: num_layers }, (_, layer) =>
      (bidirectional ? [`_l${layer}`, `_l${layer}_reverse`] : [`_l${layer}`]).map((suffix) => ({
        suffix,
        weights: recurrentWeights(weights, suffix),
      })),
    );
    this.hidden_size = this.layers[0][0].weights.weight_hh.columns;
  }

  /** Which bias goes with the input. */
  inputBias({ bias_ih }) {
    return bias_ih;
  }

  /** What the layer carries at first: zeros, one matrix (num_layers · directions, U) a part. */
  blank() {
    const rows = this.num_layers * (1 + this.bidirectional);
    return Array.from({ length: this.state_parts }, () => new Matrix(rows, this.hidden_size));
  }

  /**
   * Go on along inputs (S, D) from what was carried so far.
   *
   * @param {?boolean[]} mask (S,) true is a real token; elsewhere the state is carried on
   * @returns {{states: Matrix, carried: Matrix[]}} states (S, directions · U) of the last layer
   */
  run(inputs, carried = this.blank(), { mask = null, record = null } = {}) {
    if (!inputs.rows) throw new Error("inputs must have a time step, got none");
    checkMask(mask, inputs.rows);
    const after = carried.map((part) => new Matrix(part.rows, part.columns));
    let row = 0;
    for (const directions of this.layers) {
      const outputs = directions.map((direction) => {
        const state = carried.map((part) => part.row(row));
        const { states, last } = this.runOne(inputs, state, direction, mask, record);
        last.forEach((part, number) => after[number].row(row).set(part));
        row += 1;
        return states;
      });
      inputs = outputs.length > 1 ? beside(...outputs) : outputs[0];
    }
    return { states: inputs, carried: after };
  }

  // One layer in one direction: states (S, U) in the order of the input, and the last.
  runOne(inputs, state, { suffix, weights }, mask, record) {
    // The input's product needs no state, so it is taken for all time steps at once.
    const projected = linear(inputs, weights.weight_ih, this.inputBias(weights));
    const states = new Matrix(inputs.rows, this.hidden_size);
    const notes = {};
    const changed = (gate, data) =>
      change(record, this.name, gate + suffix, [1, data.length], data);
    for (let count = 0; count < inputs.rows; count += 1) {
      const step = suffix.endsWith("reverse") ? inputs.rows - 1 - count : count;
      const { next, seen } = this.advance(projected.row(step), state, weights, changed);
      if (!mask || mask[step]) state = next; // padding carries the state on
      states.row(step).set(state[0]);
      if (!record || !record.trace) continue;
      for (const [gate, data] of Object.entries(seen)) {
        notes[gate] ??= new Matrix(inputs.rows, this.hidden_size);
        notes[gate].row(step).set(data);
      }
    }
    for (const [gate, { rows, columns, data }] of Object.entries(notes)) {
      record.trace.add(this.name, gate + suffix, [rows, columns], data);
    }
    return { states, last: state };
  }
}

/** A single step of an unrolled layer: inputs (D,) give the last layer's state (U,). */
export function stepOnce(layer, inputs, carried, record = null) {
  const { states, carried: after } = layer.run(oneRow(inputs), carried, { record });
  return { hidden: states.row(0), carried: after };
}
