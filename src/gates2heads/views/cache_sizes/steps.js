// The numbers that the sliders set: their names, their largest values, and the steps between.

import { BITS, divisors, inFull } from "./sizes.js";

/** The largest value of each number. */
export const MOST = {
  layers: 128,
  heads: 128,
  kv_heads: 128,
  head_width: 256,
  length: 2 ** 20,
  window: 2 ** 20,
  batch: 1024,
  bandwidth: 20000,
  arithmetic: 20000,
};
/** The least value of those that may be smaller than 1; a window of 0 is none. */
export const LEAST = { window: 0, arithmetic: 0.001 };
/** What need not be a whole number. */
export const MEASURED = ["bandwidth", "arithmetic"];
export const NUMBERS = Object.keys(MOST);
export const TRAITS = [...NUMBERS, "number_format"];
export const FORMATS = Object.keys(BITS);
const doubled = (most) => Array.from({ length: Math.log2(most) + 1 }, (_, at) => 2 ** at);
const counting = (most, step = 1) =>
  Array.from({ length: most / step }, (_, at) => (at + 1) * step);
/** The values of each slider; the divisors of the query heads change with these. */
export const STEPS = {
  layers: () => counting(MOST.layers),
  heads: () => counting(MOST.heads),
  kv_heads: ({ heads }) => divisors(heads),
  head_width: () => counting(MOST.head_width, 8),
  length: () => doubled(MOST.length),
  window: () => [...doubled(MOST.window), 0], // no window is the widest
  batch: () => doubled(MOST.batch),
  bandwidth: () => [10, 25, 50, 100, 200, 400, 800, 1600, 2400, 3350, 5000, 8000],
  arithmetic: () => [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 156, 250, 495, 1000, 2000],
};
export const NAMES = {
  layers: "layers ",
  heads: "query heads ",
  kv_heads: "key–value heads ",
  head_width: "head width ",
  length: "context, in tokens ",
  window: "sliding window, in tokens ",
  batch: "batch, in sequences ",
  bandwidth: "memory bandwidth ",
  arithmetic: "arithmetic throughput ",
};

/** The place in `steps` of the value nearest to one, by ratio. */
export function nearest(steps, value) {
  const exact = steps.indexOf(value);
  if (exact >= 0) return exact;
  const apart = (step) => (step ? Math.abs(Math.log(step / value)) : Infinity);
  return steps.reduce((best, step, at) => (apart(step) < apart(steps[best]) ? at : best), 0);
}

export function valueInWords(name, value) {
  if (name === "window") return value ? inFull(value) : "none";
  if (name === "bandwidth") return `${inFull(value)} GB/s`;
  if (name === "arithmetic") return `${inFull(value)} trillion MACs per second`;
  return inFull(value);
}
