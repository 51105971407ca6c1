// One text through a recurrent language model, with what every gate of every unit did meanwhile.

import { clampGates } from "../../engine/layers/recurrent/clamping.js";
import { Trace } from "../../engine/record.js";
import { knownCharacters, MOST } from "../characters.js";
import { tooLong } from "../pieces.js";

const LAYER = "recurrent";

/**
 * Reads a text, character by character, and notes gates, state and what is expected to come.
 *
 * payload: {text}; clamps: [{gate, value, units}…], what `clampGates` holds.
 * Yields nothing of interest; returns {text, tokens: [character…], ids, units, quantities: {name:
 * Float32Array (T · U)}, logProbs: Float32Array ((T + 1) · V) in nats, row t after t characters,
 * vocabulary: [token…]}, or {refused} with a sentence.
 */
export function* readGates(loaded, { text, clamps = [] }) {
  const { model, source } = loaded;
  const characters = knownCharacters(text, source.vocabulary);
  if (characters.length > MOST) {
    return {
      refused: tooLong(characters.length, MOST, "characters"),
    };
  }
  const ids = characters.map((one) => source.vocabulary.index.get(one));
  const trace = new Trace();
  const options = { trace, intervene: clampGates(model.recurrent, clamps) };
  const size = source.vocabulary.length;
  const logProbs = new Float32Array((ids.length + 1) * size);
  let state = model.start();
  for (const [place, id] of [source.vocabulary.bos, ...ids].entries()) {
    const answer = model.step(state, id, options);
    logProbs.set(answer.logProbs, place * size);
    state = answer.state;
    yield { length: place };
  }
  const quantities = {};
  let units = 0;
  for (const name of trace.notes.get(LAYER).keys()) {
    const { shape, data } = trace.joined(LAYER, name);
    units = shape.at(-1);
    quantities[name.replace(/_l0$/, "")] = data.slice(units); // <bos> has no place
  }
  return {
    text,
    tokens: characters,
    ids,
    units,
    quantities,
    logProbs,
    vocabulary: source.vocabulary.tokens,
  };
}
