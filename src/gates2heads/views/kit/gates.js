// What a run of a network with gates says, in numbers, lines and words: no page is touched here.

import { visible } from "../../browser/live/pieces.js";

// The order in which the quantities are listed: from the gates to the output.
export const ORDER = [
  "reset",
  "update",
  "forget",
  "input",
  "candidate",
  "cell",
  "output",
  "hidden",
];
export const GATES = new Set(["reset", "update", "forget", "input", "output"]);
export const NAMES = {
  reset: "reset gate",
  update: "update gate",
  forget: "forget gate",
  input: "input gate",
  output: "output gate",
  candidate: "candidate",
  cell: "cell",
  hidden: "hidden state",
  surprise: "surprisal",
};
const FULL = 32767; // of a number in two bytes
const LEVELS = 10; // shades on either side of zero
export const SURPRISE = 8; // bits at which the bar of a surprisal is full, unless one has more
const NAMED = 3; // characters that the sentence about a change names

/** What Python recorded, in the shape in which a live answer comes; bytes: a DataView. */
export function decoded({ tokens, vocabulary, units, scales }, bytes) {
  let at = 0;
  const tables = scales.map(([name, scale]) => {
    const size =
      name === "logProbs" ? (tokens.length + 1) * vocabulary.length : tokens.length * units;
    const table = Float32Array.from(
      { length: size },
      () => (bytes.getInt16(2 * at++, true) / FULL) * scale,
    );
    return [name, table];
  });
  const { logProbs, ...quantities } = Object.fromEntries(tables);
  const ids = tokens.map((token) => vocabulary.indexOf(token));
  return { text: tokens.join(""), tokens, vocabulary, ids, units, quantities, logProbs };
}

/** The quantities of a run, in the order in which they are shown. */
export const quantitiesOf = ({ quantities }) => ORDER.filter((name) => name in quantities);

/** One quantity of one unit: a number for each character. */
export function seriesOf({ tokens, units, quantities }, name, unit) {
  return Array.from(tokens, (_, place) => quantities[name][place * units + unit]);
}

/** How surprising each character was, in bits. */
export function bitsOf({ ids, logProbs, vocabulary: { length } }) {
  return ids.map((id, place) => -logProbs[place * length + id] / Math.LN2);
}

export const meanOf = (numbers) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;

/** The probability of a token once some characters have been read. */
export function probability({ logProbs, vocabulary: { length } }, read, id) {
  return Math.exp(logProbs[read * length + id]);
}

/** The likeliest tokens once some characters have been read: [{id, token, share}…]. */
export function likeliest(run, read, count = 5) {
  const shares = run.vocabulary.map((token, id) => ({
    id,
    token,
    share: probability(run, read, id),
  }));
  return shares.sort((one, other) => other.share - one.share || one.id - other.id).slice(0, count);
}

/** The value at which a unit's bar is full: 1, or more where a cell holds more. */
export function mostOf(runs, name, unit) {
  if (name !== "cell") return 1;
  return Math.max(1, ...runs.flatMap((run) => seriesOf(run, name, unit).map(Math.abs)));
}

/**
 * The value at which a shade among all units is full; a cell that holds more has the same shade.
 */
export const fullShade = (name) => (name === "cell" ? 2 : 1);

const short = (number) => String(Number(number.toFixed(3)));

/**
 * Bars in a box one high and as wide as there are values: from the floor, or from the middle where
 * values have signs. Gives {above, below}: paths of the bars over and under zero.
 */
export function bars(values, most, hasSign) {
  const paths = { above: "", below: "" };
  const zero = hasSign ? 0.5 : 1;
  values.forEach((value, place) => {
    const height = Math.min(Math.abs(value) / most, 1) * zero;
    if (height < 0.002) return;
    const top = value > 0 ? zero - height : zero;
    paths[value > 0 ? "above" : "below"] += `M${place} ${short(top)}h1v${short(height)}h-1z`;
  });
  return paths;
}

/** The same values as a line of steps. */
export function steps(values, most, hasSign) {
  const heights = values.map((value) => {
    const share = Math.max(Math.min(value / most, 1), -1);
    return short(hasSign ? 0.5 - share / 2 : 1 - share);
  });
  return heights.map((height, place) => `${place ? "V" : "M0 "}${height}H${place + 1}`).join("");
}

/**
 * One quantity of all units as shades: for each level from 1 to LEVELS the paths of the cells above
 * and below zero, in a box as wide as there are characters and as high as there are units.
 */
export function shades({ tokens, units, quantities }, name, most) {
  const paths = Array.from({ length: LEVELS }, (_, level) => ({
    opacity: (level + 1) / LEVELS,
    above: "",
    below: "",
  }));
  const levelAt = (place, unit) => {
    const value = quantities[name][place * units + unit];
    return Math.sign(value) * Math.min(Math.round((Math.abs(value) / most) * LEVELS), LEVELS);
  };
  for (let unit = 0; unit < units; unit++) {
    for (let place = 0; place < tokens.length;) {
      const level = levelAt(place, unit);
      const start = place;
      while (place < tokens.length && levelAt(place, unit) === level) place++;
      if (level)
        paths[Math.abs(level) - 1][level > 0 ? "above" : "below"] +=
          `M${start} ${unit}h${place - start}v1h${start - place}z`;
    }
  }
  return paths.filter(({ above, below }) => above || below);
}

/** A character as it can be seen in one place. */
export const seen = (token) =>
  token === "\n" ? "⏎" : token === " " ? "␣" : /^<\w+>$/.test(token) ? "end" : visible(token);

/** A number with its sign, as text has it. */
export const told = (number, places = 2) =>
  number
    .toFixed(places)
    .replace(/^-0(\.0*)?$/, "0$1")
    .replace("-", "−");

/** A value from 0 to 1 without needless places. */
export const plainly = (value) => told(value).replace(/\.00$/, "");

/** What a unit does at a character: "forget gate 0.98, …". */
export function unitInWords(run, unit, place) {
  return quantitiesOf(run)
    .map((name) => `${NAMES[name]} ${told(seriesOf(run, name, unit)[place])}`)
    .join(", ");
}

/** What is clamped: "forget gate at 0 and output gate at 1, in unit 7 alone". */
export function heldInWords(gates, alone, unit) {
  const parts = Object.entries(gates).map(([gate, value]) => `${NAMES[gate]} at ${plainly(value)}`);
  return `${parts.join(" and ")}, in ${alone ? `unit ${unit} alone` : "all units"}`;
}

/** What clamping changed: bits per character before and after, and where most. */
export function changeInWords(base, now) {
  const [before, after] = [bitsOf(base), bitsOf(now)];
  const rounded = (bits) => Math.round(100 * bits) / 100;
  const gap = rounded(meanOf(after)) - rounded(meanOf(before)); // of the numbers as they are shown
  const rises = after.map((bits, place) => bits - before[place]);
  const little = (change) => Math.abs(change) < 0.005;
  if (rises.every(little))
    return `${told(meanOf(after))} bits per character, the same as without the clamp.`;
  const places = rises.map((_, place) => place).sort((a, b) => rises[b] - rises[a]);
  const worst = places.slice(0, NAMED).filter((place) => rises[place] > 0.1);
  const where = worst.map(
    (place) => `“${seen(now.tokens[place])}” (character ${place + 1}) +${told(rises[place], 1)}`,
  );
  const most = where.length ? ` Largest increase in bits: ${where.join(", ")}.` : "";
  const mean = little(gap)
    ? "on average the same as without the clamp"
    : `${told(Math.abs(gap))} ${gap > 0 ? "more" : "fewer"} than without the clamp`;
  return `${told(meanOf(after))} bits per character, ${mean}.${most}`;
}
