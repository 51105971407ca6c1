// Whether a view may fetch its models. Small files are fetched at once; before 1 MB or more, or any
// file for a reader whose browser saves data, the view says how much it is and asks, once for each
// file. Nothing is asked where nothing comes over the network.

import { element } from "../../views/kit/view.js";
import { inMegabytes } from "./files.js";
import { filesToFetch } from "./runtime.js";

const FREE = 1e6; // bytes that are fetched without a question
const STORE = "gates2heads.agreed";

/** The files that were agreed to since the tab was opened; a second page has them in the cache. */
function remembered() {
  try {
    const names = JSON.parse(sessionStorage.getItem(STORE) ?? "[]");
    return Array.isArray(names) ? names : [];
  } catch {
    return []; // a browser may forbid the storage: then each page asks
  }
}

function remember(names) {
  try {
    sessionStorage.setItem(STORE, JSON.stringify([...new Set([...remembered(), ...names])]));
  } catch {
    // as above
  }
}

/** Files by name that the reader has not agreed to. */
function unasked(lives) {
  const agreed = new Set(remembered());
  return [...filesToFetch(lives)].filter(([name]) => !agreed.has(name));
}

export class Permission {
  /** root: of the view. onAgreed is called when the reader has clicked. */
  constructor(root, onAgreed = () => {}) {
    this.root = root;
    this.sentence = element("span");
    this.button = element("button", { type: "button", class: "g2h-main" });
    this.node = element("div", { class: "g2h-ask", role: "status" }, this.sentence, this.button);
    this.lives = new Set();
    this.waiting = this.done = null;
    this.button.addEventListener("click", () => {
      remember(filesToFetch([...this.lives]).keys());
      this.settle();
      onAgreed();
    });
  }

  /** Whether the question stands there. */
  get isAsking() {
    return this.waiting !== null;
  }

  /** The question appears below the row of the view that holds `target`; of a tall one, above it. */
  below(target) {
    const row = [...this.root.children].find((child) => child.contains(target));
    if (row && row !== this.node) this.row = row;
  }

  /** The question appears directly below this part of the view. */
  after(part) {
    this.row = part;
  }

  /**
   * Gives a promise that comes true once these models may be fetched: at once, or when the reader
   * has clicked.
   *
   * isUsed: whether the reader has used the view; before that, nothing is fetched unasked.
   */
  for(lives, { isUsed }) {
    const files = unasked(this.isAsking ? [...this.lives, ...lives] : lives);
    const bytes = files.reduce((sum, [, size]) => sum + size, 0);
    const isFree = isUsed && bytes < FREE && !globalThis.navigator.connection?.saveData;
    if (!bytes || isFree) {
      this.settle();
      return Promise.resolve();
    }
    this.waiting ??= new Promise((done) => (this.done = done));
    lives.forEach((live) => this.lives.add(live));
    this.show(bytes);
    return this.waiting;
  }

  show(bytes) {
    const { size } = this.lives;
    const runs = size > 1 ? "The models run" : "The model runs";
    const told = `${runs} in your browser and must be downloaded first (${inMegabytes(bytes)}).`;
    if (this.sentence.textContent !== told) this.sentence.textContent = told;
    this.button.textContent = size > 1 ? "Load the models" : "Load the model";
    const { row } = this;
    const isBeside = [this.node.previousElementSibling, this.node.nextElementSibling].includes(row);
    if (row && isBeside) return;
    if (!row) this.root.append(this.node);
    else if (row.offsetHeight > globalThis.innerHeight / 2) row.before(this.node);
    else row.after(this.node);
    this.node.scrollIntoView({ block: "nearest" });
  }

  /** Nothing needs the models for now: the question goes, and is asked anew when something does. */
  withdraw() {
    this.node.remove();
    this.waiting = this.done = null;
    this.lives.clear();
  }

  settle() {
    this.node.remove();
    this.done?.();
    this.waiting = this.done = null;
    this.lives.clear();
  }
}
