// A text through a language model with a KV cache: the probability of each token, and what follows.

import { Context } from "../../engine/decoding/context.js";
import { draw, Generator, narrow } from "../../engine/decoding/sampling.js";
import { logSoftmax } from "../../engine/tensor.js";
import { bytesOf } from "../pieces.js";

export const TOP = 5; // alternatives that are told of each token

const inBits = (logProb) => Math.abs(logProb) / Math.LN2; // 0 and not −0 where a token was certain

const numbersOf = ({ source }, text) => (text ? source.encode(text, { eos: false }) : []);

/** The likeliest tokens, with their probabilities: [[piece, prob]…]. */
export function likeliest(logProbs, pieces, count = TOP) {
  const best = [];
  for (let token = 0; token < logProbs.length; token += 1) {
    if (best.length === count && logProbs[token] <= logProbs[best.at(-1)]) continue;
    const place = best.findIndex((one) => logProbs[token] > logProbs[one]);
    best.splice(place < 0 ? best.length : place, 0, token);
    if (best.length > count) best.pop();
  }
  return best.map((token) => [pieces[token], Math.exp(logProbs[token])]);
}

/**
 * Reads a text: the last tokens of it that the model has room for.
 *
 * payload: {text}. Yields {length}; returns {text, left, tokens: [{piece, bits, top}…], next}: left
 * counts the tokens at the beginning that are not read; top: the likeliest tokens at the place of
 * this one; next: the log-probabilities (V,) of the token after the last.
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
      const top = likeliest(logProbs, pieces);
      tokens.push({ piece: pieces[number], bits: inBits(logProbs[number]), top });
    }
    yield { length: tokens.length };
  }
  const unread = numbers.slice(0, left).map((number) => pieces[number]);
  return { text, unread, tokens, next: context.logProbs };
}

/**
 * Draws what follows a text, token by token.
 *
 * payload: {text, steps, seed, cache, temperature, topK, topP, minP}; cache: whether keys and values
 * are kept from token to token. Yields for each token {piece, bits, top, position, milliseconds}:
 * the position of the token in the context and how long the model took to read it and to give the
 * distribution of the next. Returns {text, added, ended}.
 */
export function* continueCode(loaded, { text, steps, seed, cache, ...way }) {
  const { tokens: pieces, bos, eos } = loaded.source.vocabulary;
  const context = new Context(loaded.model, bos, { cache });
  for (const { tokens } of context.readSteps(numbersOf(loaded, text)))
    yield { read: tokens.length };
  const generator = new Generator(seed);
  const drawn = [];
  while (drawn.length < steps && drawn.at(-1) !== eos) {
    const { logProbs } = context;
    const token = draw(narrow(logProbs, way), generator.next());
    drawn.push(token);
    const told = {
      piece: pieces[token],
      bits: inBits(logProbs[token]),
      top: likeliest(logProbs, pieces),
    };
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

/** The text of pieces; at the beginning of a text, the blank before the first is none of it. */
export function textOf(pieces, isFirst = false) {
  const bytes = Uint8Array.from(pieces.filter((piece) => !SPECIAL.test(piece)).flatMap(bytesOf));
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  return isFirst && text.startsWith(" ") ? text.slice(1) : text;
}

const SPECIAL = /^<(?:pad|bos|eos)>$/;
