// What logits say of an answer; nothing here touches a page.

import { bestSpans } from "../../browser/engine/models/fine_tuned.js";
import { softmaxInPlace } from "../../browser/engine/tensor.js";
import { writeBilingual } from "../../browser/engine/tokens/bilingual.js";
import { visible } from "../../browser/live/pieces.js";

export const LONGEST_ANSWER = 16; // tokens, as in training
const CANDIDATES = 2; // that are listed

/** Probabilities from logits. */
export const shares = (logits) => softmaxInPlace([...logits]);

/**
 * The answer to one question: {spans: the best ones, [{first, last, score, text}…], none: the score
 * of "no answer", isFound}. Places of spans count tokens of the passage from 0.
 */
export function answerOf({ tokens, first, last }, threshold) {
  const spans = bestSpans(first, last, { maxLength: LONGEST_ANSWER, most: CANDIDATES }).map(
    (span) => ({
      ...span,
      first: span.first - 1,
      last: span.last - 1,
      text: writeBilingual(tokens.slice(span.first - 1, span.last).map(visible)),
    }),
  );
  const none = Math.fround(first[0] + last[0]);
  return { spans, none, isFound: spans[0].score > none + threshold };
}

/** A score with its sign, as a reader sees it. */
export const signed = (score) => score.toFixed(1).replace("-", "−").replace("−0.0", "0.0");

/** What the models say, in a sentence each. */
export function toldInWords(names, answers) {
  const told = answers.map(({ spans, isFound }, at) =>
    isFound ? `${names[at]}: “${spans[0].text}”` : `${names[at]}: no answer`,
  );
  return `${told.join("; ")}.`;
}
