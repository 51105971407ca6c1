// Words that occur again: which they are, how surprising they were, and what a head attends to.

import { shuffled } from "../kit/heads.js";

const DARK = 10; // bits from which a word is shaded most
const BOS = "<bos>";
const ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth"];

// ---- which words are repeats

/**
 * Which kind of word each token is. "first": it did not occur before. "repeat": its previous word
 * occurred earlier and was followed by this same word. "other": it occurred before, but not so.
 */
export function kindsOf(tokens) {
  return tokens.map((token, at) => {
    if (at === 0) return "start";
    const before = tokens.slice(1, at);
    if (!before.includes(token)) return "first";
    const isPair = before.some(
      (one, place) => place && one === token && before[place - 1] === tokens[at - 1],
    );
    return isPair ? "repeat" : "other";
  });
}

/**
 * The words of a kind: how many they are, their mean surprisal in bits (null if there are none), and
 * how many of them were the most probable word. Word `at` has bits[at − 1], predicted by top[at − 1].
 */
export function measured({ tokens, bits, top }, kind) {
  const places = kindsOf(tokens).flatMap((one, at) => (one === kind ? [at] : []));
  const sum = places.reduce((total, at) => total + bits[at - 1], 0);
  return {
    count: places.length,
    bits: places.length ? sum / places.length : null,
    right: places.filter((at) => top[at - 1][0][0] === tokens[at]).length,
  };
}

/** The position after the last earlier occurrence of a token; null if there is none. */
export function afterEarlier(tokens, at) {
  const earlier = at > 0 ? tokens.slice(1, at).lastIndexOf(tokens[at]) + 1 : 0;
  return earlier ? earlier + 1 : null;
}

/** Where the second half of the tokens begins, if the same words are written twice; or null. */
export function secondHalf(tokens) {
  const half = (tokens.length - 1) / 2;
  const isTwice = tokens.slice(1, half + 1).every((token, at) => token === tokens[half + 1 + at]);
  return half >= 1 && Number.isInteger(half) && isTwice ? half + 1 : null;
}

/** How strongly a word is shaded, from 0 to 1. */
export const shade = (bits) => Math.min(bits / DARK, 1);

// ---- texts

/** The different words of a text, in their order; case does not matter. */
export function differentWords(text) {
  const found = new Map();
  for (const word of text.split(/\s+/).filter(Boolean)) {
    if (!found.has(word.toLowerCase())) found.set(word.toLowerCase(), word);
  }
  return [...found.values()];
}

/** Words written twice, in the same order. */
export const twice = (words) => [...words, ...words].join(" ");

/** Words in a random order, which is another one. */
export const reordered = (words, random) =>
  shuffled(words.length, random).map((place) => words[place]);

/** Different words of the vocabulary, chosen at random. */
export const someWords = (vocabulary, count, random) =>
  reordered(vocabulary, random).slice(0, count);

// ---- heads

/** All heads of a model {layers, heads}, as [layer, head] with the names of the model. */
export const headsOf = ([layers, heads]) =>
  Array.from({ length: layers * heads }, (_, at) => [
    `layers.${Math.floor(at / heads)}`,
    at % heads,
  ]);

/** The heads that are off among those that a model has, in their order. */
export const existing = (off, size) =>
  headsOf(size).filter(([layer, head]) => off.some((one) => one[0] === layer && one[1] === head));

/** A head by its layer and its number there, both counted from 1: 2.1. */
export const headName = (layer, head) => `${layer + 1}.${head + 1}`;

/** Which heads are off, in a few words; a layer without any head by its own name. */
export function offInWords(off, [layers, heads]) {
  const [single, whole] = [[], []];
  for (let depth = 0; depth < layers; depth += 1) {
    const own = off.filter(([layer]) => layer === `layers.${depth}`);
    if (own.length === heads) whole.push(`layer ${depth + 1}`);
    else single.push(...own.map(([, head]) => headName(depth, head)));
  }
  const parts = [...whole];
  if (single.length) parts.unshift(`${single.length > 1 ? "heads" : "head"} ${single.join(", ")}`);
  return parts.length ? `${parts.join(" and ")} off` : "all heads on";
}

// ---- sentences

export const wordNamed = (token) => (token === BOS ? "start" : token);

/** A number of bits; a mean over no words is a dash. */
export const inBits = (bits) => (bits === null ? "–" : `${bits.toFixed(2)} bits`);

/** “wolf”, or the second “wolf” where it occurs more than once. */
function occurrence(tokens, at) {
  if (at === 0) return "the start of the sequence";
  const same = tokens.flatMap((token, place) => (token === tokens[at] ? [place] : []));
  const number = same.indexOf(at);
  const name = `“${tokens[at]}”`;
  return same.length === 1 ? name : `the ${ORDINALS[number] ?? `${number + 1}th`} ${name}`;
}

/** What a key is to a query: the words after “gives … of its attention to”. */
function relation(tokens, query, key) {
  const name = `“${tokens[key]}”`;
  if (key === query) return query ? "this word itself" : "itself";
  if (key === 0) return "the start of the sequence";
  if (key > 1 && tokens[key - 1] === tokens[query]) {
    return `${name}, the word after the earlier “${tokens[query]}”`;
  }
  if (tokens[key] === tokens[query]) return `the earlier ${name}`;
  return key === query - 1 ? `${name}, the previous word` : `${name}, word ${key}`;
}

/** What a head attends to from one token, whose row of weights this is. */
export function attentionInWords({ tokens, row, at, name, isOff }) {
  const most = row
    .slice(0, at + 1)
    .reduce((best, weight, place) => (weight > row[best] ? place : best), 0);
  const gives = `From ${occurrence(tokens, at)}, head ${name} gives ${row[most].toFixed(2)} of its attention to ${relation(tokens, at, most)}`;
  const said = [row[most] > 0.5 ? `${gives}.` : `${gives}; no other word receives more.`];
  const after = afterEarlier(tokens, at);
  const isTold = after === null || after === most || (most > 1 && tokens[most - 1] === tokens[at]);
  if (!isTold) {
    said.push(
      `“${tokens[after]}”, the word after the earlier “${tokens[at]}”, receives ${row[after].toFixed(2)}.`,
    );
  }
  if (isOff) said.push("This head is off: its output is not added.");
  return said.join(" ");
}

/** What comes next after a token: the most probable word, and the word of the text. */
export function nextInWords({ tokens, bits, top }, at) {
  const [[word, prob]] = top[at];
  const said = `The most probable next word is “${word}” (${prob.toFixed(2)})`;
  if (at === tokens.length - 1) return `${said}.`;
  if (tokens[at + 1] === word) return `${said}, which is the next word of the text.`;
  return `${said}; the text continues with “${tokens[at + 1]}” (${(2 ** -bits[at]).toFixed(2)}).`;
}
