// The tokens that a language model reads while it writes a text longer than its context.

import { logSoftmax } from "../tensor.js";

const READ_AT_ONCE = 16; // tokens of a prompt that are read in one go
const KEPT_SHARE = 3 / 4; // of the context, once it is full

/**
 * The context of a model that writes: <bos>, then the last tokens of the text.
 *
 * While the context has room, a new token is put at its end. Once it is full, the context slides:
 * <bos> and the last three quarters are read again, from position 0 on, because keys and values
 * depend on the position and on all tokens before. So every (max_length / 4)-th token is costly
 * with the cache, too.
 *
 * @param {LanguageModel} model with `extend` and `recompute`
 * @param {number} bos
 * @param {boolean} cache whether the state is kept from token to token; without it the whole
 *   context is read again for every token, and the log-probabilities are the same
 */
export class Context {
  constructor(model, bos, { cache = true } = {}) {
    this.model = model;
    this.tokens = [bos];
    this.cache = cache;
  }

  /** The largest number of tokens of a text that fit into the context together with <bos>. */
  get room() {
    return this.model.max_length - 1;
  }

  /**
   * Read the last tokens of a text, as many as there is room for. Yields {logits, tokens} for each
   * part: logits (T, V) of what comes after each of its T tokens.
   */
  *readSteps(tokens) {
    this.tokens = [this.tokens[0], ...tokens.slice(Math.max(0, tokens.length - this.room))];
    this.state = this.model.start();
    for (let start = 0; start < this.tokens.length; start += READ_AT_ONCE) {
      const some = this.tokens.slice(start, start + READ_AT_ONCE);
      const { logits, state } = this.model.extend(this.state, some);
      this.state = state;
      this.logProbs = logSoftmax(logits.row(some.length - 1));
      yield { logits, tokens: some };
    }
  }

  /** Read a new token: the log-probabilities (V,) of the one after it. */
  add(token) {
    if (this.tokens.length === this.model.max_length) {
      const kept = Math.floor(KEPT_SHARE * this.room);
      this.tokens = [this.tokens[0], ...this.tokens.slice(this.tokens.length - kept), token];
      return this.cache ? this.fill() : this.recompute();
    }
    this.tokens.push(token);
    if (!this.cache) return this.recompute();
    const { logProbs, state } = this.model.step(this.state, token);
    this.state = state;
    return (this.logProbs = logProbs);
  }

  fill() {
    const { logits, state } = this.model.extend(this.model.start(), this.tokens);
    this.state = state;
    return (this.logProbs = logSoftmax(logits.row(logits.rows - 1)));
  }

  recompute() {
    return (this.logProbs = this.model.recompute(this.tokens));
  }
}
