// Tokens with their probabilities.

import { visible } from "../../browser/live/pieces.js";
import { percent } from "./fills.js";
import { element } from "../kit/view.js";

/** A token that a model wrote, with its probability. */
export function writtenToken(token, share) {
  return element(
    "span",
    { class: "g2h-written", "data-share": share, title: percent(share) },
    element("bdi", {}, visible(token)),
  );
}

/** The most probable tokens at one mask, and the probability of the token that was typed. */
export function shareTable(name, { best, was }, stood) {
  const typed = (token) => was !== null && token === stood;
  const rows = best.map(({ token, share }) => [token, share, typed(token)]);
  if (was !== null && !rows.some(([, , isWas]) => isWas)) rows.push([stood, was, true]);
  return element(
    "table",
    { class: "g2h-shares" },
    element("caption", {}, `${name}, for “`, element("bdi", {}, visible(stood)), "”"),
    element(
      "tbody",
      {},
      ...rows.map(([token, share, isWas]) =>
        element(
          "tr",
          { class: isWas && "g2h-was" },
          element(
            "th",
            { scope: "row" },
            element("bdi", {}, visible(token)),
            isWas ? " (typed)" : "",
          ),
          element(
            "td",
            { "data-value": share, style: `--g2h-share: ${(100 * share).toFixed(2)}%` },
            percent(share),
          ),
        ),
      ),
    ),
  );
}
