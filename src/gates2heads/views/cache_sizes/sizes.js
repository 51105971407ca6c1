// What decoding costs, as models/costs.py has it, and sizes in words. Pure functions, tested beside
// the library.

import { counted } from "../kit/shares.js";

export const BITS = { float32: 32, bf16: 16, int8: 8, int4: 4 };
const FORMATS = { float32: "4 bytes", bf16: "2 bytes", int8: "1 byte", int4: "½ byte" };
const [GIGA, TERA] = [1e9, 1e12];

const bytesOf = (format) => BITS[format] / 8;

/** The positions that one attends to; a window of 0 is none. */
export const reached = ({ length, window }) => (window ? Math.min(length, window) : length);

/** Bytes of the keys and values of all sequences. */
export function kvCacheBytes(setting) {
  const { layers, kv_heads, head_width, batch, number_format } = setting;
  const numbers = 2 * layers * kv_heads * head_width * reached(setting) * batch;
  return numbers * bytesOf(number_format);
}

/** Bytes that one more token adds to the cache of its sequence. */
export function bytesPerToken({ layers, kv_heads, head_width, number_format }) {
  return 2 * layers * kv_heads * head_width * bytesOf(number_format);
}

/** Weights of a stack whose feed-forward layers are four times its width. */
export function stackParameters({ layers, heads, kv_heads, head_width }) {
  const width = heads * head_width;
  return layers * (2 * width * width + 2 * width * kv_heads * head_width + 8 * width * width);
}

const SHAPE = ["layers", "heads", "head_width"];

/**
 * Parameters of a setting: {parameters, lookedUp, origin}. Those of a model with the same sizes are
 * known; a model with other key–value heads has other key and value projections and is otherwise
 * the same; for all else the size of the stack is estimated.
 */
export function parametersOf(setting, models) {
  const alike = models.filter(
    (one) => one.parameters !== null && SHAPE.every((name) => one[name] === setting[name]),
  );
  const same = alike.find((one) => one.kv_heads === setting.kv_heads);
  const near = same ?? alike[0];
  if (!near) return { parameters: stackParameters(setting), lookedUp: 0, origin: "estimate" };
  const more = stackParameters(setting) - stackParameters({ ...setting, kv_heads: near.kv_heads });
  return {
    parameters: near.parameters + more,
    lookedUp: near.looked_up,
    origin: same ? "known" : "changed",
    name: near.name,
  };
}

/**
 * One step of decoding: bytes, operations, their ratio, and the least time in seconds. Products and
 * attention follow each other, and each of them reads while it calculates.
 */
export function decodingStep(setting, { parameters, lookedUp }) {
  const { layers, heads, head_width, batch, number_format, bandwidth, arithmetic } = setting;
  const read = parameters - lookedUp;
  const parameterBytes = read * bytesOf(number_format);
  const cacheBytes = kvCacheBytes(setting);
  const attentionMacs = 2 * layers * heads * head_width * reached(setting);
  const least = (size, macs) => {
    const memory = size / (bandwidth * GIGA);
    const calculated = (macs * batch) / (arithmetic * TERA);
    return { memory, arithmetic: calculated, seconds: Math.max(memory, calculated) };
  };
  const products = least(parameterBytes, read);
  const attention = least(cacheBytes, attentionMacs);
  const bytes = (parameterBytes + cacheBytes) / batch;
  return {
    parameterBytes,
    cacheBytes,
    bytesPerToken: bytes,
    macsPerToken: read + attentionMacs,
    attentionMacs,
    intensity: (read + attentionMacs) / bytes,
    products,
    attention,
    leastSeconds: products.seconds + attention.seconds,
  };
}

/** All divisors of a number, the smallest first. */
export function divisors(number) {
  return Array.from({ length: number }, (_, at) => at + 1).filter((one) => number % one === 0);
}

/** The largest divisor of `heads` that is at most `asked`. */
export const groupsWithin = (heads, asked) =>
  divisors(heads)
    .filter((one) => one <= Math.max(asked, 1))
    .at(-1);

/** Three digits of a positive number: 0.0512, 5.12, 51.2, 512. */
function threeDigits(value) {
  if (value >= 999.5) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(3)));
}

function scaled(value, units) {
  const last = units.length - 1;
  let at = 0;
  while (at < last && value >= 999.5) [value, at] = [value / 1000, at + 1];
  return [threeDigits(value), units[at]];
}

/** 1.34 GB: decimal units. */
export function sizeInWords(bytes) {
  return scaled(bytes, [bytes === 1 ? "byte" : "bytes", "kB", "MB", "GB", "TB", "PB"]).join(" ");
}

/** 68.9 billion. */
export function countInWords(value) {
  return scaled(value, ["", "thousand", "million", "billion", "trillion"]).join(" ").trim();
}

/** 13.4 ms. */
export function timeInWords(seconds) {
  if (seconds >= 1) return `${threeDigits(seconds)} s`;
  return scaled(seconds * 1e9, ["ns", "µs", "ms"]).join(" ");
}

export const inFull = (value) => value.toLocaleString("en");

export const formatInWords = (format) => `${format} (${FORMATS[format]})`;

/** The product with its numbers put in. */
export function cacheInWords(setting) {
  const { layers, kv_heads, head_width, length, window, batch, number_format } = setting;
  const positions = window
    ? `min(${inFull(length)}; ${inFull(window)}) positions`
    : counted(length, "position");
  const factors = [
    "2",
    counted(layers, "layer"),
    counted(kv_heads, "key–value head"),
    `width ${head_width}`,
    positions,
    counted(batch, "sequence"),
    FORMATS[number_format],
  ];
  const total = sizeInWords(kvCacheBytes(setting));
  return `KV cache: ${factors.join(" · ")} = ${total}, ${sizeInWords(bytesPerToken(setting))} per token of a sequence.`;
}

/** What the query heads share, and what that saves. */
export function sharingInWords({ heads, kv_heads }) {
  if (kv_heads === heads)
    return "Every query head has its own key–value head: multi-head attention.";
  const share = heads / kv_heads;
  const kind =
    kv_heads === 1 ? "multi-query attention" : `grouped-query attention with ${kv_heads} groups`;
  return `${share} query heads share one key–value head (${kind}): the cache is 1/${share} of that of multi-head attention.`;
}

/** Where the number of parameters comes from. */
export function originInWords({ parameters, origin, name }) {
  const total = countInWords(parameters);
  if (origin === "known") return `The model has ${total} parameters.`;
  if (origin === "changed")
    return `It has ${total} parameters: those of ${name}, with the key and value projections of this setting.`;
  return `The parameters are estimated: ${total} in the layers, with feed-forward layers of four times the model width, without embeddings.`;
}

/** The end of the axis below and above all sizes: powers of 1,000. */
export function axis(sizes) {
  const thousands = (bytes) => Math.log(Math.max(bytes, 1)) / Math.log(1000);
  const low = Math.floor(Math.min(...sizes.map(thousands)) + 1e-9);
  const high = Math.max(Math.ceil(Math.max(...sizes.map(thousands)) - 1e-9), low + 1);
  const share = (bytes) => (thousands(bytes) - low) / (high - low);
  const names = ["1 byte", "1 kB", "1 MB", "1 GB", "1 TB", "1 PB", "1 EB"];
  const ticks = names.slice(low, high + 1).map((name, at) => ({ name, at: at / (high - low) }));
  return { share, ticks };
}
