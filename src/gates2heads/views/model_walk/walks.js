// A walk through a model as positions, sizes and words: pure functions, tested in Node.

import { labelsOf } from "../kit/heads.js";

export const PARTS = {
  embedding: "embedding and positional encoding",
  self_attn: "self-attention",
  cross_attn: "cross-attention",
  feed_forward: "feed-forward network",
};
const SHORT = { self_attn: "self", cross_attn: "cross", feed_forward: "FFN" };

/** The boxes of the picture: [{stack, block, name, stages}…], the encoder's first. */
export function boxesOf(stages) {
  const boxes = [];
  for (const stage of stages) {
    const { stack, block } = stage;
    const last = boxes.at(-1);
    if (last && last.stack === stack && last.block === block) last.stages.push(stage);
    else
      boxes.push({ stack, block, name: block ? `block ${block}` : "embedding", stages: [stage] });
  }
  return boxes;
}

/** The parts of a box in short words. */
export function partsInWords({ block, stages }) {
  return block ? stages.map(({ part }) => SHORT[part]).join(" · ") : "token + position";
}

/** Where the decoder begins among the boxes. */
export const firstWriting = (boxes) => boxes.findIndex(({ stack }) => stack === "decoder");

/** The box of a stack that is as deep as the one at a place, or as deep as there is. */
export function placeWithin(boxes, place, stack) {
  const fit = boxes.findLastIndex((box) => box.stack === stack && box.block <= boxes[place].block);
  return boxes[place].stack === stack ? place : fit;
}

/** The place and step after these, or before; null at the end of the way. */
export function goOn({ place, step }, boxes, steps, forward) {
  const begin = firstWriting(boxes);
  if (forward) {
    if (place < boxes.length - 1) return { place: place + 1, step };
    return step < steps - 1 ? { place: begin, step: step + 1 } : null;
  }
  if (place === begin && step > 0) return { place: boxes.length - 1, step: step - 1 };
  return place > 0 ? { place: place - 1, step } : null;
}

/**
 * What a reader sees of the pieces: who is read, who is written, and what each step has just read.
 */
export function wordsOfWalk({ source, target }) {
  const [read, written] = [labelsOf(source), labelsOf(target)];
  return { read, written, before: ["start", ...written.slice(0, -1)] };
}

/**
 * The weights (H, L, S) of an attention in one row: of each head the weights of what it may see.
 */
export function headsAt({ shape: [heads, rows, columns], data }, row, seen = columns) {
  return Array.from({ length: heads }, (_, head) => {
    const start = (head * rows + row) * columns;
    return Array.from(data.subarray(start, start + seen));
  });
}

/** What one part of a box does at a place, shapes included. */
export function partOf(stage, { step, token }, { read, before }, width) {
  const { stack, part, weights } = stage;
  const isEncoder = stack === "encoder";
  const row = isEncoder ? token : step;
  const at = (sizes) => (sizes ? sizes[row] : null);
  const told = { part, before: at(stage.before), added: at(stage.added), after: at(stage.after) };
  const rows = isEncoder ? read.length : 1;
  const shape = isEncoder ? `S × D = ${rows} × ${width}` : `1 × D = 1 × ${width}`;
  if (!weights) return { ...told, shape, seen: null, heads: null };
  const isCross = part === "cross_attn";
  const seen = isEncoder || isCross ? read : before.slice(0, step + 1);
  return { ...told, shape, seen, isCross, heads: headsAt(weights, row, seen.length) };
}

/** How large what was added is beside what came in, as a share. */
export const shareOf = ({ before, added }) => (before > 0 ? added / before : 0);

/** A number of few digits, and one of many, as a typesetter would take it. */
export const short = (number) => number.toFixed(2);
export const grouped = (number) => number.toLocaleString("en");

/** How likely something is, as it fits into a cell. */
export function chance(logProb) {
  const share = Math.exp(logProb);
  return share < 0.005 ? "0.00" : share.toFixed(2);
}

// ---- the logit lens

export const depthName = (depth) => (depth ? `after block ${depth}` : "after the embedding");

/** The table: [depth][step] -> {word, logProb, isFinal}. */
export function cellsOf({ readouts, target }) {
  return readouts.words.map((steps, depth) =>
    steps.map(([word], step) => ({
      word,
      logProb: readouts.logProbs[depth][step][0],
      isFinal: word === target[step],
    })),
  );
}

/** From which depth on the first word is the one that is written, at one step. */
export function settledAt(cells, step) {
  let depth = cells.length - 1;
  while (depth > 0 && cells[depth - 1][step].isFinal) depth -= 1;
  return depth;
}

/** At how many steps the first word of each depth is the one that is written. */
export const agreements = (cells) =>
  cells.map((steps) => steps.filter(({ isFinal }) => isFinal).length);

/** How a word is shown: an open piece by its sign, as in the rows of tokens. */
export const wordShown = (piece) => labelsOf(["", piece])[1] || "␣";

/** The rank of the output token at a depth: 1 is the most probable. */
export function rankInWords(rank) {
  return `rank ${grouped(rank + 1)}`;
}

// ---- cached keys and values

/** The size of the cache after a step, and how many numbers recomputation would have cost. */
export function keptAt({ shape: [layers, heads, width], source, target, without }, step) {
  const each = 2 * layers * heads * width;
  return {
    each,
    layers,
    width: heads * width,
    source,
    target: target[step],
    total: source + target[step],
    without: without[step],
  };
}

export function keptInWords(cache, step) {
  const { each, layers, width, source, target, total, without } = keptAt(cache, step);
  const times = (without / total).toFixed(1);
  return (
    `Each token takes ${layers} ${layers === 1 ? "block" : "blocks"} × (key + value) × ${width} = ${grouped(each)} numbers. The cache holds ` +
    `${grouped(source)} for the source, computed once, and ${grouped(target)} for the output so far: ${grouped(total)} ` +
    `in total. Without any cache, ${grouped(without)} would have been computed by now, ${times} times as many.`
  );
}

// ---- in words

/** The open box in sentences, also for readers who do not see the picture. */
export function placeInWords(result, { place, step, token }) {
  const box = boxesOf(result.stages)[place];
  const words = wordsOfWalk(result);
  const isEncoder = box.stack === "encoder";
  const row = isEncoder ? token : step;
  const came = box.stages[0].after;
  const begin = isEncoder
    ? `Encoder, ${box.name}, at “${words.read[token]}”: `
    : `Decoder, ${box.name}, predicting “${words.written[step]}”: `;
  if (!box.block) return `${begin}a vector with RMS ${short(came[row])}.`;
  const before = short(box.stages[0].before[row]);
  const after = short(box.stages.at(-1).after[row]);
  const change = `the block changes the RMS of the vector from ${before} to ${after}.`;
  return `${begin}${change}${isEncoder ? "" : ` ${lensInWords(result, box.block, step)}`}`;
}

/** The most probable token after a block. */
export function lensInWords(result, depth, step) {
  const cell = cellsOf(result)[depth][step];
  const isLast = depth === result.readouts.words.length - 1;
  const best = `“${wordShown(cell.word)}” (${chance(cell.logProb)})`;
  if (isLast) return `The output is ${best}.`;
  const ends = cell.isFinal
    ? "this is also the final output"
    : `the final output is “${wordShown(result.target[step])}”`;
  const echo = cell.word === result.target[step - 1] ? ", the input token of this step" : "";
  return `The logit lens after this block gives ${best}${echo}; ${ends}.`;
}

/** The whole walk in a sentence or two. */
export function walkInWords(result) {
  const cells = cellsOf(result);
  const last = cells.length - 1;
  const steps = result.target.length;
  const early = agreements(cells)
    .slice(1, last)
    .map(
      (count, at) =>
        `${count}${at ? "" : ` of the ${steps} output tokens already rank${count === 1 ? "s" : ""} first`} after block ${at + 1}`,
    );
  const told = early.length ? ` ${early.join(", and ")}.` : "";
  const stop = /[.!?]$/.test(result.written) ? "" : ".";
  return `Output: “${result.written}”${stop}${told}`;
}

// ---- the language of the source

const ENGLISH = new Set(
  "the is are of with and on at by his her their from wearing people woman girl boy dog".split(" "),
);
const GERMAN = new Set(
  "der die das den dem ein eine einen einem einer und ist sind im am auf mit von zu vor bei".split(
    " ",
  ),
);

/** Whether a source is more likely English than German, by its most frequent words. */
export function looksEnglish(text) {
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const count = (set) => words.filter((word) => set.has(word)).length;
  return count(ENGLISH) >= 2 && count(ENGLISH) > count(GERMAN);
}
