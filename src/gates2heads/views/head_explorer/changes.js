// What is changed in the model, named beside the field: changes outlive the sentence for which they
// were made.

import { isUnmoved, offInWords } from "../kit/heads.js";
import { element } from "../kit/view.js";

export class Changes {
  /** stage: the view; reset: undoes all changes. */
  constructor(stage, reset) {
    this.node = element("p", { class: "g2h-changes", role: "status" });
    this.reset = element("button", { type: "button" }, "Reset");
    stage.listen(this.reset, "click", reset);
  }

  show({ off, shapes, order, positions }) {
    const changes = [];
    if (!positions) changes.push("the encoder has no positional encodings");
    if (off.length) changes.push(offInWords(off, shapes));
    if (!isUnmoved(order)) changes.push("the word order is changed");
    const told = `Changed: ${changes.join("; ")}. `;
    this.node.replaceChildren(...(changes.length ? [told, this.reset] : []));
  }
}
