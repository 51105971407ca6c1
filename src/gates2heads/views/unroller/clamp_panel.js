// The panel that clamps a token at the current step, and the probabilities of each line there.

import { seen, told } from "../kit/gates.js";
import { LINES, likeliestAt, TITLES } from "./unrolled.js";
import { element } from "../kit/view.js";

export class ClampPanel {
  /** @param callbacks onToken(token), onRelease(), and listen(node, event, handler) */
  constructor({ onToken, onRelease, listen }) {
    this.shares = element("table", { class: "g2h-numbers" });
    this.keys = element("div", {
      class: "g2h-chips g2h-keys",
      role: "group",
      "aria-label": "clamp a character at this step",
    });
    this.release = element("button", { type: "button" }, "Release all");
    this.hint = element("p", { class: "g2h-legend" });
    listen(this.keys, "click", (event) => {
      const key = event.target.closest("button");
      if (key) onToken(key.dataset.token);
    });
    listen(this.release, "click", onRelease);
    this.node = element(
      "div",
      { class: "g2h-hand g2h-dim" },
      this.hint,
      element("div", { class: "g2h-buttons" }, this.keys, this.release),
      this.shares,
    );
  }

  /** One button for each token that can be clamped. */
  fill(vocabulary) {
    this.keys.replaceChildren(
      ...vocabulary
        .filter((token) => !["<pad>", "<bos>"].includes(token))
        .map((token) =>
          element(
            "button",
            { type: "button", class: "g2h-chip", "data-token": token },
            seen(token),
          ),
        ),
    );
  }

  /**
   * Shows what can be clamped at a step, and the probabilities of its most probable tokens.
   * @param run the three lines
   * @param writing the step of the decoder, below 0 in the encoder
   * @param holds the clamped tokens by their steps
   */
  draw(run, writing, holds) {
    const canHold = writing >= 0 && writing < run.held.tokens.length;
    this.hint.textContent = canHold
      ? `Clamp a character at output step ${writing + 1}: the decoder is fed it in place of its own output.`
      : "Go to a decoder step to clamp a character there.";
    [...this.keys.children].forEach((key) => {
      key.disabled = !canHold;
      key.setAttribute("aria-pressed", holds[writing] === key.dataset.token);
    });
    const rows = writing < 0 ? [] : likeliestAt(run, LINES, writing);
    const head = element(
      "tr",
      {},
      element("th", {}, "P(next token)"),
      ...LINES.map((name) => element("th", { scope: "col" }, TITLES[name])),
    );
    this.shares.replaceChildren(
      element("thead", {}, head),
      element(
        "tbody",
        {},
        ...rows.map(({ id, token, shares }) =>
          element(
            "tr",
            {},
            element("th", { scope: "row" }, element("code", { "data-id": id }, seen(token))),
            ...shares.map(bar),
          ),
        ),
      ),
    );
    this.shares.hidden = !rows.length;
  }
}

function bar(share) {
  if (share === null) return element("td", {}, "–");
  const cell = element("td", { "data-value": share.toFixed(5) }, told(share));
  cell.style.setProperty("--g2h-share", `${(100 * share).toFixed(1)}%`);
  return cell;
}
