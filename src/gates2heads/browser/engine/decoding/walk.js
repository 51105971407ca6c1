// One sentence on its way through a Transformer, as the library's watching/walk.py keeps it.

import { below, logSoftmax, Matrix } from "../tensor.js";
import { Trace } from "../record.js";
import { greedySteps } from "./search.js";
import { top } from "./top.js";

const PARTS = {
  encoder: ["self_attn", "feed_forward"],
  decoder: ["self_attn", "cross_attn", "feed_forward"],
};

/**
 * Translate one source (S tokens) by greedy search, and keep what every part did in the same pass.
 *
 * Yields {length} after every step. Returns {tokens, logProb, finished, stages, readouts, cache}:
 * stages as `stagesOf` gives them; readouts {tokens: [depth][step][k], logProbs alike,
 * rank: [depth][step], written: [depth][step]}; cache {shape, source, target, without}, numbers of
 * keys and values.
 */
export function* walkSteps(model, source, { bos, eos, maxLength, count = 5 }) {
  const trace = new Trace();
  const kept = [];
  const step = (state, last) => {
    const answer = model.step(state, last, { trace });
    kept.push(numbersIn(answer.state.past));
    return answer;
  };
  const first = model.start(source, { trace });
  const search = greedySteps(step, first, { bos, eos, maxLength });
  let now = search.next();
  for (; !now.done; now = search.next()) yield { length: now.value.tokens.length };
  const { tokens, logProb, finished, state } = now.value;
  const stored = numbersIn(state.memory);
  const { num_heads: heads, embed_dim: width } = model.decoder_layers[0].self_attn;
  let sum = 0;
  const cache = {
    shape: [model.decoder_layers.length, heads, width / heads],
    source: stored,
    target: kept,
    without: kept.map((past) => (sum += stored + past)),
  };
  const readouts = readoutsOf(logitLens(model, streamsOf(model, trace)), tokens, count);
  return { tokens, logProb, finished, stages: stagesOf(model, trace), readouts, cache };
}

/**
 * Read vectors (T, D) of each depth out as if the decoder ended with them, nostalgebraist 2020: its
 * last norm, then its readout; log-probabilities, [depth][step] (V,).
 */
export function logitLens(model, streams) {
  return streams.map((vectors) => {
    const logits = model.readout(vectors);
    return Array.from({ length: logits.rows }, (_, step) => logSoftmax(logits.row(step)));
  });
}

/** What flowed between the blocks of the decoder: N + 1 matrices (T, D). */
export function streamsOf(model, trace) {
  const names = model.decoder_layers.map(
    (_, depth) => `decoder_layers.${depth}.feed_forward_residual`,
  );
  const first = everyStep(trace, "decoder_layers.0.self_residual", "before");
  return [first, ...names.map((name) => everyStep(trace, name, "after"))];
}

/**
 * What each part of each block did: [{stack, block, part, before, added, after, weights}…]; sizes
 * (L,) are root mean squares, weights {shape: [H, L, S], data}; null where there are none.
 */
export function stagesOf(model, trace) {
  return Object.entries(PARTS).flatMap(([stack, parts]) => {
    const embedded = sizeOf(everyStep(trace, `${stack}_layers.0.self_residual`, "before"));
    const none = { before: null, added: null, weights: null };
    const begin = { stack, block: 0, part: "embedding", ...none, after: embedded };
    const blocks = model[`${stack}_layers`].flatMap((_, depth) =>
      parts.map((part) => {
        const layer = `${stack}_layers.${depth}.${part}`;
        const residual = `${layer.replace(/_attn$/, "")}_residual`;
        const size = (name) => sizeOf(everyStep(trace, residual, name));
        const [before, added, after] = ["before", "added", "after"].map(size);
        const weights = part.endsWith("attn") ? trace.joined(layer, "weights") : null;
        return { stack, block: depth + 1, part, before, added, after, weights };
      }),
    );
    return [begin, ...blocks];
  });
}

/** The root mean square of each row: (L, D) -> (L,). */
export function sizeOf(vectors) {
  return Float32Array.from({ length: vectors.rows }, (_, row) => {
    const one = vectors.row(row);
    let sum = 0;
    for (let i = 0; i < one.length; i += 1) sum += one[i] * one[i];
    return Math.sqrt(sum / one.length);
  });
}

function readoutsOf(logProbs, written, count) {
  const best = logProbs.map((steps) => steps.map((one) => top(one, count)));
  const each = (of) => logProbs.map((steps) => steps.map((one, step) => of(one, written[step])));
  return {
    tokens: best,
    logProbs: best.map((steps, depth) =>
      steps.map((tokens, step) => tokens.map((token) => logProbs[depth][step][token])),
    ),
    rank: each((one, own) => one.reduce((sum, number) => sum + (number > one[own]), 0)),
    written: each((one, own) => one[own]),
  };
}

function everyStep(trace, layer, name) {
  return below(...trace.get(layer, name).map(({ shape, data }) => new Matrix(...shape, data)));
}

/** How many numbers keys and values hold, all layers together. */
function numbersIn(layers) {
  return layers.reduce((sum, { keys, values }) => sum + keys.data.length + values.data.length, 0);
}
