// Checks of what a model reads.

import { checkLength } from "../refusals.js";

/** Refuse what is no list of token numbers that the model knows and has places for. */
export function checkTokens(name, tokens, size, { most = Infinity, least = 1 } = {}) {
  if (!Array.isArray(tokens) && !ArrayBuffer.isView(tokens)) {
    throw new Error(`${name} must be a list of token numbers, got ${typeof tokens}`);
  }
  if (tokens.length < least) throw new Error(`${name} must hold at least one token, got none`);
  checkLength(name, tokens.length, most);
  const wrong = tokens.findIndex((token) => !Number.isInteger(token) || token < 0 || token >= size);
  if (wrong >= 0)
    throw new Error(`${name} must hold numbers from 0 to ${size - 1}, got ${tokens[wrong]}`);
}

/** The caller's options as a model's layers receive them; null if there are none. */
export function recordOf({ trace = null, intervene = null, off = null } = {}) {
  return trace || intervene || off ? { trace, intervene, off } : null;
}
