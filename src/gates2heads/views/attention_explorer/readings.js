// What several models made of one text: pure functions, tested in Node.

import { visible } from "../../browser/live/pieces.js";

/** One row of a map {shape: [T, S], data} as numbers. */
export function rowOf({ shape: [, size], data }, step) {
  return Array.from(data.subarray(step * size, (step + 1) * size));
}

/** From scores to weights, in numbers: [{place, score, exp, weight}…], the largest weight first. */
export function softmaxRows(weights, scores) {
  const highest = scores ? Math.max(...scores) : null;
  return weights
    .map((weight, place) => ({
      place,
      weight,
      score: scores ? scores[place] : null,
      exp: scores ? Math.exp(scores[place] - highest) : weight / Math.max(...weights),
    }))
    .sort((a, b) => b.weight - a.weight || a.place - b.place);
}

/** Cuts rows after the first `count`; what is left is one sum. */
export function headAndRest(rows, count) {
  const rest = rows.slice(count);
  const total = (name) => rest.reduce((sum, row) => sum + row[name], 0);
  return {
    head: rows.slice(0, count),
    rest: rest.length ? { count: rest.length, weight: total("weight"), exp: total("exp") } : null,
  };
}

/**
 * A text cut where it agrees with another and where it does not: [{text, isSame}…], whole
 * characters, place by place; what one has more is not the same.
 */
export function compared(text, other) {
  const [ours, theirs] = [[...text], [...other]];
  const parts = [];
  ours.forEach((character, place) => {
    const isSame = character === theirs[place];
    if (parts.length && parts.at(-1).isSame === isSame) parts.at(-1).text += character;
    else parts.push({ text: character, isSame });
  });
  return parts;
}

/** Tokens as text, the end left out. */
export const joinTokens = (tokens) => tokens.filter((token) => token !== "<eos>").join("");

/** A step in words, for those who do not see the picture. */
export function stepInWords({ source, target, weights }, step, name) {
  const sign = (token) =>
    token === "<eos>" ? "the end token" : token === " " ? "a space" : `“${token}”`;
  const begin = `Step ${step + 1} outputs ${sign(target[step])}`;
  if (!weights) return `${begin}; the decoder of “${name}” sees only one context vector.`;
  const rows = softmaxRows(rowOf(weights, step), null).slice(0, 3);
  const named = rows.filter(({ weight }, rank) => rank === 0 || weight >= 0.05);
  const parts = named.map(({ place, weight }) => `${sign(source[place])} (${weight.toFixed(2)})`);
  if (parts.length === 1) return `${begin}; the largest weight is on ${parts[0]}.`;
  const [last, before] = [parts.at(-1), parts.slice(0, -1)];
  return `${begin}; the largest weights are on ${before.join(", ")} and ${last}.`;
}

/** A character as it is shown: spaces and the end of a sequence have signs. */
export const sign = (token) => (token === "<eos>" ? "∎" : token === " " ? "␣" : visible(token));
