// Single layers of the engine, built from an entry that holds their tensors.

import {
  Matrix,
  apply,
  gelu,
  linear,
  logSoftmax,
  oneRow,
  relu,
  sigmoid,
  silu,
} from "../../../src/gates2heads/browser/engine/tensor.js";
import { Trace } from "../../../src/gates2heads/browser/engine/record.js";
import { readEntry } from "../../../src/gates2heads/browser/engine/weights.js";
import { FeedForward, Residual } from "../../../src/gates2heads/browser/engine/layers/blocks.js";
import { clampGates } from "../../../src/gates2heads/browser/engine/layers/recurrent/clamping.js";
import {
  ContextGRUCell,
  GRUCell,
} from "../../../src/gates2heads/browser/engine/layers/recurrent/gru.js";
import { LSTMCell } from "../../../src/gates2heads/browser/engine/layers/recurrent/lstm.js";
import { keyMask, maskedSoftmax } from "../../../src/gates2heads/browser/engine/layers/masks.js";
import { headsOff } from "../../../src/gates2heads/browser/engine/layers/heads_off.js";
import {
  MultiHeadAttention,
  selfAttention,
} from "../../../src/gates2heads/browser/engine/layers/multi_head.js";
import { NORMS } from "../../../src/gates2heads/browser/engine/layers/norms.js";
import {
  LearnedPositions,
  rotate,
  sinusoids,
} from "../../../src/gates2heads/browser/engine/layers/positions.js";
import { recurrentLayer } from "../../../src/gates2heads/browser/engine/layers/recurrent/recurrent.js";
import { RNNCell } from "../../../src/gates2heads/browser/engine/layers/recurrent/rnn.js";
import { Attention } from "../../../src/gates2heads/browser/engine/layers/single_head.js";
import {
  DecoderLayer,
  EncoderLayer,
} from "../../../src/gates2heads/browser/engine/layers/transformer_layers.js";

const CELLS = { RNNCell, GRUCell, ContextGRUCell, LSTMCell };
const FUNCTIONS = { gelu, relu, sigmoid, silu };

function weightsOf(entry) {
  return readEntry(entry).weights;
}

function noted(trace, layer, quantity) {
  return trace.joined(layer, quantity);
}

export const layers = {
  linear({ entry, inputs }) {
    const weights = weightsOf(entry);
    return linear(
      inputs,
      weights.matrix("weight"),
      weights.has("bias") ? weights.vector("bias") : null,
    );
  },

  // The same product by WebAssembly and by plain JavaScript, whole and in two halves of the rows.
  bothWays({ entry, inputs }) {
    const [fast, plain] = [true, false].map((way) =>
      readEntry(entry, { fast: way }).weights.matrix("weight"),
    );
    if (!fast.kernel || plain.kernel)
      throw new Error("one of the two must have a kernel, and one none");
    const half = fast.rows >> 1;
    const halves = [fast.slice(0, half), fast.slice(half, fast.rows)];
    return [fast, plain, fast, ...halves].map((weight) => linear(inputs, weight));
  },

  withoutWebAssembly({ entry, inputs }) {
    const kept = globalThis.WebAssembly;
    delete globalThis.WebAssembly;
    try {
      return linear(inputs, readEntry(entry).weights.matrix("weight"));
    } finally {
      globalThis.WebAssembly = kept;
    }
  },

  numbers({ name, numbers }) {
    return apply(oneRow(numbers), FUNCTIONS[name]).data;
  },

  logSoftmax({ numbers }) {
    return logSoftmax(numbers);
  },

  maskedSoftmax({ scores, mask }) {
    const copy = new Matrix(scores.rows, scores.columns, scores.data.slice());
    return maskedSoftmax(copy.data, scores.columns, keyMask(mask));
  },

  run({ entry, settings, inputs, initial, mask }) {
    const trace = new Trace();
    const layer = recurrentLayer(weightsOf(entry).part("layer"), settings);
    const { states, carried } = layer.run(inputs, initial ?? undefined, {
      mask,
      record: { trace },
    });
    const quantities = [...trace.notes.get("layer").keys()];
    return {
      states,
      carried,
      notes: Object.fromEntries(quantities.map((one) => [one, noted(trace, "layer", one)])),
    };
  },

  // A recurrent layer whose gate is held at one value.
  held({ entry, settings, inputs, initial, gate, value }) {
    const layer = recurrentLayer(weightsOf(entry).part("layer"), settings);
    const trace = new Trace();
    const intervene = (name, quantity, { data }) =>
      name === "layer" && quantity === gate && data.fill(value);
    const { states } = layer.run(inputs, initial, { record: { trace, intervene } });
    return { states, gate: noted(trace, "layer", gate) };
  },

  // A recurrent layer under clamps, and what its gates did.
  clamped({ entry, settings, inputs, initial, clamps }) {
    const layer = recurrentLayer(weightsOf(entry).part("layer"), settings);
    const trace = new Trace();
    const { states } = layer.run(inputs, initial, {
      record: { trace, intervene: clampGates(layer, clamps) },
    });
    const quantities = [...trace.notes.get("layer").keys()];
    return {
      states,
      notes: Object.fromEntries(quantities.map((one) => [one, noted(trace, "layer", one)])),
    };
  },

  // Attention before and after its context was set to zero, and what was noted of it.
  emptied({ entry, settings, query, keys, values }) {
    const attention = new Attention(weightsOf(entry).part("layer"), settings);
    const trace = new Trace(["context"]);
    const whole = attention.forward(query, attention.projectKeys(keys), values, {
      record: { trace },
    });
    const intervene = (name, quantity, { data }) => quantity === "context" && data.fill(0);
    const record = { intervene };
    const empty = attention.forward(query, attention.projectKeys(keys), values, { record });
    return { whole: whole.context, noted: noted(trace, "layer", "context"), empty: empty.context };
  },

  cell({ entry, kind, settings, inputs, context, state }) {
    const cell = new CELLS[kind](weightsOf(entry).part("layer"), settings);
    return context ? [cell.stepWith(inputs, context, state[0])] : cell.step(inputs, state);
  },

  attention({ entry, settings, query, keys, values, mask, start }) {
    const attention = new Attention(weightsOf(entry), settings);
    return attention.forward(query, attention.projectKeys(keys), values, { mask, start });
  },

  selfAttention({ inputs, mask }) {
    return selfAttention(inputs, { mask: keyMask(mask) });
  },

  multiHead({ entry, settings, query, source, mask, causal, cut, heads = [] }) {
    const attention = new MultiHeadAttention(weightsOf(entry), settings);
    const record = { off: headsOff(attention, heads) };
    if (source)
      return attention.attend(query, attention.project(source), { mask: keyMask(mask), record });
    if (cut === undefined) return attention.forward(query, { mask: keyMask(mask), causal, record });
    const first = attention.extend(query.slice(0, cut), null, record);
    const second = attention.extend(query.slice(cut, query.rows), first.past, record);
    return [first.output, second.output];
  },

  norm({ entry, kind, vectors }) {
    return new NORMS[kind](weightsOf(entry)).forward(vectors);
  },

  feedForward({ entry, settings, vectors }) {
    return new FeedForward(weightsOf(entry), settings).forward(vectors);
  },

  residual({ entry, settings, vectors }) {
    const residual = new Residual(weightsOf(entry), settings);
    return residual.after(vectors, apply(residual.before(vectors), Math.tanh));
  },

  sinusoids({ positions, size }) {
    return positions.map((position) => sinusoids(position, size));
  },

  rotate({ vectors, heads, start }) {
    return rotate(vectors, heads, start);
  },

  learned({ entry, vectors, start }) {
    return new LearnedPositions(weightsOf(entry)).forward(vectors, start);
  },

  encoderLayer({ entry, settings, vectors, mask, causal }) {
    return new EncoderLayer(weightsOf(entry), settings).forward(vectors, {
      mask: keyMask(mask),
      causal,
    });
  },

  decoderLayer({ entry, settings, vectors, source, mask }) {
    const layer = new DecoderLayer(weightsOf(entry), settings);
    return layer.stepWith(vectors, null, layer.cross_attn.project(source), { mask: keyMask(mask) })
      .output;
  },
};
