// A pre-trained encoder with the head of one task: extract an answer from a passage.

import { linear, Matrix, softmaxInPlace } from "../tensor.js";
import { BERT } from "./pretraining.js";

/** One matrix from those of all layers, in shares that the task has learned: γ Σⱼ sⱼ hⱼ. */
class LayerMix {
  constructor(weights) {
    const [scale] = weights.vector("scale");
    this.factors = softmaxInPlace([...weights.vector("scores")]).map((share) => scale * share);
  }

  forward(states) {
    const [{ rows, columns }] = states;
    const mixed = new Matrix(rows, columns);
    for (let at = 0; at < mixed.data.length; at += 1) {
      let sum = 0;
      states.forEach(({ data }, layer) => (sum += this.factors[layer] * data[at]));
      mixed.data[at] = sum;
    }
    return mixed;
  }
}

/** A BERT, a weighted sum of its layers, and an `AnswerHead`: Devlin et al. 2019, section 4.2. */
export class FineTuned {
  constructor(weights, { encoder }) {
    this.encoder = new BERT(weights.part("encoder"), encoder.settings);
    this.mix = new LayerMix(weights.part("mix"));
    this.head = [weights.matrix("head.readout.weight"), weights.vector("head.readout.bias")];
    this.max_length = this.encoder.max_length;
  }

  /** How well each of L tokens would begin and end the answer: logits {first, last}, L each. */
  answer(tokens, options = {}) {
    const logits = linear(this.mix.forward(this.encoder.states(tokens, options)), ...this.head);
    const column = (at) => Array.from({ length: logits.rows }, (_, row) => logits.row(row)[at]);
    return { first: column(0), last: column(1) };
  }
}

/**
 * The best spans of all that begin before they end, the best first; the earlier of two equals.
 *
 * first, last: logits (L,), of which position 0 is [CLS], no part of a span. Gives
 * [{first, last, score}…]; of "no answer", the score is first[0] + last[0].
 */
export function bestSpans(first, last, { maxLength = first.length, most = 1 } = {}) {
  const spans = [];
  for (let begin = 1; begin < first.length; begin += 1) {
    const beyond = Math.min(begin + maxLength, first.length);
    for (let end = begin; end < beyond; end += 1) {
      // In single precision, as the library adds
      const score = Math.fround(first[begin] + last[end]);
      spans.push({ first: begin, last: end, score });
    }
  }
  return spans.sort((a, b) => b.score - a.score).slice(0, most);
}
