// What three ways to write from one source say, in numbers and words: no page is touched here.

import { seen, shades, told } from "../kit/gates.js";

export const LINES = ["free", "held", "taught"];
const READS = {
  free: "running freely it reads",
  held: "in the held line",
  taught: "under the teacher",
};
const FULL = 32767; // of a number in two bytes
const END = "<eos>";

/** What Python recorded, in the shape in which a live answer comes; bytes: a DataView. */
export function decodedForcing({ source, vocabulary, units, lines, scales }, bytes) {
  let at = 0;
  const table = (rows, columns, name) => {
    const data = Float32Array.from(
      { length: rows * columns },
      () => (bytes.getInt16(2 * at++, true) / FULL) * scales[name],
    );
    return { shape: [rows, columns], data };
  };
  const states = table(source.length, units, "states");
  const { data: summary } = table(1, units, "states");
  const whole = LINES.map((name) => [
    name,
    {
      tokens: lines[name],
      hidden: table(lines[name].length, units, "states"),
      logProbs: table(lines[name].length, vocabulary.length, "logProbs"),
    },
  ]);
  return { source, vocabulary, states, summary, ...Object.fromEntries(whole) };
}

/** The probability of a token at a step of a line; null where the line has no such step. */
export function shareOf({ tokens, logProbs: { shape, data } }, step, id) {
  return step < tokens.length ? Math.exp(data[step * shape[1] + id]) : null;
}

/** What a line would write at a step: the number of the likeliest token. */
export function expectedAt({ logProbs: { shape, data } }, step) {
  const row = data.subarray(step * shape[1], (step + 1) * shape[1]);
  return row.indexOf(row.reduce((most, one) => Math.max(most, one), -Infinity));
}

/**
 * The likeliest tokens of the lines at a step, those of the first line first: [{id, token,
 * shares}…].
 */
export function likeliestAt(run, names, step, count = 4) {
  const ids = run.vocabulary.map((_, id) => id);
  const there = names.filter((name) => step < run[name].tokens.length);
  const most = (id) => Math.max(...there.map((name) => shareOf(run[name], step, id)));
  const chosen = there.length
    ? ids.sort((one, other) => most(other) - most(one) || one - other).slice(0, count)
    : [];
  return chosen.map((id) => ({
    id,
    token: run.vocabulary[id],
    shares: names.map((name) => shareOf(run[name], step, id)),
  }));
}

/** How surprising each of the teacher's tokens was, in nats. */
export function surprises({ vocabulary, taught }) {
  return taught.tokens.map(
    (token, step) => -Math.log(shareOf(taught, step, vocabulary.indexOf(token))),
  );
}

/**
 * How far the states of two lines lie apart at each common step: root mean square, over the units.
 */
export function apart(one, other) {
  const [, units] = one.hidden.shape;
  const steps = Math.min(one.tokens.length, other.tokens.length);
  return Array.from({ length: steps }, (_, step) => {
    let sum = 0;
    for (let unit = step * units; unit < (step + 1) * units; unit++)
      sum += (one.hidden.data[unit] - other.hidden.data[unit]) ** 2;
    return Math.sqrt(sum / units);
  });
}

/** The steps after the first hold at which the held line differs from the free one. */
export function driftOf({ free, held }, first) {
  const length = Math.max(free.tokens.length, held.tokens.length);
  const steps = Array.from({ length }, (_, step) => step);
  return steps.filter((step) => step > first && free.tokens[step] !== held.tokens[step]);
}

/** States (L, U) as shades, in a box as wide as there are steps and as high as there are units. */
export function shadesOf({ shape: [length, units], data }) {
  return shades({ tokens: { length }, units, quantities: { states: data } }, "states", 1);
}

/** How many steps there are in all: to read, and then to write. */
export function stepsOf({ source, free, held, taught }) {
  return {
    read: source.length,
    write: Math.max(...[free, held, taught].map(({ tokens }) => tokens.length)),
  };
}

/** A line as a text. */
export const textOf = ({ tokens }) => tokens.filter((token) => token !== END).join("");

/** Steps in words, counted from 1: "3", "3 and 5", "4 to 12". */
export function stepsInWords(steps) {
  const numbers = steps.map((step) => step + 1);
  if (numbers.length > 2 && numbers.at(-1) - numbers[0] === numbers.length - 1)
    return `${numbers[0]} to ${numbers.at(-1)}`;
  return [numbers.slice(0, -1).join(", "), numbers.at(-1)]
    .filter((part) => part !== "")
    .join(" and ");
}

/** What is held, and what came of it. */
export function heldInWords(run, holds) {
  const steps = Object.keys(holds)
    .map(Number)
    .filter((step) => step < run.held.tokens.length)
    .sort((a, b) => a - b);
  if (!steps.length) return "No character is held.";
  const names = steps.map((step) => `“${seen(holds[step])}” at step ${step + 1}`).join(" and ");
  const wrong = driftOf(run, steps[0]).filter((step) => !steps.includes(step));
  const then = `Held: ${names}. After ${steps.length > 1 ? "the first" : "it"}, that line`;
  if (!wrong.length) return `${then} goes on as the free one does.`;
  const many =
    wrong.length === 1 ? "one character, at step" : `${wrong.length} characters, at steps`;
  return `${then} differs from the free one in ${many} ${stepsInWords(wrong)}.`;
}

/** How surprised the network is by what the teacher says. */
export function taughtInWords(run) {
  const nats = surprises(run);
  const mean = nats.reduce((sum, one) => sum + one, 0) / nats.length;
  const wrong = run.taught.tokens.filter(
    (token, step) => token !== run.vocabulary[expectedAt(run.taught, step)],
  ).length;
  const misses =
    wrong === 0
      ? "it expected each"
      : `it expected another ${wrong === 1 ? "once" : `${wrong} times`}`;
  return `Under the teacher: ${told(mean, 3)} nats a character; ${misses}.`;
}

/** Where the cursor stands, in words. */
export function stepInWords(run, step) {
  const { read } = stepsOf(run);
  if (step < read - 1) {
    return `Read “${seen(run.source[step])}”, character ${step + 1}: half of the units have read up to here from the left, the others from the right.`;
  }
  if (step === read - 1)
    return `All is read: the last state of either half makes the context vector, ${run.summary.length} numbers.`;
  const at = step - read;
  const before = (line) => (at ? `“${seen(line.tokens[at - 1])}”` : "the sign to begin");
  const ways = LINES.filter((name) => at < run[name].tokens.length).map(
    (name) => `${READS[name]} ${before(run[name])}`,
  );
  return `Step ${at + 1} of writing: ${ways.join("; ")}.`;
}
