// N-gram models: count what followed the last n − 1 tokens, and smooth the counts.

import { checkTokens } from "./checks.js";

const [PAD, BOS] = [0, 1]; // which are never written

/** What models of counts share; a subclass says in `probs` what comes after a context. */
class PrunedCounts {
  constructor(weights, settings, tables = null) {
    const { vocabulary_size: size, discounts } = settings;
    this.settings = settings;
    this.vocabulary_size = size;
    this.order = discounts.length;
    this.tables = tables ?? discounts.map((_, length) => new Table(weights, length));
    this.step = this.step.bind(this);
    this.uniform = new Float64Array(size).fill(1 / (size - 2));
    this.uniform[PAD] = this.uniform[BOS] = 0;
  }

  /** The state before the first step: n − 1 times <bos>. */
  start() {
    return { context: Array(this.order - 1).fill(BOS) };
  }

  /** Read the last token; give log-probabilities (V,) in nats and the next state. */
  step({ context }, last) {
    checkTokens("last", [last], this.vocabulary_size);
    const longer = [...context, last];
    const next = longer.slice(longer.length - context.length);
    return { logProbs: this.probs(next).map(Math.log), state: { context: next } };
  }
}

/** Take a discount from every count, and give it to a shorter context: Chen & Goodman 1999. */
export class PrunedKneserNey extends PrunedCounts {
  /** The model that trusts the same counts and smooths nothing. */
  countsAlone() {
    return new PrunedMaximumLikelihood(null, this.settings, this.tables);
  }

  /** What comes after a context of at most n − 1 tokens: (V,), sums to 1. */
  probs(context) {
    const shorter = context.length ? this.probs(context.slice(1)) : this.uniform;
    const row = this.tables[context.length].row(context);
    if (!row) return shorter;
    const discounts = this.settings.discounts[context.length];
    const shares = Float64Array.from(
      row.counts,
      (count) => (count - discounts[Math.min(count, 3) - 1]) / row.total,
    );
    const left = Math.max(0, 1 - shares.reduce((sum, share) => sum + share, 0));
    const probs = shorter.map((prob) => left * prob);
    shares.forEach((share, place) => (probs[row.followers[place]] += share));
    return probs;
  }
}

/**
 * Trust the counts alone: c(hw) / c(h). After a context with nothing kept, every probability is 0.
 */
export class PrunedMaximumLikelihood extends PrunedCounts {
  probs(context) {
    const probs = new Float64Array(this.vocabulary_size);
    const row = this.tables[context.length].row(context);
    if (!row) return probs;
    const sum = row.counts.reduce((total, count) => total + count, 0);
    row.counts.forEach((count, place) => (probs[row.followers[place]] = count / sum));
    return probs;
  }
}

/** What followed each context of one length, and how often. */
class Table {
  constructor(weights, length) {
    const part = (name) => weights.vector(`${name}_${length}`);
    this.totals = part("totals");
    this.starts = part("starts");
    this.followers = part("followers");
    this.counts = part("counts");
    const contexts = part("contexts");
    this.places = new Map();
    this.totals.forEach((_, place) =>
      this.places.set(contexts.slice(place * length, (place + 1) * length).join(" "), place),
    );
  }

  row(context) {
    const place = this.places.get(context.join(" "));
    if (place === undefined) return null;
    const [first, end] = [this.starts[place], this.starts[place + 1]];
    const total = this.totals[place];
    return {
      followers: this.followers.subarray(first, end),
      counts: this.counts.subarray(first, end),
      total,
    };
  }
}
