// What the leaderboard works out of its rungs and of the texts that are read, apart from the page.

import { sentenceBleu } from "../../browser/metrics/bleu.js";
import { sentenceChrf } from "../../browser/metrics/chrf.js";
import { picture } from "../kit/metrics.js";

export const SEARCHES = ["beam of five", "greedy"];
export const QUALITIES = [
  { label: "BLEU", keys: ["bleu", "bleu_greedy"], up: true, places: 1 },
  { label: "chrF", keys: ["chrf", "chrf_greedy"], up: true, places: 1 },
  { label: "perplexity", keys: ["perplexity"], up: false, places: 2 },
  { label: "perplexity, free-running", keys: ["perplexity_free_running"], up: false, places: 0 },
];
export const COSTS = [
  {
    label: "parameters",
    unit: "millions",
    keys: ["parameters"],
    up: false,
    places: 1,
    scale: 1e-6,
  },
  {
    label: "training cost",
    unit: "relative to the GRU",
    keys: ["cost"],
    up: false,
    places: 2,
  },
  {
    label: "decoding cost",
    unit: "one caption, relative to the GRU",
    keys: ["decoding", "decoding_greedy"],
    up: false,
    places: 2,
  },
];
export const LENGTH = COSTS.length; // behind the costs: the length of the German sentence
export const COLUMNS = [...QUALITIES, ...COSTS];

/** Mean, interval and single runs of a rung by one measure, in the unit of its column; or null. */
export function standing(entry, measure, search = 0) {
  const told = entry.scores[measure.keys[search] ?? measure.keys[0]];
  if (!told) return null;
  const scale = measure.scale ?? 1;
  const values = told.values.map((value) => value * scale);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  // Parameters are the same in every run: there is nothing to be unsure of.
  const isSure = values.length < 2 || values.every((value) => value === values[0]);
  return isSure
    ? { mean, values, low: null, high: null }
    : { mean, values, low: told.low * scale, high: told.high * scale };
}

/** "38.9 ± 0.8", or the mean alone. */
export function numberInWords(told, places) {
  if (!told) return "–";
  const mean = told.mean.toFixed(places);
  if (told.low === null) return mean;
  const half = (told.high - told.low) / 2;
  const few = half.toFixed(places);
  return `${mean} ± ${Number(few) ? few : half.toFixed(places + 1)}`;
}

/** The places of the rungs that the filters let through. */
export function letThrough(entries, { family, attention, families }) {
  return entries
    .map((_, place) => place)
    .filter((place) => {
      const one = entries[place];
      return (
        (!family || one.family === families[family - 1]) &&
        (!attention || one.attention === (attention === 1))
      );
    });
}

/** Those places by a column, the best first or last; what has no number comes last. */
export function inOrder(entries, places, { column, best, search }) {
  const measure = COLUMNS[column];
  const key = (place) => standing(entries[place], measure, search)?.mean;
  const sign = (measure.up ? -1 : 1) * (best ? 1 : -1);
  return [...places].sort((one, other) => {
    const [a, b] = [key(one), key(other)];
    if (a === undefined || b === undefined)
      return (a === undefined) - (b === undefined) || one - other;
    return sign * (a - b) || one - other;
  });
}

/** Round numbers from low to high, at most `most` steps; for a logarithmic axis 1, 2, 5, 10, … */
export function ticks(low, high, { log = false, most = 6 } = {}) {
  if (log) {
    const found = [];
    for (let ten = 10 ** Math.floor(Math.log10(low)); ten <= high; ten *= 10) {
      for (const times of [1, 2, 5])
        if (times * ten >= low && times * ten <= high) found.push(times * ten);
    }
    return found;
  }
  const rough = (high - low) / most;
  const ten = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * ten).find((one) => one >= rough - 1e-12);
  const first = Math.ceil(low / step - 1e-9);
  return Array.from(
    { length: Math.floor(high / step + 1e-9) - first + 1 },
    (_, n) => (first + n) * step,
  );
}

/** How one text fares beside the reference: its scores and the fate of each word. */
export function judged(text, reference) {
  const state = { hypothesis: text, references: [reference], tokenize: "13a", lowercase: false };
  return {
    bleu: sentenceBleu(text, [reference]).score,
    chrf: sentenceChrf(text, [reference]).score,
    runs: picture(state, 0).runs,
  };
}

/**
 * What was written for one caption with one seed, and by the reader: [{name, text, …}], best first.
 */
export function readings(entries, places, { caption, seed, own, reference }) {
  const rows = places.flatMap((place) => {
    const entry = entries[place];
    const run = entry.ranked ? entry.seeds.indexOf(seed) : 0;
    const text = entry.texts[run]?.[caption];
    return text === undefined
      ? []
      : [{ place, name: entry.name, text, ...judged(text, reference) }];
  });
  if (own.trim()) rows.push({ place: -1, name: "you", text: own, ...judged(own, reference) });
  return rows.sort((one, other) => other.chrf - one.chrf || one.place - other.place);
}

const count = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;

/** A column with its search, where the search matters: "BLEU (greedy)". */
function columnInWords({ column, search }) {
  const { keys, label } = COLUMNS[column];
  return keys.length > 1 ? `${label} (${SEARCHES[search]})` : label;
}

/** What the numbers before the models count. */
export const rankInWords = (state) => `rank by ${columnInWords(state)}`;

/** The board in words. */
export function boardInWords(entries, places, { column, best, search }) {
  const measure = COLUMNS[column];
  const name = columnInWords({ column, search });
  const ranked = inOrder(entries, places, { column, best, search }).filter(
    (place) => entries[place].ranked,
  );
  if (!ranked.length) return "No ranked model matches these filters. Remove a filter.";
  const [first, second] = ranked.map((place) => ({
    entry: entries[place],
    told: standing(entries[place], measure, search),
  }));
  const say = ({ entry, told }) => `${entry.name}, ${numberInWords(told, measure.places)}`;
  const end = best ? "best" : "last";
  const scored = ranked.filter((place) => standing(entries[place], measure, search));
  const parts = [`${count(scored.length, "model")} by ${name}; ${end}: ${say(first)}`];
  if (second) {
    const [a, b] = [first.told, second.told];
    const apart = a && b && a.low !== null && b.low !== null && (a.low > b.high || b.low > a.high);
    const bare = a && b && (a.low === null || b.low === null);
    const overlapping =
      "the intervals overlap, which alone does not decide the order: see section 10.4";
    const how = bare ? "" : ` (${apart ? "the intervals do not overlap" : overlapping})`;
    parts.push(`then ${say(second)}${how}`);
  }
  return `${parts.join(", ")}.`;
}

/** The message about the translations below the caption. */
export function readingsInWords(rows, entries, places, seed) {
  const missing = places
    .filter((place) => !rows.some((row) => row.place === place))
    .map((place) => entries[place].name);
  const own = rows.findIndex((row) => row.place === -1);
  const said = [];
  if (own >= 0) {
    const yours = `Yours: BLEU ${rows[own].bleu.toFixed(1)}, chrF ${rows[own].chrf.toFixed(1)}`;
    said.push(
      rows.length > 1
        ? `${yours}, position ${own + 1} of ${rows.length} by chrF of this one sentence.`
        : `${yours} for this one sentence. No model is left to compare it with.`,
    );
  } else if (rows.length)
    said.push(`Best by chrF of this one sentence: ${rows[0].name}, ${rows[0].chrf.toFixed(1)}.`);
  if (missing.length) said.push(`No run with seed ${seed}: ${missing.join(", ")}.`);
  return said.join(" ");
}

/** The rungs of which no texts were kept, so that they have no line by length; in words. */
export function missingLines(entries, places) {
  const gone = places
    .filter((place) => !entries[place].lengths.length)
    .map((place) => entries[place].name);
  return gone.length ? `No line for ${gone.join(", ")}: the outputs were not stored.` : "";
}
