// What a decoder writes when somebody takes its hand, as the library's watching/forced_tokens.py keeps it.

import { top } from "./top.js";

/**
 * Read a source (S tokens) and write from it three times: freely; with tokens held in the place of
 * what would have been written; and taught, where each step reads the teacher's token before it.
 *
 * @param {object} options bos, eos; maxLength, of a free line; held: [[step, token]…], from 0;
 *   taught: the teacher's tokens without <eos>, or null for what is written freely
 * Yields {length} after every step. Returns {states: {shape: [S, U], data}, summary: (U,), free,
 * held, taught}; each line is {tokens, hidden: {shape: [T, U], data}, logProbs: {shape: [T, V],
 * data}}.
 */
export function* forcingSteps(model, source, { bos, eos, maxLength, held = [], taught = null }) {
  const state = model.start(source);
  const { states, summary } = state.memory;
  const options = { bos, eos };
  const free = yield* lineSteps(model, state, { ...options, length: maxLength, held: new Map() });
  const line = held.length
    ? yield* lineSteps(model, state, { ...options, length: maxLength, held: new Map(held) })
    : free;
  const told = taught ?? free.tokens.filter((token) => token !== eos);
  const lesson = new Map([...told, eos].map((token, step) => [step, token]));
  const taughtLine = yield* lineSteps(model, state, {
    ...options,
    length: lesson.size,
    held: lesson,
  });
  const { rows, columns } = states;
  return {
    states: {
      shape: [rows, columns],
      data: Float32Array.from(states.data.subarray(0, rows * columns)),
    },
    summary: Float32Array.from(summary),
    free,
    held: line,
    taught: taughtLine,
  };
}

/**
 * One way along the steps, up to the first <eos>; a held token is used, whatever is more probable.
 */
export function* lineSteps(model, state, { bos, eos, length, held }) {
  const tokens = [];
  const hidden = [];
  const expected = [];
  for (let last = bos; tokens.length < length && last !== eos;) {
    const answer = model.step(state, last);
    state = answer.state;
    last = held.get(tokens.length) ?? top(answer.logProbs, 1)[0];
    tokens.push(last);
    hidden.push(hiddenOf(state));
    expected.push(answer.logProbs);
    yield { length: tokens.length };
  }
  return { tokens, hidden: table(hidden), logProbs: table(expected) };
}

/** The state (U,) of a decoder's upper layer. */
function hiddenOf({ hidden, carried }) {
  if (hidden) return hidden;
  if (!carried) throw new Error("model must have a recurrent decoder, whose state can be seen");
  return carried[0].row(carried[0].rows - 1);
}

/** Rows of one width, one after the other. */
function table(rows) {
  const width = rows[0].length;
  const data = new Float32Array(rows.length * width);
  rows.forEach((row, place) => data.set(row, place * width));
  return { shape: [rows.length, width], data };
}
