// A question and a passage: how well each token of the passage would begin and end the answer.

import { tooLong } from "../pieces.js";

/**
 * payload: {question, text}, of which the text is the passage.
 * Returns {tokens: those of the passage, strange: unknown words of both, first, last}: logits of
 * [CLS], which stands for "no answer", and of each token of the passage; or {refused} with a
 * sentence.
 */
export function* findAnswer({ model, source }, { question, text }) {
  const [asked, tokens] = [question, text].map((one) => source.pieces(one));
  const room = model.max_length - 3; // [CLS] and two [SEP]
  const length = asked.length + tokens.length;
  if (length > room) {
    const unit = "words and punctuation marks in question and passage";
    return { refused: tooLong(length, room, unit) };
  }
  const { bos, eos, index } = source.vocabulary;
  const [before, after] = [question, text].map((one) => source.encode(one, { eos: false }));
  const read = [bos, ...before, eos, ...after, eos];
  const start = before.length + 2; // of the passage
  yield { length: read.length };
  const segments = read.map((_, place) => Number(place >= start));
  const { first, last } = model.answer(read, { segments });
  const kept = (logits) => [logits[0], ...logits.slice(start, start + tokens.length)];
  const strange = [...asked, ...tokens].filter((token) => !index.has(token));
  return { tokens, strange: [...new Set(strange)], first: kept(first), last: kept(last) };
}
