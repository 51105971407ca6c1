// What the metric bench works out of the texts in its fields, apart from what touches the page.

import { sentenceBleu } from "../../browser/metrics/bleu.js";
import { sentenceChrf } from "../../browser/metrics/chrf.js";
import { countNgrams, fates, keyOf, mostInAny, ngrams } from "../../browser/metrics/ngrams.js";
import { commonSubsequence, rougeL, rougeN } from "../../browser/metrics/rouge.js";
import { cut } from "../../browser/metrics/sentences.js";

export const ORDERS = 4;
const NAMES = ["unigrams", "bigrams", "trigrams", "4-grams"];
const counted = (count, names) => `${count} ${count === 1 ? names.slice(0, -1) : names}`;

/** All scores of a state {hypothesis, references, tokenize, smooth, lowercase, order}. */
export function measure({ hypothesis, references, tokenize, smooth, lowercase, order = ORDERS }) {
  return {
    bleu: sentenceBleu(hypothesis, references, { tokenize, smooth, lowercase, maxOrder: order }),
    chrf: sentenceChrf(hypothesis, references, { lowercase }),
    rouge1: rougeN(hypothesis, references, 1),
    rouge2: rougeN(hypothesis, references, 2),
    rougeL: rougeL(hypothesis, references),
  };
}

/** The rows of the table: [name, precision, recall, score], 0 to 100; null where there is none. */
export function scoreRows({ bleu, chrf, ...rouge }) {
  const inPercent = ({ precision, recall, f }) => [100 * precision, 100 * recall, 100 * f];
  return [
    ["BLEU", bleu.score / (bleu.penalty || 1), null, bleu.score],
    ["chrF", chrf.precision, chrf.recall, chrf.score],
    ["ROUGE-1", ...inPercent(rouge.rouge1)],
    ["ROUGE-2", ...inPercent(rouge.rouge2)],
    ["ROUGE-L", ...inPercent(rouge.rougeL)],
  ];
}

/** The n-grams of the hypothesis and their fates, and which tokens of the references they cover. */
function ofOrder({ hypothesis, references, tokenize, lowercase }, order) {
  const read = (text) => cut(text, tokenize, { lowercase });
  const [tokens, others] = [read(hypothesis), references.map(read)];
  const counters = others.map((other) => countNgrams(other, order));
  const ceiling = mostInAny(counters);
  const told = fates(tokens, order, ceiling);
  const own = countNgrams(tokens, order);
  const runs = ngrams(tokens, order).map((ngram, place) => {
    const key = keyOf(ngram);
    return { text: key, key, fate: told[place], own: own.get(key), most: ceiling.get(key) ?? 0 };
  });
  const covered = others.map((other) => {
    const keys = ngrams(other, order).map(keyOf);
    return other.map((text, place) => {
      const through = keys.slice(Math.max(0, place - order + 1), place + 1);
      return { text, keys: through, marked: through.some((key) => own.has(key)) };
    });
  });
  return { runs, references: covered };
}

/** The longest common subsequence with the reference that ROUGE-L counts. */
function ofSubsequence({ hypothesis, references }) {
  const [tokens, others] = [cut(hypothesis, "rouge"), references.map((text) => cut(text, "rouge"))];
  const fs = references.map((text) => rougeL(hypothesis, [text]).f);
  const best = fs.indexOf(Math.max(...fs));
  const places = commonSubsequence(others[best], tokens);
  const [theirs, ours] = [0, 1].map((side) => new Set(places.map((pair) => pair[side])));
  const runs = tokens.map((text, place) => ({
    text,
    key: text,
    fate: ours.has(place) ? "match" : "miss",
  }));
  const covered = others.map((other, number) =>
    other.map((text, place) => ({ text, keys: [], marked: number === best && theirs.has(place) })),
  );
  return { runs, references: covered, length: places.length };
}

/** What is drawn: n-grams of order shown + 1, or behind the last order the common subsequence. */
export function picture(state, shown) {
  return shown < ORDERS ? ofOrder(state, shown + 1) : ofSubsequence(state);
}

/** BLEU's row for each order: [n, found, of, percent, whether smoothing changed it]. */
export function orderRows({ matches, totals, precisions }) {
  return matches.map((match, place) => {
    const plain = totals[place] ? (100 * match) / totals[place] : 0;
    return [
      place + 1,
      match,
      totals[place],
      precisions[place],
      Math.abs(precisions[place] - plain) > 1e-9,
    ];
  });
}

/** The selected n-gram, in words. */
export function runInWords({ text, own, most, fate }) {
  if (own === undefined) {
    return fate === "match"
      ? `“${text}” is in the longest common subsequence.`
      : `“${text}” is not in the longest common subsequence.`;
  }
  const times = (count) => (count === 1 ? "once" : `${count} times`);
  if (!most)
    return `“${text}” occurs ${times(own)} in the hypothesis and in no reference: no match.`;
  const counts = Math.min(own, most);
  return `“${text}” occurs ${times(own)} in the hypothesis and at most ${times(most)} in a single reference: ${counts} ${counts === 1 ? "match" : "matches"}.`;
}

/** The state in words. */
export function measuredInWords({ bleu }) {
  const { matches, totals, hypothesisLength: own, referenceLength: other } = bleu;
  if (!own) return "The hypothesis is empty: there is nothing to count.";
  if (!other) return "The references are empty: there is nothing to compare with.";
  const parts = matches
    .map((match, place) => `${match} of ${counted(totals[place], NAMES[place])}`)
    .filter((_, place) => totals[place]);
  const penalty = own < other ? `brevity penalty ${bleu.penalty.toFixed(3)}` : "no brevity penalty";
  const length = `the hypothesis has ${counted(own, "tokens")}, the reference ${other}: ${penalty}`;
  return `Matches: ${parts.join(", ")}; ${length}. BLEU is ${bleu.score.toFixed(2)}.`;
}
