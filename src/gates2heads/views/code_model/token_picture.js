// The tokens of a text, shaded by probability: a list from which a reader selects one.

import { textOf } from "../../browser/live/pieces.js";
import { drawnText, named, probOf, shade, share } from "./code_tokens.js";
import { element } from "../kit/view.js";

export class TokenPicture {
  /**
   * @param {string} prefix of the ids of the tokens, which no other view on the page has
   * @param {function(number=)} onShow called with the position of a token that is to be shown, or
   *   with nothing for the selected one
   */
  constructor(prefix, onShow) {
    Object.assign(this, { prefix, onShow });
    this.nodes = [];
    this.chosen = null; // the position of the selected token; null: the next one
    this.node = element("div", {
      class: "g2h-code g2h-dim",
      role: "listbox",
      tabindex: 0,
      "aria-label": "tokens, with their probability",
    });
  }

  /** Reacts to keys and pointer, with the view's own `listen`. */
  listenWith(listen) {
    listen(this.node, "keydown", (event) => this.walk(event));
    listen(this.node, "click", (event) => this.point(event.target, true));
    listen(
      this.node,
      "pointerover",
      (event) => event.pointerType === "mouse" && this.point(event.target),
    );
    listen(this.node, "pointerleave", () => this.onShow());
  }

  draw(unread, tokens, generated) {
    const nodes = tokens.map((one, at) =>
      this.tokenNode(one, at, generated[at], !at && !unread.length),
    );
    const rest = unread.length
      ? [element("span", { class: "g2h-unread" }, textOf(unread, true))]
      : [];
    const end = element(
      "span",
      {
        class: "g2h-token g2h-next",
        role: "option",
        id: this.idOf(tokens.length),
        "data-at": tokens.length,
        "aria-label": "the next token",
      },
      "▮",
    );
    this.nodes = [...nodes, end];
    this.node.replaceChildren(...rest, ...this.nodes);
    if (generated.at(-1)) this.node.scrollTop = this.node.scrollHeight;
    else if (unread.length) this.show(nodes[0]);
    this.chosen =
      this.chosen !== null && this.chosen < this.nodes.length ? this.chosen : tokens.length;
  }

  /** Scrolls to a token, the line above it included; the page stays where it is. */
  show(node) {
    const above = node.getBoundingClientRect().top - this.node.getBoundingClientRect().top;
    this.node.scrollTop += above - 1.5 * node.getBoundingClientRect().height;
  }

  /** Adds a token that was generated just now. */
  extend(token, isFirst) {
    const at = this.node.children.length - 1;
    this.node.lastChild.before(this.tokenNode(token, at, true, isFirst));
    this.node.scrollTop = this.node.scrollHeight;
  }

  /** Marks the selected token, and the one at `at`, which the panel shows. */
  mark(at) {
    this.nodes.forEach((node, place) => {
      if (place === this.chosen) node.setAttribute("aria-selected", "true");
      else if (node.hasAttribute("aria-selected")) node.removeAttribute("aria-selected");
      node.toggleAttribute("data-shown", place === at);
    });
    this.node.setAttribute("aria-activedescendant", this.idOf(this.chosen));
  }

  idOf(at) {
    return `${this.prefix}-${at}`;
  }

  tokenNode({ piece, bits }, at, isGenerated, isFirst) {
    const parts = piece === "<eos>" ? [["⏹", ""]] : drawnText(piece, isFirst);
    const attributes = {
      class: isGenerated ? "g2h-token g2h-generated" : "g2h-token",
      role: "option",
      id: this.idOf(at),
      "data-at": at,
      "data-bits": bits,
      style: `--g2h-bits: ${(100 * shade(bits)).toFixed(0)}%`,
      "aria-label": `${named(piece)}, probability ${share(probOf(bits))}${isGenerated ? ", generated" : ""}`,
    };
    const marks = parts.flatMap(([sign, some]) => (sign ? [element("i", {}, sign), some] : [some]));
    return element("span", attributes, ...marks);
  }

  /** A token was pointed at, or pressed: then it stays. */
  point(target, stays = false) {
    const node = target.closest?.(".g2h-token");
    if (!node || this.node.hasAttribute("data-writing")) return;
    const at = Number(node.dataset.at);
    if (stays) this.chosen = at;
    this.onShow(at);
  }

  walk(event) {
    const last = this.nodes.length - 1;
    const now = this.chosen ?? last;
    const to = {
      ArrowLeft: now - 1,
      ArrowRight: now + 1,
      Home: 0,
      End: last,
      ArrowUp: this.lineAway(-1),
      ArrowDown: this.lineAway(1),
    }[event.key];
    if (to === undefined || this.node.hasAttribute("data-writing")) return;
    event.preventDefault();
    this.chosen = Math.min(Math.max(to, 0), last);
    this.nodes[this.chosen].scrollIntoView({ block: "nearest" });
    this.onShow();
  }

  /** The token above or below the selected one. */
  lineAway(step) {
    const here = this.nodes[this.chosen ?? this.nodes.length - 1].getClientRects()[0];
    if (!here) return this.chosen;
    const other = this.nodes
      .map((node, at) => ({ at, box: node.getClientRects()[0] }))
      .filter(({ box }) => box && step * (box.top - here.top) > here.height / 2);
    const rows = other.map(({ box }) => step * box.top);
    const near = Math.min(...rows);
    const line = other.filter(({ box }) => step * box.top - near < here.height / 2);
    const apart = ({ box }) => Math.abs(box.left - here.left);
    return line.length
      ? line.reduce((best, one) => (apart(one) < apart(best) ? one : best)).at
      : (this.chosen ?? 0);
  }
}
