// One text through a language model: how surprising each token was, what may come next, and draws.

import { draw, Generator, narrow } from "../../engine/decoding/sampling.js";
import { checkLength } from "../../engine/refusals.js";

export const MOST = 60; // tokens that there is room for
const SHOWN = 8; // of the likeliest next tokens

/** The models of one file: counts come twice, alone and smoothed. */
function modelsOf({ model }) {
  return model.countsAlone ? [model.countsAlone(), model] : [model];
}

/** The tokens of a text that may be empty. */
function numbersOf({ source }, text) {
  const numbers = text ? source.encode(text, { eos: false }) : [];
  checkLength("text", numbers.length, MOST);
  return numbers;
}

/** The pieces that may not be generated, as numbers. */
const numbersBarred = (tokens, barred = []) =>
  tokens.flatMap((piece, number) => (barred.includes(piece.trim()) ? [number] : []));

/** Log-probabilities without the barred tokens; narrowing normalises them again. */
function without(logProbs, numbers) {
  const left = logProbs.slice();
  for (const number of numbers) left[number] = -Infinity;
  return left;
}

const inBits = (logProb) => Math.abs(logProb) / Math.LN2; // 0 and not −0 where a token was certain

/**
 * Reads a text.
 *
 * payload: {text, temperature, topK, topP, barred}; topK and topP may be null; barred: pieces that
 * are not sampled, if any.
 * Yields nothing of interest; returns {text, columns: [{tokens, bits, endBits, ahead, kept}…]}, a
 * column a model; bits of what has no probability are Infinity; ahead: [{token, piece, prob,
 * drawn}…], the likeliest, with the model's own probability and that of the narrowed distribution;
 * kept counts the tokens that it leaves, 0 if the model has nothing to say.
 */
export function* readAhead(loaded, { text, barred, ...way }) {
  const numbers = numbersOf(loaded, text);
  const { tokens, bos, eos } = loaded.source.vocabulary;
  const out = numbersBarred(tokens, barred);
  const columns = [];
  for (const model of modelsOf(loaded)) {
    const bits = [];
    let { logProbs, state } = model.step(model.start(), bos);
    for (const number of numbers) {
      bits.push(inBits(logProbs[number]));
      ({ logProbs, state } = model.step(state, number));
      yield { length: bits.length };
    }
    columns.push({
      tokens: numbers.map((number) => tokens[number]),
      bits,
      endBits: inBits(logProbs[eos]),
      ...ahead(logProbs, tokens, way, out),
    });
  }
  return { text, columns };
}

function ahead(logProbs, tokens, way, barred) {
  const allowed = without(logProbs, barred);
  if (allowed.every((number) => number === -Infinity)) return { ahead: [], kept: 0 };
  const narrowed = narrow(allowed, way);
  const order = Array.from(logProbs.keys())
    .sort((a, b) => logProbs[b] - logProbs[a] || a - b)
    .slice(0, SHOWN);
  return {
    ahead: order
      .filter((token) => logProbs[token] > -Infinity)
      .map((token) => ({
        token,
        piece: tokens[token],
        prob: Math.exp(logProbs[token]),
        drawn: Math.exp(narrowed[token]),
      })),
    kept: narrowed.reduce((count, number) => count + (number > -Infinity), 0),
  };
}

/**
 * Draws what follows a text.
 *
 * payload: {text, place, steps, seed, temperature, topK, topP, barred}; place chooses among the models of
 * the file; steps is the most tokens that are drawn.
 * Yields nothing of interest; returns {text, pieces: [piece…], ended, silent}; silent: the model
 * had nothing to say at some step.
 */
export function* drawOn(loaded, { text, place = 0, steps, seed, barred, ...way }) {
  const numbers = numbersOf(loaded, text);
  const { tokens, bos, eos } = loaded.source.vocabulary;
  const out = numbersBarred(tokens, barred);
  const model = modelsOf(loaded)[place];
  const generator = new Generator(seed);
  let { logProbs, state } = model.step(model.start(), bos);
  for (const number of numbers) ({ logProbs, state } = model.step(state, number));
  const drawn = [];
  let silent = false;
  while (drawn.length < steps && drawn.at(-1) !== eos && numbers.length + drawn.length < MOST) {
    const allowed = without(logProbs, out);
    silent = allowed.every((number) => number === -Infinity);
    if (silent) break;
    drawn.push(draw(narrow(allowed, way), generator.next()));
    ({ logProbs, state } = model.step(state, drawn.at(-1)));
    yield { length: drawn.length };
  }
  const ended = drawn.at(-1) === eos;
  const written = [...numbers, ...drawn];
  return {
    text: written.some((number) => number !== eos) ? loaded.source.decode(written) : "",
    pieces: drawn.map((number) => tokens[number]),
    ended,
    silent,
  };
}
