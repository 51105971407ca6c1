// A text through a language model with a KV cache: the probability of each token, and what follows.

import { Context } from "../../engine/decoding/context.js";
import { draw, Generator, narrow } from "../../engine/decoding/sampling.js";
import { top } from "../../engine/decoding/top.js";
import { logSoftmax } from "../../engine/tensor.js";
import { textOf } from "../pieces.js";

export const TOP = 5; // alternatives that are told of each token

const inBits = (logProb) => Math.abs(logProb) / Math.LN2; // 0 and not −0 where a token was certain

const numbersOf = ({ source }, text) => (text ? source.encode(text, { eos: false }) : []);

/** The likeliest tokens, with their probabilities: [[piece, prob]…]. */
const likeliest = (logProbs, pieces) =>
  top(logProbs, TOP).map((token) => [pieces[token], Math.exp(logProbs[token])]);

/** One token, where these were the log-probabilities (V,). */
const toldOf = (token, logProbs, pieces) => ({
  piece: pieces[token],
  bits: inBits(logProbs[token]),
  top: likeliest(logProbs, pieces),
});

/**
 * Reads a text: the last tokens of it that the model has room for.
 *
 * payload: {text}. Yields {length}; returns {text, unread: [piece…], tokens: [{piece, bits, top}…],
 * next}: unread: the tokens at the beginning for which there is no room; top: [[piece, prob]…], the
 * likeliest tokens at the place of this one; next: the log-probabilities (V,) of the token after
 * the last.
 */
export function* readCode(loaded, { text }) {
  const numbers = numbersOf(loaded, text);
  const { tokens: pieces, bos } = loaded.source.vocabulary;
  const context = new Context(loaded.model, bos);
  const left = Math.max(0, numbers.length - context.room);
  const tokens = [];
  for (const { logits } of context.readSteps(numbers)) {
    for (let row = 0; row < logits.rows && left + tokens.length < numbers.length; row += 1) {
      const logProbs = logSoftmax(logits.row(row));
      const number = numbers[left + tokens.length];
      tokens.push(toldOf(number, logProbs, pieces));
    }
    yield { length: tokens.length };
  }
  const unread = numbers.slice(0, left).map((number) => pieces[number]);
  return { text, unread, tokens, next: context.logProbs };
}

/**
 * Draws what follows a text, token by token.
 *
 * payload: {text, steps, seed, cache, endless, temperature, topK, topP, minP}; cache: whether keys
 * and values are kept from token to token; endless: <eos> is never drawn. Yields for each token {piece, bits, top, position, milliseconds}:
 * the position of the token in the context and how long the model took to read it and to give the
 * distribution of the next. Returns {text, added, ended}.
 */
export function* continueCode(loaded, { text, steps, seed, cache, endless = false, ...way }) {
  const { tokens: pieces, bos, eos } = loaded.source.vocabulary;
  const context = new Context(loaded.model, bos, { cache });
  for (const { tokens } of context.readSteps(numbersOf(loaded, text)))
    yield { read: tokens.length };
  const generator = new Generator(seed);
  const drawn = [];
  while (drawn.length < steps && drawn.at(-1) !== eos) {
    const { logProbs } = context;
    const allowed = logProbs.slice();
    if (endless) allowed[eos] = -Infinity;
    const token = draw(narrow(allowed, way), generator.next());
    drawn.push(token);
    const told = toldOf(token, logProbs, pieces);
    const begin = performance.now();
    context.add(token);
    yield { ...told, position: context.tokens.length, milliseconds: performance.now() - begin };
  }
  const ended = drawn.at(-1) === eos;
  const kept = ended ? drawn.slice(0, -1) : drawn;
  return {
    text,
    added: textOf(
      kept.map((token) => pieces[token]),
      !text,
    ),
    ended,
  };
}
