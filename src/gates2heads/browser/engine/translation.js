// From a text to a text: tokenizer, model, search and tokenizer again, one token at a time.

import { beamSteps } from "./decoding/beam.js";
import { Power } from "./decoding/lengths.js";
import { greedySteps } from "./decoding/search.js";
import { Trace } from "./record.js";

/**
 * Translate a text, yielding after every step the best sequence so far, {tokens, text, length}.
 *
 * @param {object} loaded what `loadModel` gives
 * @param {string} text what the reader typed
 * @param {object} options width (1 is greedy), lengthPower and maxLength, each as in
 *   loaded.decoding if not given; record: keep what the layers did on the way to the written
 *   sequence; more: quantities to note beside the usual ones; intervene; off: see `headsOff`;
 *   positions: false leaves them out of a Transformer's encoder; tree
 * @returns {{text, tokens, source, target, logProb, finished, trace}} when it is done
 */
export function* translateSteps(loaded, text, options = {}) {
  const { model, source, target } = loaded;
  const { width, length_power, max_length } = loaded.decoding;
  const { lengthPower = length_power, maxLength = max_length, tree = null } = options;
  const { record = false, more = [], intervene = null, off = null, positions = true } = options;
  const places = options.width ?? width;
  const words = target.vocabulary;
  const ids = source.encode(text);
  const trace = record ? new Trace(more) : null;
  const first = { inner: model.start(ids, { trace, intervene, off, positions }), way: null };
  const step = recordedStep(model, { record, more, intervene, off });
  const searching = { bos: words.bos, eos: words.eos, maxLength, tree };
  const beamOptions = {
    ...searching,
    width: places,
    lengthRule: new Power(lengthPower),
    refill: true,
  };
  const search =
    places === 1 ? greedySteps(step, first, searching) : beamSteps(step, first, beamOptions);
  let now = search.next();
  for (; !now.done; now = search.next()) {
    const { tokens } = now.value;
    yield { tokens: [...tokens], text: target.decode(tokens), length: tokens.length };
  }
  const best = places === 1 ? now.value : now.value[0];
  return {
    text: target.decode(best.tokens),
    tokens: best.tokens,
    source: ids.map((id) => source.vocabulary.tokens[id]),
    target: best.tokens.map((id) => words.tokens[id]),
    logProb: best.logProb,
    finished: best.finished,
    trace: trace && wholeTrace(trace, best.state.way),
  };
}

/**
 * The same, giving the thread back after every step, so that others are heard meanwhile.
 *
 * @param {object} options those of `translateSteps`; onToken: called with what each step yields;
 *   signal: an AbortSignal, or any object whose `aborted` says when to stop
 * @returns {Promise<object>} the result of `translateSteps`, or {cancelled: true}
 */
export async function translate(loaded, text, options = {}) {
  const { onToken = () => {}, signal = { aborted: false } } = options;
  const steps = translateSteps(loaded, text, options);
  for (;;) {
    await breath();
    if (signal.aborted) return { cancelled: true };
    const { done, value } = steps.next();
    if (done) return { ...value, cancelled: false };
    onToken(value);
  }
}

// The next turn of the thread; timers would wait four milliseconds each.
function breath() {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

// A step whose state remembers what the layers did on the way to it: a search follows many ways,
// and only the notes of the one that it writes are wanted.
function recordedStep(model, { record, more, intervene, off }) {
  return ({ inner, way }, last) => {
    const trace = record ? new Trace(more) : null;
    const { logProbs, state } = model.step(inner, last, { trace, intervene, off });
    return { logProbs, state: { inner: state, way: trace && { trace, before: way } } };
  };
}

function wholeTrace(trace, way) {
  const steps = [];
  for (let at = way; at; at = at.before) steps.push(at.trace);
  for (const one of steps.reverse()) trace.append(one);
  return trace;
}
