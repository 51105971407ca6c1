// One text through a small reader, with what its attention looked at and how it got there.

import { translateSteps } from "../../engine/translation.js";

const LAYER = "decoder.attention";

/**
 * Reads a text and writes, always the likeliest token.
 *
 * payload: {text}.
 * Yields nothing of interest; returns {text, written, source, target, finished, weights, scores};
 * both maps are {shape: [T, S], data}, or null where the model does not look back.
 */
export function* readText(loaded, { text }) {
  const steps = translateSteps(loaded, text, { width: 1, record: true, more: ["scores"] });
  for (;;) {
    const { done, value } = steps.next();
    if (!done) {
      yield { length: value.tokens.length };
      continue;
    }
    const { source, target, finished, trace } = value;
    const looks = trace.layers().includes(LAYER);
    const [weights, scores] = ["weights", "scores"].map((quantity) =>
      looks ? trace.joined(LAYER, quantity) : null,
    );
    return { text, written: value.text, source, target, finished, weights, scores };
  }
}
