// The tree that a search walked: what it followed, what it cut off, and with which scores.

import { top } from "./top.js";

const KEPT = "kept";
const ENDED = "ended";
const CUT = "cut";
const PRUNED = "pruned";

/**
 * Give one to a search as `tree`, and read `nodes` afterwards: the root first, a node after its
 * parent.
 */
export class Tree {
  /**
   * @param {number} branches how many continuations of each open sequence are noted at least
   * @param {number?} pruned how many of a step that the search did not follow are kept, the
   *   likeliest; all of those noted if null
   */
  constructor(branches = 5, { pruned = null } = {}) {
    this.branches = branches;
    this.pruned = pruned;
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
    const ends = [...this.nodes.keys()].filter((place) =>
      [ENDED, CUT].includes(this.nodes[place].fate),
    );
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
    for (const { slot, token, total, fate } of this.worthNoting(sums, followed)) {
      const parent = this.tips[slot];
      const length = this.nodes[parent].length + 1;
      placed.set(`${slot} ${token}`, this.nodes.length);
      this.nodes.push({
        parent,
        length,
        token,
        log_prob: total,
        score: rule.score(total, length),
        fate,
      });
    }
    const kept = followed.filter((one) => one.fate === KEPT);
    this.tips = kept.map(({ slot, token }) => placed.get(`${slot} ${token}`) ?? null);
  }

  // Which ways to go on are noted, slot by slot, best first.
  worthNoting(sums, followed) {
    const noted = this.tips.flatMap((tip, slot) => {
      if (tip === null) return [];
      const fates = new Map(
        followed.filter((one) => one.slot === slot).map(({ token, fate }) => [token, fate]),
      );
      const tokens = new Set([
        ...top(sums[slot], Math.min(this.branches, sums[slot].length)),
        ...fates.keys(),
      ]);
      return [...tokens]
        .map((token) => ({
          slot,
          token,
          total: sums[slot][token],
          fate: fates.get(token) ?? PRUNED,
        }))
        .filter(({ total }) => total > -Infinity)
        .sort((left, right) => right.total - left.total || left.token - right.token);
    });
    if (this.pruned === null) return noted;
    const others = noted
      .filter(({ fate }) => fate === PRUNED)
      .sort((left, right) => right.total - left.total);
    const dropped = new Set(others.slice(this.pruned));
    return noted.filter((way) => !dropped.has(way));
  }
}

/** What becomes of a sequence that is followed to this token; `cut` at the last step. */
export function fateOf(token, eos, cut) {
  if (token === eos) return ENDED;
  return cut ? CUT : KEPT;
}
