// Heads, words and weights of the head explorer: pure functions, tested in Node.

import { isBytes, visible } from "../../browser/live/pieces.js";

export const BLOCKS = [
  { name: "encoder self-attention", layer: (depth) => `encoder_layers.${depth}.self_attn` },
  { name: "decoder self-attention", layer: (depth) => `decoder_layers.${depth}.self_attn` },
  { name: "cross-attention", layer: (depth) => `decoder_layers.${depth}.cross_attn` },
];
const FAINTEST = 0.02; // a smaller weight is not drawn
const SHADES = 6; // of a small picture

// ---- words and their order

/** The words of a sentence, and the punctuation mark at its end, which stays there. */
export function wordsIn(text) {
  const end = text.match(/\s*[.!?…]+$/u)?.[0] ?? "";
  return {
    words: text
      .slice(0, text.length - end.length)
      .split(" ")
      .filter(Boolean),
    end,
  };
}

/** The sentence with its words in another order: word order[0] first. */
export function inOrder(text, order) {
  const { words, end } = wordsIn(text);
  return isOrder(order, words.length) ? order.map((place) => words[place]).join(" ") + end : text;
}

export const unmoved = (count) => Array.from({ length: count }, (_, place) => place);
export const isUnmoved = (order) => order.every((from, place) => from === place);

/** Whether the list contains each index exactly once. */
export function isOrder(order, count) {
  return (
    order.length === count &&
    [...order].sort((a, b) => a - b).every((from, place) => from === place)
  );
}

/** The order with the word at `from` taken out and put in at `to`. */
export function moved(order, from, to) {
  const rest = order.filter((_, place) => place !== from);
  return [...rest.slice(0, to), order[from], ...rest.slice(to)];
}

/** A random order of as many words, never the one in which they were typed. */
export function shuffled(count, random = Math.random) {
  const order = unmoved(count);
  for (let place = count - 1; place > 0; place -= 1) {
    const other = Math.floor(random() * (place + 1));
    [order[place], order[other]] = [order[other], order[place]];
  }
  return count > 1 && isUnmoved(order) ? moved(order, 0, count - 1) : order;
}

// ---- which heads are off: a list of [layer, head]

const same = (one, other) => one[0] === other[0] && one[1] === other[1];

export const isOff = (off, head) => off.some((one) => same(one, head));

/** All heads of blocks {shape: [layers, heads, …]}; of one block, or one layer of it, if given. */
export function headsWithin(shapes, block = null, depth = null) {
  return shapes.flatMap(([layers, heads], at) =>
    block !== null && at !== block
      ? []
      : unmoved(layers)
          .filter((layer) => depth === null || layer === depth)
          .flatMap((layer) => unmoved(heads).map((head) => [BLOCKS[at].layer(layer), head])),
  );
}

export const without = (off, heads) => off.filter((one) => !isOff(heads, one));
export const together = (off, heads) => [...off, ...heads.filter((one) => !isOff(off, one))];

/** A head off if it is on, on if it is off. */
export const toggled = (off, head) =>
  isOff(off, head) ? without(off, [head]) : together(off, [head]);

/** All heads `within` off but this one. */
export const alone = (off, head, within) => without(together(off, within), [head]);

/** Which heads are off, in words. */
export function offInWords(off, shapes) {
  const all = headsWithin(shapes).length;
  if (!off.length) return `All ${all} heads are on`;
  return `${off.length} of ${all} heads ${off.length === 1 ? "is" : "are"} off`;
}

// ---- weights

/** The labels of pieces: a piece that continues a word begins with a hyphen. */
export function labelsOf(pieces) {
  return pieces.map((piece, place) => {
    if (piece === "<eos>") return "end";
    if (piece === "<bos>") return "start";
    if (isBytes(piece)) return piece; // <0xF0>, one byte of a character
    if (piece.startsWith(" ")) return visible(piece.slice(1));
    return place && /^[\p{L}\p{N}]/u.test(piece) ? `-${visible(piece)}` : visible(piece);
  });
}

/** Labels of the queries (rows) and the keys (columns) of a block. */
export function sidesOf({ source, target }, block) {
  const [read, written] = [labelsOf(source), labelsOf(target)];
  if (block === 0) return { rows: read, columns: read };
  if (block === 2) return { rows: written, columns: read };
  const before = ["start", ...written.slice(0, -1)]; // the input of each step
  return { rows: before, columns: before };
}

/** The weights of one head, row by row: [[…]…]. */
export function mapOf({ shape: [, heads, rows, columns], data }, depth, head) {
  const start = (depth * heads + head) * rows * columns;
  return Array.from({ length: rows }, (_, row) =>
    Array.from(data.subarray(start + row * columns, start + (row + 1) * columns)),
  );
}

/**
 * The weights of a row in each head: the `count` largest in any head, in their order, and the rest.
 */
export function numbersOf(maps, row, count) {
  const places = unmoved(maps[0][row].length);
  const largest = (place) => Math.max(...maps.map((map) => map[row][place]));
  const chosen = [...places].sort((a, b) => largest(b) - largest(a) || a - b).slice(0, count);
  const head = chosen
    .sort((a, b) => a - b)
    .map((place) => ({ place, weights: maps.map((map) => map[row][place]) }));
  const others = places.filter((place) => !chosen.includes(place));
  const sum = (map) => others.reduce((total, place) => total + map[row][place], 0);
  return { head, rest: others.length ? { count: others.length, weights: maps.map(sum) } : null };
}

/** A small picture of weights in a few shades: [{opacity, path}…], one unit square per weight. */
export function thumbnail(map) {
  const paths = Array.from({ length: SHADES }, () => "");
  map.forEach((row, t) =>
    row.forEach((weight, s) => {
      const shade = Math.ceil(weight * SHADES - 0.5);
      if (shade > 0) paths[Math.min(shade, SHADES) - 1] += `M${s} ${t}h1v1h-1z`;
    }),
  );
  return paths
    .map((path, shade) => ({ opacity: (shade + 1) / SHADES, path }))
    .filter(({ path }) => path);
}

/** The weights of a map that are large enough for a line: [{row, column, weight}…]. */
export function lines(map, least = FAINTEST) {
  return map.flatMap((row, t) =>
    row.flatMap((weight, s) => (weight >= least ? [{ row: t, column: s, weight }] : [])),
  );
}

/**
 * The position of each piece of one sentence in another with the same pieces; null if it has others.
 */
export function matched(pieces, others) {
  const free = new Map();
  others.forEach((piece, place) => free.set(piece, [...(free.get(piece) ?? []), place]));
  const places = pieces.map((piece) => free.get(piece)?.shift());
  return places.length === others.length && !places.includes(undefined) ? places : null;
}

/** The largest difference between weights (…, S, S) and others whose S pieces are at `places`. */
export function gapBetween(block, other, places) {
  const size = places.length;
  let largest = 0;
  for (let map = 0; map < block.data.length; map += size * size) {
    for (let row = 0; row < size; row += 1) {
      for (let column = 0; column < size; column += 1) {
        const there = other.data[map + places[row] * size + places[column]];
        largest = Math.max(largest, Math.abs(block.data[map + row * size + column] - there));
      }
    }
  }
  return largest;
}

// ---- what the model was not trained on

/** One sentence on characters that the model reads as single bytes, or an empty one. */
export function warningOf(pieces) {
  return pieces.some((piece) => isBytes(piece))
    ? "Some of these characters never occurred in training. The model reads them as single bytes, such as <0xF0>, and its output has little to do with them."
    : "";
}

// ---- two translations

/** A word without the punctuation around it: “ball” and “ball.” are the same word. */
const bare = (word) => word.replace(/^\p{P}+|\p{P}+$/gu, "") || word;

/** A text split into words that the other text has too, in the same order, and other words. */
export function compared(text, other) {
  const [ours, theirs] = [text, other].map((one) => one.split(" ").filter(Boolean));
  const longest = Array.from({ length: ours.length + 1 }, () =>
    new Array(theirs.length + 1).fill(0),
  );
  for (let i = ours.length - 1; i >= 0; i -= 1) {
    for (let j = theirs.length - 1; j >= 0; j -= 1) {
      longest[i][j] =
        bare(ours[i]) === bare(theirs[j])
          ? longest[i + 1][j + 1] + 1
          : Math.max(longest[i + 1][j], longest[i][j + 1]);
    }
  }
  const parts = [];
  for (let i = 0, j = 0; i < ours.length;) {
    const isSame = j < theirs.length && bare(ours[i]) === bare(theirs[j]);
    if (isSame || j === theirs.length || longest[i + 1][j] >= longest[i][j + 1]) {
      parts.push({ text: ours[i], isSame });
      i += 1;
      j += isSame ? 1 : 0;
    } else j += 1;
  }
  return parts;
}

/** A number of nats with a true minus sign. */
export const nats = (number) => number.toFixed(2).replace("-", "−");

/** How much less probable something became, from `before` to `after` nats. */
export function timesInWords(before, after) {
  const change = after - before;
  if (Math.abs(change) < 0.005) return "as probable as before";
  if (Math.abs(change) < 0.05) return "about as probable as before";
  const times = Math.exp(Math.abs(change));
  const rounded = times < 10 ? times.toFixed(1) : Number(times.toPrecision(2)).toLocaleString("en");
  const factor = times < 1e6 ? rounded : "more than a million";
  return `${factor} times ${change < 0 ? "less" : "more"} probable`;
}
