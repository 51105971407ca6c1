// The merges of byte-pair encoding: always the pair that was learnt first, from the left.

/** Places in a word that wait for their merge: a heap, the lowest rank first, then the leftmost. */
class Waiting {
  constructor() {
    this.heap = [];
  }

  push(entry) {
    const { heap } = this;
    let at = heap.push(entry) - 1;
    while (at && comesBefore(entry, heap[(at - 1) >> 1])) {
      heap[at] = heap[(at - 1) >> 1];
      at = (at - 1) >> 1;
    }
    heap[at] = entry;
  }

  pop() {
    const { heap } = this;
    const first = heap[0];
    const moved = heap.pop();
    if (!heap.length) return first;
    let at = 0;
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      if (child + 1 < heap.length && comesBefore(heap[child + 1], heap[child])) child += 1;
      if (!comesBefore(heap[child], moved)) break;
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = moved;
    return first;
  }
}

function comesBefore(one, other) {
  return one.rank < other.rank || (one.rank === other.rank && one.left < other.left);
}

/**
 * Merge the pieces of one word; the time grows with the length n as n log n, so that a word of a
 * million letters does no harm.
 *
 * @param {number[]} pieces the numbers of the single bytes
 * @param {function(number, number): ?{rank: number, merged: number}} mergeOf what becomes of a pair
 * @returns {number[]} the numbers of the merged pieces
 */
export function mergePieces(pieces, mergeOf) {
  const numbers = [...pieces]; // −1 where a piece was merged into the one on its left
  const next = numbers.map((_, place) => place + 1);
  const before = numbers.map((_, place) => place - 1);
  const waiting = new Waiting();
  const consider = (left) => {
    const right = next[left];
    const found = right < numbers.length ? mergeOf(numbers[left], numbers[right]) : null;
    if (found) waiting.push({ ...found, left, pair: [numbers[left], numbers[right]] });
  };
  for (let place = 0; place + 1 < numbers.length; place += 1) consider(place);
  while (waiting.heap.length) {
    const { left, merged, pair } = waiting.pop();
    const right = next[left];
    // What waited may have changed meanwhile.
    if (numbers[left] !== pair[0] || right >= numbers.length || numbers[right] !== pair[1])
      continue;
    numbers[left] = merged;
    numbers[right] = -1;
    next[left] = next[right];
    if (next[left] < numbers.length) before[next[left]] = left;
    if (before[left] >= 0) consider(before[left]);
    consider(left);
  }
  return numbers.filter((number) => number >= 0);
}
