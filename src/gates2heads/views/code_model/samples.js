// Several continuations of one text, from which the reader chooses.

import { totals } from "./code_tokens.js";
import { element } from "../kit/view.js";

export class Samples {
  /** @param listen (node, event, handler): listens as long as the view lives. */
  constructor(listen) {
    this.listen = listen;
    this.node = element("div", {
      class: "g2h-candidates",
      role: "group",
      "aria-label": "samples",
      hidden: true,
    });
  }

  hide() {
    this.node.hidden = true;
  }

  /** Shows a card for each continuation, {tokens, added}; `choose` receives the chosen one. */
  offer(all, choose) {
    this.node.replaceChildren(...all.map((one, at) => this.card(one, at + 1, choose)));
    this.node.hidden = false;
  }

  card(one, number, choose) {
    const use = element("button", { type: "button" }, `Use sample ${number}`);
    this.listen(use, "click", () => {
      this.hide();
      choose(one);
    });
    const { bits, characters, count } = totals(
      [""],
      one.tokens.filter(({ piece }) => piece !== "<eos>"),
    );
    const perCharacter = characters ? (bits / characters).toFixed(2) : "–";
    const size = `${count} tokens, ${perCharacter} bits per character`;
    return element(
      "div",
      { class: "g2h-candidate" },
      element("pre", { tabindex: 0, role: "group", "aria-label": `sample ${number}` }, one.added),
      element("p", {}, element("span", {}, size), use),
    );
  }
}
