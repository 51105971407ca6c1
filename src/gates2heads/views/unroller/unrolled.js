// Three decodings of one source, in numbers and words: no page is touched here.

import { seen, shades, told } from "../kit/gates.js";

export const LINES = ["free", "held", "taught"];
export const TITLES = { free: "greedy decoding", held: "clamped", taught: "teacher forcing" };
const READS = {
  free: "in greedy decoding",
  held: "in the clamped row",
  taught: "under teacher forcing",
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

/** The prediction of a line at a step: the number of the most probable token. */
export function expectedAt({ logProbs: { shape, data } }, step) {
  const row = data.subarray(step * shape[1], (step + 1) * shape[1]);
  return row.indexOf(row.reduce((most, one) => Math.max(most, one), -Infinity));
}

/** The most probable token at each step under teacher forcing. */
export const expectedTokens = ({ taught, vocabulary }) =>
  taught.tokens.map((_, step) => vocabulary[expectedAt(taught, step)]);

/**
 * The most probable tokens of the lines at a step, those of the first line first: [{id, token,
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

/** The surprisal of each target token under teacher forcing, in nats. */
export function surprises({ vocabulary, taught }) {
  return taught.tokens.map(
    (token, step) => -Math.log(shareOf(taught, step, vocabulary.indexOf(token))),
  );
}

/**
 * The distance of the states of two lines at each common step: root mean square, over the units.
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

/** The steps after the first clamped one at which the two lines differ. */
export function driftOf({ free, held }, first) {
  const length = Math.max(free.tokens.length, held.tokens.length);
  const steps = Array.from({ length }, (_, step) => step);
  return steps.filter((step) => step > first && free.tokens[step] !== held.tokens[step]);
}

/** States (L, U) as shades, in a box as wide as there are steps and as high as there are units. */
export function shadesOf({ shape: [length, units], data }) {
  return shades({ tokens: { length }, units, quantities: { states: data } }, "states", 1);
}

/** How many steps encoder and decoder take, over the lines that are shown. */
export function stepsOf(run, lines = LINES) {
  return {
    read: run.source.length,
    write: Math.max(...lines.map((name) => run[name].tokens.length)),
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

/** The clamped characters, and their effect. */
export function heldInWords(run, holds) {
  const steps = Object.keys(holds)
    .map(Number)
    .filter((step) => step < run.held.tokens.length)
    .sort((a, b) => a - b);
  if (!steps.length) return "No character is clamped.";
  const names = steps.map((step) => `“${seen(holds[step])}” at step ${step + 1}`).join(" and ");
  const wrong = driftOf(run, steps[0]).filter((step) => !steps.includes(step));
  const then = `Clamped: ${names}. After ${steps.length > 1 ? "the first" : "it"}, the output`;
  if (!wrong.length) return `${then} is the same as in greedy decoding without clamped characters.`;
  const many =
    wrong.length === 1 ? "in one character, at step" : `in ${wrong.length} characters, at steps`;
  return `${then} differs from greedy decoding ${many} ${stepsInWords(wrong)}.`;
}

/** The cross-entropy of the target under teacher forcing. */
export function taughtInWords(run) {
  const nats = surprises(run);
  const mean = nats.reduce((sum, one) => sum + one, 0) / nats.length;
  const wrong = run.taught.tokens.filter(
    (token, step) => token !== run.vocabulary[expectedAt(run.taught, step)],
  ).length;
  const misses =
    wrong === 0
      ? "the model’s prediction is correct at every step"
      : `the model’s prediction is wrong at ${wrong === 1 ? "one step" : `${wrong} steps`}`;
  return `Teacher forcing: cross-entropy ${told(mean, 3)} nats per character; ${misses}.`;
}

/** The current step, in words; `lines` are those that the view shows. */
export function stepInWords(run, step, lines = LINES) {
  const { read } = stepsOf(run, lines);
  if (step < read - 1) {
    return `Encoder step ${step + 1}: the input is “${seen(run.source[step])}”. One half of the units has read the characters up to this one from the left, the other half from the right.`;
  }
  if (step === read - 1)
    return `Encoder step ${read}: the whole input is read. The final states of the two halves form the context vector, with ${run.summary.length} components.`;
  const at = step - read;
  const before = (line) => (at ? `“${seen(line.tokens[at - 1])}”` : "the start token");
  if (lines.length === 1)
    return `Decoder step ${at + 1}: the input is ${before(run.free)} and the context vector; the output is “${seen(run.free.tokens[at])}”.`;
  const ways = lines
    .filter((name) => at < run[name].tokens.length)
    .map((name) => `${before(run[name])} ${READS[name]}`);
  return `Decoder step ${at + 1}: the previous token is ${ways.join(", ")}.`;
}
