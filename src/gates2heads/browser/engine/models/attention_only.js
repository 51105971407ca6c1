// A language model of attention alone: its vectors are sums of what the heads add.

import { add, embedding, linear } from "../tensor.js";
import { GroupedQueryAttention } from "../layers/grouped_query.js";
import { checkLength } from "../refusals.js";
import { LanguageModel } from "./language.js";

/** Embeddings, layers of attention and an output matrix: Elhage et al. 2021. */
export class AttentionOnly extends LanguageModel {
  constructor(weights, { nhead, max_length }) {
    const table = weights.matrix("token_table.weight");
    super(table.rows, max_length);
    this.table = table;
    this.position_table = weights.matrix("position_table.weight");
    this.layers = weights
      .parts("layers")
      .map((part) => new GroupedQueryAttention(part, { num_heads: nhead }));
    this.output = weights.matrix("output.weight");
  }

  blank() {
    return { past: this.layers.map(() => null), length: 0 };
  }

  read(tokens, { past, length }, record) {
    const end = length + tokens.length;
    checkLength("tokens", end, this.max_length);
    const places = Array.from(tokens, (_, place) => length + place);
    let vectors = add(embedding(tokens, this.table), embedding(places, this.position_table));
    const extended = this.layers.map((layer, depth) => {
      const { output, past: after } = layer.extend(vectors, past[depth], { record });
      vectors = add(vectors, output);
      return after;
    });
    return { vectors, state: { past: extended, length: end } };
  }

  readout(vectors) {
    return linear(vectors, this.output);
  }
}
