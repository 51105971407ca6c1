// The step function, through which every search asks a model that it does not know.

const ROUNDING = 1e-3; // how far above 0 a log-probability may lie by rounding alone

/** Refuse what a search cannot begin with. */
export function checkSearch(step, { bos, eos, maxLength }) {
  if (typeof step !== "function") throw new Error(`step must be a function, got ${typeof step}`);
  if (!Number.isInteger(maxLength) || maxLength < 1) {
    throw new Error(`maxLength must be a whole number of at least 1, got ${maxLength}`);
  }
  if (!Number.isInteger(bos) || bos < 0) throw new Error(`bos must be a token number, got ${bos}`);
  if (eos !== null && !(Number.isInteger(eos) && eos >= 0)) {
    throw new Error(`eos must be a token number or null, got ${eos}`);
  }
}

/** Refuse tokens that no sequence can be forced to begin with. */
export function checkPrefix(prefix, { eos = null, maxLength }) {
  if (!Array.isArray(prefix) || !prefix.every((token) => Number.isInteger(token) && token >= 0)) {
    throw new Error("prefix must be a list of token numbers");
  }
  if (prefix.length > maxLength) {
    throw new Error(`prefix must be at most maxLength=${maxLength} long, got ${prefix.length}`);
  }
  if (eos !== null && prefix.slice(0, -1).includes(eos))
    throw new Error(`prefix must not go on after eos=${eos}`);
}

/** Refuse a forced token that the step function does not score. */
export function checkKnown(token, logProbs) {
  if (token >= logProbs.length) {
    throw new Error(
      `prefix must hold some of the ${logProbs.length} tokens that step scores, got ${token}`,
    );
  }
}

/** Ask the step function once, and check its answer: log-probabilities (V,) and the next state. */
export function ask(step, state, last, eos) {
  const { logProbs, state: next } = step(state, last);
  let over = false;
  for (let i = 0; i < logProbs.length; i += 1) {
    if (Number.isNaN(logProbs[i])) throw new Error("step returned NaN among its logProbs");
    if (logProbs[i] > 0) over = true;
    if (logProbs[i] > ROUNDING) {
      throw new Error(`step must return logProbs, which are at most 0, got ${logProbs[i]}`);
    }
  }
  if (eos !== null && eos >= logProbs.length) {
    throw new Error(
      `eos must be one of the ${logProbs.length} tokens that step scores, got ${eos}`,
    );
  }
  return { logProbs: over ? logProbs.map((number) => Math.min(number, 0)) : logProbs, state: next };
}

/** Run a search that yields after each step to its end, and give what it returns. */
export function finish(search) {
  let { done, value } = search.next();
  while (!done) ({ done, value } = search.next());
  return value;
}
