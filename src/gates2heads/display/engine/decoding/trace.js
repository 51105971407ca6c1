// The tree that a search walked: what it followed, what it cut off, and with which scores.

import { top } from "./top.js";

const KEPT = "kept";
const ENDED = "ended";
const CUT = "cut";
const PRUNED = "pruned";

/** Give one to a search as `tree`, and read `nodes` afterwards: the root first, a node after its parent. */
export class Tree {
  /** @param {number} branches how many continuations of each open sequence are noted at least */
  constructor(branches = 5) {
    this.branches = branches;
    this.begin(0);
  }

  /** Called by a search: forget what was noted, and plant the root. */
  begin(bos) {
    this.nodes = [{ parent: null, length: 0, token: bos, log_prob: 0, score: 0, fate: KEPT }];
    this.tips = [0]; // the nodes from which it goes on; null where the way there is impossible
  }

  /** The sequence that ends in a node, without <bos>. */
  tokens(node) {
    const found = [];
    for (let at = node; this.nodes[at].parent !== null; at = this.nodes[at].parent) {
      found.push(this.nodes[at].token);
    }
    return found.reverse();
  }

  /** The nodes in which a sequence ended or was cut, the best score first. */
  complete() {
    const ends = [...this.nodes.keys()].filter((place) => [ENDED, CUT].includes(this.nodes[place].fate));
    return ends.sort((left, right) => this.nodes[right].score - this.nodes[left].score);
  }

  /**
   * Called by a search at each step: note one more token.
   *
   * @param {Float64Array[]} sums of each open sequence with each token after it, (V,) each
   * @param {{slot: number, token: number, fate: string}[]} followed by the search; "kept" in the
   *   order of the next open sequences
   */
  grow(sums, followed, rule) {
    if (!followed.length) {
      this.tips = [];
      return;
    }
    const placed = new Map();
    this.tips.forEach((tip, slot) => {
      if (tip === null) return;
      const length = this.nodes[tip].length + 1;
      for (const token of this.worthNoting(slot, sums[slot], followed)) {
        const total = sums[slot][token];
        if (total === -Infinity) continue;
        const fate = followed.find((one) => one.slot === slot && one.token === token)?.fate ?? PRUNED;
        placed.set(`${slot} ${token}`, this.nodes.length);
        this.nodes.push({ parent: tip, length, token, log_prob: total, score: rule.score(total, length), fate });
      }
    });
    const kept = followed.filter((one) => one.fate === KEPT);
    this.tips = kept.map(({ slot, token }) => placed.get(`${slot} ${token}`) ?? null);
  }

  // The tokens after one open sequence, best first.
  worthNoting(slot, sums, followed) {
    const noted = new Set(top(sums, Math.min(this.branches, sums.length)));
    for (const one of followed) if (one.slot === slot) noted.add(one.token);
    return [...noted].sort((left, right) => sums[right] - sums[left] || left - right);
  }
}

/** What becomes of a sequence that is followed to this token; `cut` at the last step. */
export function fateOf(token, eos, cut) {
  if (token === eos) return ENDED;
  return cut ? CUT : KEPT;
}
