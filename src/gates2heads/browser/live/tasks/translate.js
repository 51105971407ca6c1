// One text through a translator, with what its cross-attention looked at.

import { translateSteps } from "../../engine/translation.js";

const LAYER = /^decoder_layers\.(\d+)\.cross_attn$/;

/**
 * Translates a text.
 *
 * payload: {text, width}; width 1 is greedy search.
 * Yields {source, target: [piece…]} after every step, the best sequence so far; returns
 * {text, written, source, target, logProb, finished, weights}, the weights those of
 * cross-attention on the best path, {shape: [layers, heads, T, S], data}.
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
    const weights = trace.stacked(LAYER, "weights");
    return { text, written: value.text, source, target, logProb, finished, weights };
  }
}
