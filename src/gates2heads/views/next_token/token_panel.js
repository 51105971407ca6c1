// The next tokens of one model and their probabilities.

import { extended, named, restInWords, share } from "./foresight.js";
import { element } from "../kit/view.js";

/** The most probable next tokens of one model, as buttons. */
export function tokenPanel(name, { ahead, kept }) {
  const rows = ahead.map(({ token, piece, prob, drawn }) => {
    const attributes = {
      type: "button",
      class: "g2h-token",
      "data-piece": piece,
      "data-token": token,
      "data-prob": prob,
      "data-drawn": drawn,
      "data-moved": Math.abs(drawn - prob) > 0.0005 && "",
      style: `--g2h-share: ${(100 * drawn).toFixed(2)}%; --g2h-own: ${(100 * prob).toFixed(2)}%`,
      disabled: extended("", piece) === null && "",
      "aria-label": `${named(piece)}, probability ${share(drawn)}`,
    };
    return element(
      "button",
      attributes,
      element("span", {}, named(piece)),
      element("span", {}, share(drawn)),
    );
  });
  const rest = element("p", { class: "g2h-rest", "data-kept": kept }, restInWords({ ahead, kept }));
  return element(
    "div",
    { class: "g2h-panel", role: "group", "aria-label": name },
    element("p", { class: "g2h-name" }, name),
    ...rows,
    rest,
  );
}
