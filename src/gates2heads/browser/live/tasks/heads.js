// One sentence through a Transformer, with what every head of every layer looked at.

import { greedySteps } from "../../engine/decoding/search.js";
import { headsOff } from "../../engine/layers/heads_off.js";
import { Trace } from "../../engine/record.js";
import { tooLong } from "../pieces.js";

export const MOST = 40; // tokens that the picture has room for, on either side

// Where the weights of each block come from, in the order in which the view shows the blocks.
const BLOCKS = [
  /^encoder_layers\.(\d+)\.self_attn$/,
  /^decoder_layers\.(\d+)\.self_attn$/,
  /^decoder_layers\.(\d+)\.cross_attn$/,
];

/**
 * Translates a sentence, always with the likeliest token.
 *
 * payload: {text}; off: [{layer, head}…], heads to switch off; positions: false leaves them out of
 * the encoder; judged: tokens whose log-probabilities under this model are wanted too.
 * Yields nothing of interest; returns {text, written, source, target, tokens, logProb, finished,
 * judged: [nats…] or null, blocks: [encoder, decoder, cross]}, or {refused} with a sentence.
 */
export function* showHeads(loaded, { text, off = [], positions = true, judged = null }) {
  const { model, source, target, decoding } = loaded;
  const ids = source.encode(text);
  if (ids.length > MOST) {
    return { refused: tooLong(ids.length, MOST, "tokens") };
  }
  const { bos, eos } = target.vocabulary;
  const trace = new Trace();
  const heads = headsOff(model, off);
  const path = []; // what every step answered, for the judgement
  const step = (state, last) => {
    const answer = model.step(state, last, { trace, off: heads });
    path.push(answer);
    return answer;
  };
  const maxLength = Math.min(decoding.max_length, MOST);
  const first = model.start(ids, { trace, off: heads, positions });
  const search = greedySteps(step, first, { bos, eos, maxLength });
  let now = search.next();
  for (; !now.done; now = search.next()) yield { length: now.value.tokens.length };
  const { tokens, logProb, finished } = now.value;
  const judge = (state, last) => model.step(state, last, { off: heads });
  return {
    text,
    written: target.decode(tokens),
    source: ids.map((id) => source.vocabulary.tokens[id]),
    target: tokens.map((id) => target.vocabulary.tokens[id]),
    tokens,
    logProb,
    finished,
    judged: judged && (yield* judgement(judge, path, tokens, judged)),
    blocks: BLOCKS.map((pattern) => trace.stacked(pattern, "weights")),
  };
}

/**
 * Log-probabilities of other tokens; as far as they agree with what was written, the path has them.
 */
function* judgement(step, path, written, tokens) {
  const found = [];
  let agrees = true;
  let answer = null;
  for (const [place, token] of tokens.entries()) {
    agrees &&= place === 0 || tokens[place - 1] === written[place - 1];
    if (agrees && place < path.length) answer = path[place];
    else answer = step(answer.state, tokens[place - 1]);
    found.push(answer.logProbs[token]);
    yield { length: place };
  }
  return found;
}
