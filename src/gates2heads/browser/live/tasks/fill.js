// One sentence with masked tokens: filled in by a bidirectional model, or continued from the left.

import { greedySteps } from "../../engine/decoding/search.js";
import { BERT } from "../../engine/models/pretraining.js";
import { logSoftmax } from "../../engine/tensor.js";
import { MASK, splitBilingual } from "../../engine/tokens/bilingual.js";
import { tooLong } from "../pieces.js";

export const MOST = 40; // tokens that the picture has room for
const TOP = 5; // tokens told of each gap
const ONWARD = 12; // tokens that are written at most

/**
 * Fills in the masked tokens of a sentence, or continues it from the first of them.
 *
 * payload: {text}, in which [MASK] is a masked token; hidden: positions of others, from 0.
 * Returns {tokens: [text…], known: [true where the model has the token], names: [[start, end]…]},
 * and, from a BERT, gaps: [{place, best: [{token, share}…], was}…], where `was` is the share of
 * what stood there, null if the model does not know it; from a GPT, written: [{token, share}…],
 * finished. Or {refused} with a sentence.
 */
export function* fillText(loaded, { text, hidden = [] }) {
  const { model, source, card } = loaded;
  const tokens = source.pieces(text);
  if (tokens.length > MOST) {
    return {
      refused: tooLong(tokens.length, MOST, "words and punctuation marks"),
    };
  }
  const ids = source.encode(text, { eos: false });
  const { index, tokens: names } = source.vocabulary;
  const known = tokens.map((token) => index.has(token));
  const told = { tokens, known, names: findNames(tokens, card.names ?? []) };
  const places = [...tokens.keys()].filter((at) => hidden.includes(at) || tokens[at] === MASK);
  const nameOf = (id) => names[id] ?? MASK; // which is one number behind the last token
  yield { length: tokens.length };
  if (model instanceof BERT)
    return { ...told, gaps: fill(model, source.vocabulary, ids, known, places, nameOf) };
  return {
    ...told,
    ...(yield* goOn(model, source.vocabulary, ids.slice(0, places[0] ?? ids.length), nameOf)),
  };
}

function fill(model, { bos, eos, length }, ids, known, places, nameOf) {
  if (!places.length) return [];
  const mask = length; // [MASK] is one number behind the last
  const read = [bos, ...ids.map((id, place) => (places.includes(place) ? mask : id)), eos];
  const logits = model.readout(model.encode(read));
  return places.map((place) => {
    const shares = logSoftmax(logits.row(place + 1)).map(Math.exp);
    const best = [...shares.keys()].sort((a, b) => shares[b] - shares[a]).slice(0, TOP);
    return {
      place,
      best: best.map((id) => ({ token: nameOf(id), share: shares[id] })),
      was: known[place] ? shares[ids[place]] : null,
    };
  });
}

/** Greedy search, up to the end marker. */
function* goOn(model, { bos, eos }, ids, nameOf) {
  const read = [bos, ...ids];
  const shares = [];
  const step = (state, last) => {
    const answer = model.step(state, last);
    shares.push(Math.exp(Math.max(...answer.logProbs)));
    return answer;
  };
  const options = { bos: read.at(-1), eos, maxLength: ONWARD };
  const search = greedySteps(step, model.start(read.slice(0, -1)), options);
  let now = search.next();
  for (; !now.done; now = search.next()) yield { length: now.value.tokens.length };
  const { tokens, finished } = now.value;
  const written = finished ? tokens.slice(0, -1) : tokens;
  return { written: written.map((id, at) => ({ token: nameOf(id), share: shares[at] })), finished };
}

/**
 * Where names stand among tokens, the longest first where several begin at one place: [start, end].
 */
export function findNames(tokens, names) {
  const known = new Set(names.map((name) => splitBilingual(name).join("\u0000")));
  const longest = Math.max(0, ...names.map((name) => splitBilingual(name).length));
  const found = [];
  for (let start = 0; start < tokens.length;) {
    let size = Math.min(longest, tokens.length - start);
    while (size && !known.has(tokens.slice(start, start + size).join("\u0000"))) size -= 1;
    if (size) found.push([start, start + size]);
    start += size || 1;
  }
  return found;
}
