// The panel beside the tokens: the probabilities at one position.

import { narrow } from "../../browser/engine/decoding/sampling.js";
import { logSoftmax } from "../../browser/engine/tensor.js";
import { ahead, named, probOf, share } from "./code_tokens.js";
import { element } from "../kit/view.js";

const NEXT = 8; // of the most probable next tokens

/** The panel of a token: its probability, and the most probable tokens at its position. */
export function tokenPanel({ piece, bits, top }, at) {
  const prob = probOf(bits);
  const isListed = top.some(([one]) => one === piece);
  const rows = top.map(([one, its]) => row(one, its, its, one === piece));
  if (!isListed) rows.push(row(piece, prob, prob, true));
  return [
    element("p", { class: "g2h-name" }, `token ${at + 1}: ${named(piece)}`),
    element("p", { class: "g2h-told" }, `probability ${share(prob)}, ${bits.toFixed(1)} bits`),
    ...rows,
  ];
}

/** The panel of the next token: {kept, nodes}, the number of tokens that can be sampled, and nodes. */
export function nextPanel(logits, way, vocabulary) {
  const logProbs = logSoftmax(logits);
  const narrowed = narrow(logProbs, way);
  const { kept, best } = ahead(logProbs, narrowed, vocabulary, NEXT);
  const total = logProbs.length.toLocaleString("en");
  const candidates = kept === logProbs.length ? "all" : `${kept.toLocaleString("en")} of`;
  const tokens = `candidates: ${candidates} ${total} tokens`;
  const nodes = [
    element("p", { class: "g2h-name" }, "the next token"),
    element("p", { class: "g2h-told" }, tokens),
    ...best.map(({ piece, prob, drawn }) => row(piece, drawn, prob, false)),
  ];
  return { kept, nodes };
}

/** A token with the probability of being drawn; a tick is at the model's own. */
function row(piece, drawn, prob, isActual) {
  const attributes = {
    class: "g2h-row",
    "data-piece": piece,
    "data-prob": prob,
    "data-drawn": drawn,
    "data-actual": isActual && "",
    "data-moved": Math.abs(drawn - prob) > 0.0005 && "",
    style: `--g2h-share: ${(100 * drawn).toFixed(2)}%; --g2h-own: ${(100 * prob).toFixed(2)}%`,
  };
  const name = element("span", {}, isActual ? `▸ ${named(piece)}` : named(piece));
  return element("p", attributes, name, element("span", {}, share(drawn)));
}
