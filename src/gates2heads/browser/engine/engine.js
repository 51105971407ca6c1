// The engine: models of the book, running where the page is read. This is its entry.
//
//   const loaded = loadModel(globalThis.gates2heads_live["translator"]);
//   const { text } = await translate(loaded, "Ein Hund läuft durch den Schnee.", { onToken });
//
// loadModel(entry, {verify, fast}) -> {name, model, source, target, decoding, card, words}
//     words: how often each word occurred in training, if the file contains it.
//     entry: {header, sha256, data}, which a file written by `python -m gates2heads export`
//     registers; over a widget's channel the data may be bytes instead of base64 text.
//     `fast: false` leaves WebAssembly out.
// model.start(ids, {mask, trace, intervene, off}) -> state; an immutable value
// model.step(state, last, {trace, intervene, off}) -> {logProbs, state}
//     One sequence at a time; several may go on from one state. `trace`, a `new Trace()`, keeps
//     what the layers do in this same pass, by the library's names; `intervene(layer, quantity,
//     {shape, data})` may change it before it is used: see record.js. `off` is what
//     `headsOff(model, [{layer, head}, …])` gives: heads that add nothing; `headsOf(model)` lists
//     all. `clampGates(layer, [{gate, value, units}, …])` is an `intervene` that holds gates of a
//     recurrent layer.
// greedy, sample, beam(step, state, options): decoding/search.js, sampling.js, beam.js; each has a
//     twin …Steps, a generator that yields after every token. `new Tree()` notes their way.
// compare(step, state, options): decoding/searches.js; greedy beside a beam, with its tree.
// forcingSteps(model, source, options): decoding/held.js; free running, held tokens, a teacher's
//     line.
// walkSteps(model, source, options): decoding/walk.js; a greedy translation with all that its parts
//     did.
// new Context(model, bos, {cache}): decoding/context.js; what a language model reads while it writes
//     a text longer than its context, with its state kept or not.
// askWords(vectors, words, {count, exclude}): metrics/word_questions.js; vectors: `model.compared()`.
// translate(loaded, text, options), translateSteps: translation.js; with progress and cancelling.
//
// The rooms are those of the library: layers/, models/, decoding/, tokens/; names, settings and
// weights are the library's, the batch axis is gone. A caller's mistake is an Error of one sentence.

import { beam, beamSteps } from "./decoding/beam.js";
import { Context } from "./decoding/context.js";
import { compare, compareSteps } from "./decoding/searches.js";
import { forcingSteps } from "./decoding/held.js";
import { Power, Wu } from "./decoding/lengths.js";
import { Generator, sample, sampleSteps } from "./decoding/sampling.js";
import { greedy, greedySteps } from "./decoding/search.js";
import { Tree } from "./decoding/trace.js";
import { TABLES_START, twoTables } from "./decoding/two_tables.js";
import { walkSteps } from "./decoding/walk.js";
import { clampGates } from "./layers/recurrent/clamping.js";
import { headsOf, headsOff } from "./layers/heads_off.js";
import { askWords } from "./metrics/word_questions.js";
import { buildModel } from "./models/by_name.js";
import { Trace } from "./record.js";
import { BilingualTokenizer } from "./tokens/bilingual.js";
import { BPETokenizer } from "./tokens/bpe.js";
import { CharacterTokenizer } from "./tokens/characters.js";
import { translate, translateSteps } from "./translation.js";
import { readEntry } from "./weights.js";

const TOKENIZERS = { BilingualTokenizer, BPETokenizer, CharacterTokenizer };

/** Check an entry and build its model and tokenizers. */
export function loadModel(entry, { verify = true, fast = true } = {}) {
  const { header, weights } = readEntry(entry, { verify, fast });
  const source = tokenizerOf(header.source);
  return {
    name: header.name,
    model: buildModel(header.model, weights),
    source,
    target: header.target ? tokenizerOf(header.target) : source, // null: one tokenizer for both
    decoding: header.decoding,
    card: header.card,
    words: header.words,
  };
}

function tokenizerOf(described) {
  if (!described) return null;
  if (!Object.hasOwn(TOKENIZERS, described.kind)) {
    const known = Object.keys(TOKENIZERS).join(", ");
    throw new Error(`The tokenizer's kind must be one of ${known}, got ${described.kind}.`);
  }
  return new TOKENIZERS[described.kind](described);
}

/** All that a view needs, in one object. */
export const engine = {
  loadModel,
  translate,
  translateSteps,
  greedy,
  greedySteps,
  sample,
  sampleSteps,
  beam,
  beamSteps,
  compare,
  compareSteps,
  forcingSteps,
  twoTables,
  TABLES_START,
  clampGates,
  headsOf,
  headsOff,
  walkSteps,
  askWords,
  Context,
  Generator,
  Power,
  Trace,
  Tree,
  Wu,
};
