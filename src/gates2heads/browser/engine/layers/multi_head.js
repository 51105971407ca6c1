// Self-attention without parameters, and attention in several heads.

import { below, linear, Matrix } from "../tensor.js";
import { isWanted, note } from "../record.js";
import { leaveOut } from "./heads_off.js";
import { bothMasks, causalMask, maskedSoftmax } from "./masks.js";
import { rotate } from "./positions.js";

/** Average the inputs (S, D), each row by its likeness to the others: softmax(X Xᵀ) X. */
export function selfAttention(inputs, { mask = null } = {}) {
  const weights = new Matrix(inputs.rows, inputs.rows, linear(inputs, inputs).data);
  maskedSoftmax(weights.data, inputs.rows, mask);
  const context = new Matrix(inputs.rows, inputs.columns);
  averageInto(context.data, weights.data, inputs, 0, 0, inputs.columns);
  return { context, weights };
}

/**
 * Keys and values (S, D) of a sequence, heads side by side; computed once, read by many queries.
 */
export class KeyValues {
  constructor(keys, values) {
    this.keys = keys;
    this.values = values;
  }

  /** New keys and values behind the old ones, which stay as they are. */
  append(added) {
    return new KeyValues(below(this.keys, added.keys), below(this.values, added.values));
  }
}

/** Attend in H heads at once, each in its own K = D/H dimensions: Vaswani et al. 2017, 3.2.2. */
export class MultiHeadAttention {
  constructor(weights, { num_heads, rotary = false }) {
    this.name = weights.name;
    this.num_heads = num_heads;
    this.rotary = rotary;
    this.projections = this.projectionsOf(weights);
    this.embed_dim = this.projections[0].weight.columns;
    this.out_proj = weights.linear("out_proj");
  }

  /** The linear layers of queries, keys and values, here in one matrix. */
  projectionsOf(weights) {
    const matrix = weights.matrix("in_proj_weight"); // rows: query, key, value
    const bias = weights.vector("in_proj_bias");
    const width = matrix.columns;
    return [0, 1, 2].map((part) => ({
      weight: matrix.slice(part * width, (part + 1) * width),
      bias: bias.subarray(part * width, (part + 1) * width),
    }));
  }

  /** Self-attention: queries, keys and values are all made from vectors (T, D). */
  forward(vectors, { mask = null, causal = false, record = null, positions = true } = {}) {
    const { queries, memory } = this.projectAll(vectors, 0, positions);
    return this.attendFrom(queries, memory, { mask, causal, record });
  }

  /** What all queries will read of a source (S, D). */
  project(source) {
    return new KeyValues(this.projected(source, 1), this.projected(source, 2));
  }

  /** Attend from vectors (T, D) to keys and values that were projected before: (T, D). */
  attend(vectors, memory, options = {}) {
    return this.attendFrom(this.projected(vectors, 0), memory, options);
  }

  /** Causal self-attention for T new positions (T, D), after those of the past. */
  extend(vectors, past = null, record = null) {
    const { queries, memory } = this.projectAll(vectors, past ? past.keys.rows : 0);
    const all = past ? past.append(memory) : memory;
    return {
      output: this.attendFrom(queries, all, { causal: vectors.rows > 1, record }),
      past: all,
    };
  }

  projected(vectors, part) {
    return linear(vectors, this.projections[part].weight, this.projections[part].bias);
  }

  projectAll(vectors, start = 0, positions = true) {
    let [queries, keys, values] = [0, 1, 2].map((part) => this.projected(vectors, part));
    if (this.rotary && positions) {
      queries = rotate(queries, this.num_heads, start);
      keys = rotate(keys, this.num_heads, start);
    }
    return { queries, memory: new KeyValues(keys, values) };
  }

  // From queries (T, D) to the output (T, D): softmax(Q Kᵀ / √K) V in each head, side by side.
  attendFrom(queries, { keys, values }, { mask = null, causal = false, record = null }) {
    const [heads, rows, size] = [this.num_heads, queries.rows, keys.rows];
    queries = this.noteHeads(record, "queries", queries);
    keys = this.noteHeads(record, "keys", keys);
    values = this.noteHeads(record, "values", values);
    const width = this.embed_dim / heads;
    const weights = new Float32Array(heads * rows * size); // (H, T, S)
    for (let head = 0; head < heads; head += 1) {
      const scores = weights.subarray(head * rows * size, (head + 1) * rows * size);
      scoreInto(scores, queries, keys, head * width, this.columnOf(head), width);
    }
    note(record, this.name, "scores", [heads, rows, size], weights);
    const allowed = bothMasks(mask, causal ? causalMask(rows, size) : null);
    maskedSoftmax(weights, size, allowed && ((row, key) => allowed(row % rows, key)));
    note(record, this.name, "weights", [heads, rows, size], weights);
    const joined = new Matrix(rows, this.embed_dim);
    for (let head = 0; head < heads; head += 1) {
      const own = weights.subarray(head * rows * size, (head + 1) * rows * size);
      averageInto(joined.data, own, values, head * width, this.columnOf(head), width);
    }
    const context = leaveOut(record, this.name, this.noteHeads(record, "context", joined), width);
    return linear(context, this.out_proj.weight, this.out_proj.bias);
  }

  /** The column at which the keys and values of a head begin. */
  columnOf(head) {
    return (head * this.embed_dim) / this.num_heads;
  }

  // Note vectors (L, H · K) as heads (H, L, K), and take them back as somebody may have changed them.
  noteHeads(record, quantity, vectors) {
    if (!isWanted(record, quantity)) return vectors;
    const { rows, columns } = vectors;
    const width = this.embed_dim / this.num_heads;
    const place = (at) => {
      const [row, column] = [Math.floor(at / columns), at % columns];
      return (Math.floor(column / width) * rows + row) * width + (column % width);
    };
    const heads = new Float32Array(vectors.data.length);
    for (let at = 0; at < heads.length; at += 1) heads[place(at)] = vectors.data[at];
    note(record, this.name, quantity, [columns / width, rows, width], heads);
    return new Matrix(
      rows,
      columns,
      heads.map((_, at) => heads[place(at)]),
    );
  }
}

// Scores (T, S) of queries and keys, read in `width` columns from `start` and `begin` on.
function scoreInto(scores, queries, keys, start, begin, width) {
  const scale = 1 / Math.sqrt(width);
  for (let row = 0, at = 0; row < queries.rows; row += 1) {
    for (let key = 0; key < keys.rows; key += 1, at += 1) {
      let sum = 0;
      let query = row * queries.columns + start;
      let other = key * keys.columns + begin;
      for (const end = query + width; query < end; query += 1, other += 1) {
        sum += queries.data[query] * keys.data[other];
      }
      scores[at] = sum * scale;
    }
  }
}

// Into `width` columns from `start` on of each row: the average of the values, whose columns begin
// at `begin`, weighted (T, S).
function averageInto(output, weights, values, start, begin, width) {
  const { rows: size, columns: stride, data } = values;
  const columns = output.length / (weights.length / size);
  const sums = new Float64Array(width);
  for (let row = 0, at = 0; at < weights.length; row += 1) {
    sums.fill(0);
    for (let place = 0; place < size; place += 1, at += 1) {
      const from = place * stride + begin;
      const weight = weights[at];
      for (let i = 0; i < width; i += 1) sums[i] += weight * data[from + i];
    }
    output.set(sums, row * columns + start);
  }
}
