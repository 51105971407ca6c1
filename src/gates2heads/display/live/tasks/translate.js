// One text through a translator, with what its cross-attention looked at.

import { translateSteps } from "../../engine/translation.js";

const LAYER = /^decoder_layers\.(\d+)\.cross_attn$/;

/** Cross-attention of the best path: {shape: [layers, heads, T, S], data}. */
export function lookedAt(trace) {
  const names = trace.layers().filter((name) => LAYER.test(name));
  const maps = names.map((name) => trace.joined(name, "weights"));
  const [heads, written, read] = maps[0].shape;
  const data = new Float32Array(maps.length * heads * written * read);
  maps.forEach((map, layer) => data.set(map.data, layer * heads * written * read));
  return { shape: [maps.length, heads, written, read], data };
}

/**
 * Translates a text.
 *
 * payload: {text, width}; width 1 is greedy search.
 * Yields {source, target: [piece…]} after every step, the best sequence so far; returns
 * {text, written, source, target, logProb, finished, weights}.
 */
export function* translateText(loaded, { text, width }) {
  const steps = translateSteps(loaded, text, { width, record: true });
  const read = loaded.source.encode(text).map((number) => loaded.source.vocabulary.tokens[number]);
  const { tokens } = loaded.target.vocabulary;
  for (;;) {
    const { done, value } = steps.next();
    if (!done) {
      yield { source: read, target: value.tokens.map((number) => tokens[number]) };
      continue;
    }
    const { source, target, logProb, finished, trace } = value;
    return { text, written: value.text, source, target, logProb, finished, weights: lookedAt(trace) };
  }
}
