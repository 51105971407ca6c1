// Length rules: the divisor of a log-probability, so that long sequences can compete.

/** Score = log P / divisor(L), where the divisor is positive and rises, or falls, with L. */
export class LengthRule {
  constructor(alpha) {
    if (!Number.isFinite(alpha)) throw new Error(`alpha must be a finite number, got ${alpha}`);
    this.alpha = alpha;
  }

  /** The score of a sequence of so many tokens, <eos> counted. */
  score(logProb, length) {
    return logProb / this.divisor(length);
  }

  /** The highest score that a sequence can reach by growing further; the library derives it. */
  bound(logProb, length, maxLength) {
    return logProb / Math.max(this.divisor(length + 1), this.divisor(maxLength));
  }
}

/** Divide by L^α; α = 1 is the mean log-probability a token. */
export class Power extends LengthRule {
  constructor(alpha = 0.75) {
    super(alpha);
  }

  divisor(length) {
    return length ** this.alpha;
  }
}

/** Divide by ((5 + L) / 6)^α: Wu et al. 2016, eq. 14. */
export class Wu extends LengthRule {
  constructor(alpha = 0.6) {
    super(alpha);
  }

  divisor(length) {
    return ((5 + length) / 6) ** this.alpha;
  }
}

/** The rule, or the one that divides by nothing; refuse what is none up to this length. */
export function checkRule(rule, maxLength) {
  const chosen = rule ?? new Power(0);
  if (!(chosen instanceof LengthRule))
    throw new Error("lengthRule must be a rule, such as new Power(0.75)");
  for (const length of [1, maxLength]) {
    const divisor = chosen.divisor(length);
    if (!(divisor > 0 && divisor < Infinity)) {
      throw new Error(
        `lengthRule must divide by positive finite numbers, got ${divisor} at length ${length}`,
      );
    }
  }
  return chosen;
}
