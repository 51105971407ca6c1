// What the tests ask the engine, one line of JSON after another: a list of requests, a list of
// answers.

import readline from "node:readline";
import * as tensor from "../../../src/gates2heads/browser/engine/tensor.js";
import { readEntry } from "../../../src/gates2heads/browser/engine/weights.js";
import { Sha256 } from "../../../src/gates2heads/browser/engine/sha256.js";
import { engine } from "../../../src/gates2heads/browser/engine/engine.js";
import { layers } from "./bridge_layers.mjs";
import { continueCode, readCode } from "../../../src/gates2heads/browser/live/tasks/code.js";
import { Context } from "../../../src/gates2heads/browser/engine/decoding/context.js";
import { forceText } from "../../../src/gates2heads/browser/live/tasks/forcing.js";
import { readRepeats } from "../../../src/gates2heads/browser/live/tasks/induction.js";
import { drawOn, readAhead } from "../../../src/gates2heads/browser/live/tasks/next_token.js";
import { searchText } from "../../../src/gates2heads/browser/live/tasks/search.js";
import { walkText } from "../../../src/gates2heads/browser/live/tasks/walk.js";
import { walkSteps } from "../../../src/gates2heads/browser/engine/decoding/walk.js";
import { searches } from "./bridge_searches.mjs";
import {
  askWords,
  flatMap,
} from "../../../src/gates2heads/browser/engine/metrics/word_questions.js";
import {
  characterNgrams,
  fnvHash,
} from "../../../src/gates2heads/browser/engine/models/subword.js";
import { askTable, wordsIn } from "../../../src/gates2heads/browser/live/tasks/words.js";

const loaded = new Map(); // models that stay between requests

const operations = {
  ...layers,
  ...searches,

  load({ key, entry, verify, fast }) {
    loaded.set(key, engine.loadModel(entry, { verify, fast }));
    const { name, decoding, card } = loaded.get(key);
    return { name, decoding, card };
  },

  // Start a model and feed it tokens: log-probabilities (T, V), and what the layers noted.
  follow({ key, source, mask, tokens, more, heads, positions }) {
    const { model } = loaded.get(key);
    const trace = more ? new engine.Trace(more) : null;
    const off = heads ? engine.headsOff(model, heads) : null;
    let state = model.start(source, { mask, trace, off, positions });
    const rows = tokens.map((token) => {
      const answer = model.step(state, token, { trace, off });
      state = answer.state;
      return answer.logProbs;
    });
    return {
      logProbs: new tensor.Matrix(rows.length, rows[0].length, tensor.concatenate(...rows)),
      notes: notesOf(trace),
    };
  },

  // What the beam laboratory asks of a model.
  watch({ key, payload }) {
    return last(searchText(loaded.get(key), payload));
  },

  // A walk through a model of tokens without words, and one through a model with its tokenizers.
  walk({ key, source, options }) {
    return last(walkSteps(loaded.get(key).model, source, options));
  },

  // Three ways to write: of a model of tokens without words, and of one with its tokenizers.
  forcing({ key, source, options }) {
    return last(engine.forcingSteps(loaded.get(key).model, source, options));
  },

  forceText({ key, payload }) {
    return last(forceText(loaded.get(key), payload));
  },

  walkText({ key, payload }) {
    return last(walkText(loaded.get(key), payload));
  },

  // A table of words: one question of the library, one of the view, and what it makes of a text.
  askWords({ key, words, options }) {
    return askWords(loaded.get(key).model.compared(), words, options);
  },

  hashedNgrams({ words, shortest, longest }) {
    return words.map((word) =>
      characterNgrams(word, shortest, longest).map((ngram) => [ngram, fnvHash(ngram)]),
    );
  },

  carriedBy({ key, words }) {
    const vectors = loaded.get(key).model.compared();
    return words.map((word) => vectors.carriedBy(word));
  },

  askTable({ key, payload }) {
    return last(askTable(loaded.get(key), payload));
  },

  flatMap({ vectors }) {
    return flatMap(vectors);
  },

  wordsIn({ texts }) {
    return texts.map(wordsIn);
  },

  // Probabilities (T, V) of a model of counts, smoothed and alone, after each of the tokens.
  counted({ key, tokens }) {
    const { model } = loaded.get(key);
    const rows = (one) => {
      let state = one.start();
      const logProbs = tokens.map((token) => {
        const answer = one.step(state, token);
        state = answer.state;
        return answer.logProbs;
      });
      return {
        shape: [logProbs.length, logProbs[0].length],
        data: Float64Array.from(logProbs.flatMap((row) => [...row])),
      };
    };
    return { smoothed: rows(model), alone: rows(model.countsAlone()) };
  },

  ahead({ key, payload }) {
    return last(readAhead(loaded.get(key), payload));
  },

  drawOn({ key, payload }) {
    return last(drawOn(loaded.get(key), payload));
  },

  readCode({ key, payload }) {
    return last(readCode(loaded.get(key), payload));
  },

  readRepeats({ key, payload }) {
    return last(readRepeats(loaded.get(key), payload));
  },

  continueCode({ key, payload }) {
    return all(continueCode(loaded.get(key), payload));
  },

  // A language model that reads some tokens at once, the rest one by one, and all without a state.
  cached({ key, parts, rest }) {
    const { model } = loaded.get(key);
    let state = model.start();
    const rows = [];
    for (const part of parts) {
      const answer = model.extend(state, part);
      state = answer.state;
      for (let row = 0; row < part.length; row += 1) {
        rows.push(tensor.logSoftmax(answer.logits.row(row)));
      }
    }
    for (const token of rest) {
      const answer = model.step(state, token);
      state = answer.state;
      rows.push(answer.logProbs);
    }
    const tokens = [...parts.flat(), ...rest];
    const again = tokens.map((_, place) => model.recompute(tokens.slice(0, place + 1)));
    const matrix = (some) =>
      new tensor.Matrix(some.length, some[0].length, tensor.concatenate(...some));
    return { rows: matrix(rows), again: matrix(again), kept: keptIn(state) };
  },

  // A text that is longer than the context: the tokens in it, and what it gives, after each token.
  context({ key, prompt, tokens, cache, bos = 1 }) {
    const context = new Context(loaded.get(key).model, bos, { cache });
    last(context.readSteps(prompt));
    return tokens.map((token) => {
      const logProbs = context.add(token);
      return { tokens: [...context.tokens], logProbs };
    });
  },

  // Milliseconds of each of the steps, with the state and without.
  stepTimes({ key, tokens }) {
    const { model } = loaded.get(key);
    const timed = (work) => {
      const begin = performance.now();
      work();
      return performance.now() - begin;
    };
    let state = model.start();
    const cached = tokens.map((token) => timed(() => ({ state } = model.step(state, token))));
    const plain = tokens.map((_, place) =>
      timed(() => model.recompute(tokens.slice(0, place + 1))),
    );
    return { cached, plain };
  },

  headsOf({ key }) {
    return engine.headsOf(loaded.get(key).model);
  },

  call({ key, method, given }) {
    return loaded.get(key).model[method](...given);
  },

  bert({ key, tokens, options }) {
    const { model } = loaded.get(key);
    const states = model.states(tokens, options);
    const vectors = model.encode(tokens, options);
    return { states, logits: model.readout(vectors), follows: model.follows(vectors) };
  },

  forget({ key }) {
    return loaded.delete(key);
  },

  encode({ key, texts, side = "source" }) {
    return texts.map((text) => loaded.get(key)[side].encode(text));
  },

  decode({ key, lists, side = "source" }) {
    return lists.map((numbers) => loaded.get(key)[side].decode(numbers));
  },

  tokens({ key, side = "source" }) {
    return loaded.get(key)[side].vocabulary.tokens;
  },

  async translate({ key, texts, heads, options }) {
    const found = [];
    const off = heads ? engine.headsOff(loaded.get(key).model, heads) : null;
    for (const text of texts) {
      const progress = [];
      const { trace, ...rest } = await engine.translate(loaded.get(key), text, {
        ...options,
        off,
        onToken: ({ length }) => progress.push(length),
      });
      found.push({ ...rest, progress, notes: notesOf(trace) });
    }
    return found;
  },

  async cancel({ key, text, after }) {
    const signal = { aborted: false };
    let steps = 0;
    const onToken = () => {
      steps += 1;
      signal.aborted = steps === after;
    };
    return { ...(await engine.translate(loaded.get(key), text, { onToken, signal })), steps };
  },

  hash({ texts }) {
    return texts.map((text) => new Sha256().add(new TextEncoder().encode(text)).hex());
  },

  hashInParts({ text, parts }) {
    const bytes = new TextEncoder().encode(text);
    const hash = new Sha256();
    for (const [start, end] of parts) hash.add(bytes.subarray(start, end));
    return hash.hex();
  },

  // How long one step takes, in milliseconds: the quickest of many.
  speed({ key, source, tokens, times }) {
    const { model } = loaded.get(key);
    const quickest = (work) => {
      let best = Infinity;
      for (let i = 0; i < times; i += 1) {
        const begin = performance.now();
        work();
        best = Math.min(best, performance.now() - begin);
      }
      return best;
    };
    let state = model.start(source);
    for (const token of tokens) ({ state } = model.step(state, token));
    return {
      start: quickest(() => model.start(source)),
      step: quickest(() => model.step(state, tokens.at(-1))),
    };
  },

  asBinary({ entry }) {
    const text = Buffer.from(entry.data, "base64");
    const forms = [
      new Uint8Array(text),
      new Uint8Array(text).buffer,
      new DataView(new Uint8Array(text).buffer),
    ];
    return forms.map((data) => readEntry({ ...entry, data }).header.name);
  },
};

/** What a generator returns in the end. */
function last(steps) {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** What a generator yields, and what it returns in the end. */
function all(steps) {
  const yielded = [];
  for (;;) {
    const { done, value } = steps.next();
    if (done) return { yielded, returned: value };
    yielded.push(value);
  }
}

/** How many positions the cache of the first layer holds. */
const keptIn = ({ past: [first] }) => first.keys.rows;

export function notesOf(trace) {
  if (!trace) return null;
  return Object.fromEntries(
    trace
      .layers()
      .map((layer) => [
        layer,
        Object.fromEntries(
          [...trace.notes.get(layer).keys()].map((quantity) => [
            quantity,
            trace.joined(layer, quantity),
          ]),
        ),
      ]),
  );
}

const KINDS = { float32: Float32Array, float64: Float64Array, int8: Int8Array };

function received(_, value) {
  if (value === "-Infinity") return -Infinity;
  if (!value || !value.array) return value;
  const bytes = Buffer.from(value.data, "base64");
  const data = new KINDS[value.array](new Uint8Array(bytes).buffer);
  return value.shape.length === 2 ? new tensor.Matrix(...value.shape, data) : data;
}

function sent(_, value) {
  if (value === -Infinity) return "-Infinity";
  if (value instanceof tensor.Matrix) return arrayOf(value.data, [value.rows, value.columns]);
  if (ArrayBuffer.isView(value)) return arrayOf(value, [value.length]);
  if (value && ArrayBuffer.isView(value.data) && Array.isArray(value.shape))
    return arrayOf(value.data, value.shape);
  return value;
}

function arrayOf(data, shape) {
  const array = data.constructor.name.replace("Array", "").toLowerCase();
  return {
    array,
    shape,
    data: Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64"),
  };
}

async function answerTo({ op, ...request }) {
  try {
    return { value: await operations[op](request) };
  } catch (error) {
    return { error: error.message, kind: error.constructor.name };
  }
}

for await (const line of readline.createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const answers = [];
  for (const request of JSON.parse(line, received)) answers.push(await answerTo(request));
  process.stdout.write(`${JSON.stringify(answers, sent)}\n`);
}
