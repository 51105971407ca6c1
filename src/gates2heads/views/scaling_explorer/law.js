// The scaling law L(N, D) = E + A N^-α + B D^-β, its optimum, and its words.

import { raised } from "../kit/shares.js";

export const FLOPS = 6; // for each parameter and token

/** The predicted loss of a model with this many parameters after this many tokens. */
export function lossOf(law, parameters, tokens) {
  return (
    law.irreducible +
    law.parameter_factor * parameters ** -law.parameter_exponent +
    law.token_factor * tokens ** -law.token_exponent
  );
}

/** The tokens that a model of this size reads with a budget. */
export const tokensOf = (compute, parameters) => compute / FLOPS / parameters;

/** The parameters and tokens with the lowest loss for a budget. */
export function optimumOf(law, compute) {
  const [alpha, beta] = [law.parameter_exponent, law.token_exponent];
  const ratio = (alpha * law.parameter_factor) / (beta * law.token_factor);
  const parameters = (ratio * (compute / FLOPS) ** beta) ** (1 / (alpha + beta));
  return { parameters, tokens: tokensOf(compute, parameters) };
}

/** Everything that the view says of a budget and a model size. */
export function answerOf(law, compute, parameters) {
  const best = optimumOf(law, compute);
  const tokens = tokensOf(compute, parameters);
  return {
    tokens,
    loss: lossOf(law, parameters, tokens),
    best: { ...best, loss: lossOf(law, best.parameters, best.tokens) },
  };
}

const UNITS = [
  [1e12, "trillion"],
  [1e9, "billion"],
  [1e6, "million"],
];

/** A count in words with two significant digits, such as "2.1 million" or "88,000". */
export function countInWords(count) {
  const rounded = Number(count.toPrecision(2));
  const [size, name] = UNITS.find(([unit]) => rounded >= unit) ?? [1, ""];
  const number = Number((rounded / size).toPrecision(2)).toLocaleString("en");
  return name ? `${number} ${name}` : number;
}

/** A number of operations, such as "2.5 × 10¹³". */
export function powerInWords(value) {
  const [digits, exponent] = value.toExponential(1).split("e+");
  return `${digits} × 10${raised(exponent)}`;
}

/** What the law says of a budget, in sentences. */
export function answerInWords({ tokens, loss, best }, parameters) {
  const perParameter = Number((best.tokens / best.parameters).toPrecision(2));
  const optimum = `The law’s best use of this budget is a model with ${countInWords(best.parameters)} parameters that reads ${countInWords(best.tokens)} tokens (${perParameter.toLocaleString("en")} per parameter), with a loss of ${best.loss.toFixed(2)} nats per token.`;
  const more = loss - best.loss;
  const yours = `A model with ${countInWords(parameters)} parameters can read ${countInWords(tokens)} tokens with it, with a loss of ${loss.toFixed(2)}`;
  return [optimum, more < 0.005 ? `${yours}.` : `${yours}: ${more.toFixed(2)} more.`];
}

/** A warning where a budget or a size is beyond what was measured, or nothing. */
export function warningOf(runs, compute, parameters) {
  const beyond = (value, of) => value / Math.max(...runs.map(of));
  const budget = beyond(compute, (run) => run.compute);
  const size = beyond(parameters, (run) => run.parameters);
  if (Math.max(budget, size) <= 1.3) return "";
  const what =
    budget >= size
      ? `The budget is ${Number(budget.toPrecision(2))} times that of the largest run`
      : `The model is ${Number(size.toPrecision(2))} times as large as the largest in this chart`;
  return `${what}: this is an extrapolation.`;
}
