// Decoders: what writes the target. Plain, or looking at the source before or after the step.

import { concatenate, Matrix, oneRow, product } from "../tensor.js";
import { ContextGRUCell, GRUCell } from "../layers/recurrent/gru.js";
import { recurrentLayer } from "../layers/recurrent/recurrent.js";
import { Attention } from "../layers/single_head.js";
import { stepOnce } from "../layers/recurrent/unroll.js";

function dense(weights, name) {
  const bias = weights.has(`${name}.bias`) ? weights.vector(`${name}.bias`) : null;
  const matrix = weights.matrix(`${name}.weight`);
  return (vector) => product(matrix, vector, bias);
}

function squashed(vector) {
  return vector.map(Math.tanh);
}

// Maxout over pairs of neighbours: (2l,) -> (l,).
function largerOfPairs(values) {
  return Float32Array.from({ length: values.length / 2 }, (_, i) =>
    Math.max(values[2 * i], values[2 * i + 1]),
  );
}

/** What decoders share: a step reads a token, carries something on, and writes. */
class Writer {
  constructor(weights, settings) {
    this.table = weights.matrix("embedding.weight");
    this.bridge = dense(weights, "bridge");
    this.readout = dense(weights, "readout");
    this.combine = weights.has("combine.weight") ? dense(weights, "combine") : null;
    this.attention = settings.attention
      ? new Attention(weights.part("attention"), settings.attention.settings)
      : null;
  }

  /** What the encoder hands over: states (S, U), what the score wants of them, mask and summary. */
  memoryOf(states, summary, mask) {
    return {
      states,
      keys: this.attention ? this.attention.projectKeys(states) : states,
      mask,
      summary,
    };
  }

  /** Attend from hidden (U,) to the source: the context (U,). */
  look(hidden, { memory, steps }, record) {
    const options = { mask: memory.mask, start: steps, record };
    return this.attention
      .forward(oneRow(hidden), memory.keys, memory.states, options)
      .context.row(0);
  }
}

/** The decoder of `EncoderDecoder`: with attention a context at every step, without the summary. */
export class Decoder extends Writer {
  constructor(weights, settings) {
    super(weights, settings);
    this.cell = new GRUCell(weights.part("cell"));
  }

  start(states, summary, mask) {
    const hidden = squashed(this.bridge(summary));
    return { hidden, steps: 0, memory: this.memoryOf(states, summary, mask) };
  }

  /** Read the vector of the last token; give logits (V,) and the next state. */
  step(state, token, record) {
    // The state before the step asks.
    const context = this.attention ? this.look(state.hidden, state, record) : state.memory.summary;
    const [hidden] = this.cell.step(concatenate(token, context), [state.hidden], record);
    const logits = this.readout(concatenate(hidden, context, token));
    return { logits, state: { ...state, hidden, steps: state.steps + 1 } };
  }
}

/** Write from the encoder's summary alone: it is the first state. Sutskever et al. 2014. */
export class PlainDecoder extends Writer {
  constructor(weights, settings) {
    super(weights, settings);
    this.recurrent = recurrentLayer(weights.part("recurrent"), settings);
  }

  start(states, summary, mask) {
    const { state_parts: parts, num_layers: layers, hidden_size: units } = this.recurrent;
    const first = squashed(this.bridge(summary)); // parts · num_layers · U
    const carried = Array.from({ length: parts }, (_, part) => {
      const own = first.subarray(part * layers * units, (part + 1) * layers * units);
      return new Matrix(layers, units, own);
    });
    const fed = new Float32Array(units);
    return { carried, fed, steps: 0, memory: this.memoryOf(states, summary, mask) };
  }

  step(state, token, record) {
    const { hidden, after } = this.advance(state, token, record);
    return { logits: this.readout(hidden), state: after };
  }

  advance(state, inputs, record) {
    const { hidden, carried } = stepOnce(this.recurrent, inputs, state.carried, record);
    return { hidden, after: { ...state, carried, steps: state.steps + 1 } };
  }
}

/** Read the summary again at every step, and write through maxout: Cho et al. 2014. */
export class ChoDecoder extends PlainDecoder {
  step(state, token, record) {
    const { summary } = state.memory;
    const { hidden, after } = this.advance(state, concatenate(token, summary), record);
    const larger = largerOfPairs(this.combine(concatenate(hidden, token, summary)));
    return { logits: this.readout(larger), state: after };
  }
}

/** Take the step first, then look at the source, and predict from both: Luong et al. 2015. */
export class LuongDecoder extends PlainDecoder {
  constructor(weights, settings) {
    super(weights, settings);
    this.input_feeding = settings.input_feeding ?? true;
  }

  step(state, token, record) {
    const inputs = this.input_feeding ? concatenate(token, state.fed) : token;
    const { hidden, after } = this.advance(state, inputs, record);
    const context = this.look(hidden, state, record);
    const attentional = squashed(this.combine(concatenate(context, hidden)));
    return { logits: this.readout(attentional), state: { ...after, fed: attentional } };
  }
}

/** Look at the source first, and let the step read the context: Bahdanau et al. 2015. */
export class BahdanauDecoder extends Writer {
  constructor(weights, settings) {
    super(weights, settings);
    this.cell = new ContextGRUCell(weights.part("cell"), {
      reset_after: settings.reset_after ?? false,
    });
  }

  start(states, summary, mask) {
    const hidden = squashed(this.bridge(summary));
    return { hidden, steps: 0, memory: this.memoryOf(states, summary, mask) };
  }

  step(state, token, record) {
    const context = this.look(state.hidden, state, record);
    const hidden = this.cell.stepWith(token, context, state.hidden, record);
    const larger = largerOfPairs(this.combine(concatenate(hidden, token, context)));
    return { logits: this.readout(larger), state: { ...state, hidden, steps: state.steps + 1 } };
  }
}

export const DECODERS = { Decoder, PlainDecoder, ChoDecoder, LuongDecoder, BahdanauDecoder };
