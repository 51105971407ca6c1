// Where the words of a map are drawn: points by their places, labels so that none hides
// another.

import { shortened } from "../../browser/live/pieces.js";

export const GOAL = "b − a + c"; // the point of the map that is no word
export const LETTERS = ["a", "b", "c"];
const FAITHFUL = 0.6; // the share of variance from which a map is not called misleading
const CARRIERS = 3; // n-grams that are named beside an unseen word

/** "0.83", with a minus sign as long as a plus. */
export const told = (number) => number.toFixed(2).replace("-", "−");

/**
 * Points of the map in units of the picture, and labels beside them.
 *
 * @param {number[][]} places (N, 2)
 * @param {{width: number, height: number, letter: number, line: number, edge: number}} paper
 * @param {string[]} points the words
 * @returns {{x, y, left, top, anchor}[]} the point, and where its label begins or ends
 */
export function laidOut(places, points, { width, height, letter, line, edge }) {
  const scale = Math.min(
    ...[width - 2 * edge, height - 2 * line].map((room, axis) => {
      const along = places.map((place) => place[axis]);
      return room / Math.max(Math.max(...along) - Math.min(...along), 1e-9);
    }),
  );
  const middle = [0, 1].map((axis) => {
    const along = places.map((place) => place[axis]);
    return (Math.max(...along) + Math.min(...along)) / 2;
  });
  const found = places.map(([x, y]) => ({
    x: width / 2 + (x - middle[0]) * scale,
    y: height / 2 - (y - middle[1]) * scale,
  }));
  const taken = found.map(({ x, y }) => ({ left: x - 5, right: x + 5, top: y - 5, bottom: y + 5 }));
  return found.map((point, at) => {
    const long = points[at].length * letter;
    const best = sides(point, long, line)
      .map((box, order) => {
        const outside =
          Math.max(0, -box.left) +
          Math.max(0, box.right - width) +
          Math.max(0, -box.top) +
          Math.max(0, box.bottom - height);
        const hidden = taken.reduce(
          (total, other, place) => total + (place === at ? 0 : overlap(box, other)),
          0,
        );
        return { ...box, cost: hidden + 50 * outside + order };
      })
      .reduce((one, other) => (other.cost < one.cost ? other : one));
    taken.push(best);
    return { ...point, left: best.start, top: best.top + 0.78 * line, anchor: best.anchor };
  });
}

/** Where a label may be: right, left, above, below, and farther off. */
function sides({ x, y }, long, line) {
  const beside = (start, top, anchor) => {
    const left = { start, middle: start - long / 2, end: start - long }[
      anchor === "middle" ? "middle" : anchor
    ];
    return { start, anchor, left, right: left + long, top, bottom: top + line };
  };
  return [0, 1, 2].flatMap((far) => [
    beside(x + 8, y - line / 2 + far * 0.6 * line, "start"),
    beside(x - 8, y - line / 2 - far * 0.6 * line, "end"),
    beside(x, y - line - 5 - far * line, "middle"),
    beside(x, y + 5 + far * line, "middle"),
  ]);
}

function overlap(one, other) {
  const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
  const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
  return across > 0 && down > 0 ? across * down : 0;
}

/** The heading over each list of an answer, and what its numbers are. */
export function headings({ asked }) {
  const [a, b, c] = asked.map(quoted);
  if (c !== undefined) return [`nearest to ${b} − ${a} + ${c}`];
  if (b !== undefined) return [`nearest to ${b} − ${a}`, `nearest to ${a} − ${b}`];
  return [`nearest to ${a}`];
}

const quoted = (word) => `“${shortened(word)}”`;
const percent = (share) => `${Math.round(100 * share)} %`.replace("-", "−");

/** Where the vector of a word outside the vocabulary comes from, in one sentence. */
export function unseenInWords({ word, ngrams }) {
  const one = ngrams.length === 1;
  const named = ngrams.slice(0, CARRIERS).map(([ngram, share]) => `“${ngram}” (${percent(share)})`);
  const all = ngrams.length <= CARRIERS;
  const most = all ? `, ${listed(named)}` : `, of which ${listed(named)} contribute most`;
  return one
    ? `${quoted(word)} is not in the training vocabulary; its vector is that of its only known character n-gram, “${ngrams[0][0]}”, and therefore unreliable.`
    : `${quoted(word)} is not in the training vocabulary; its vector is the mean of ${ngrams.length} known character n-grams${most}.`;
}

function listed(names) {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** An answer in one sentence, and one more for each word outside the vocabulary. */
export function answerInWords({ unseen = [], ...answer }) {
  return [...unseen.map(unseenInWords), seenInWords(answer)].join(" ");
}

function seenInWords({ asked, cosines, found, shares }) {
  const [a, b, c] = asked.map(quoted);
  const [[word, cosine]] = found[0];
  const first = quoted(word);
  const share = shares[0] + shares[1];
  const warning = share < FAITHFUL ? ", so distances on it can mislead" : "";
  const map = ` The map captures ${Math.round(100 * share)} % of the variance of these vectors${warning}.`;
  if (c !== undefined)
    return `${a} is to ${b} as ${c} is to ${first} (cosine ${told(cosine)}).${map}`;
  if (b !== undefined)
    return `The cosine between ${a} and ${b} is ${told(cosines[0])}. The word nearest to the direction from ${a} to ${b} is ${first}; in the opposite direction it is ${quoted(found[1][0][0])}.${map}`;
  return `The nearest neighbour of ${a} is ${first} (cosine ${told(cosine)}).${map}`;
}

/** Which arrows the map draws: from one point to another, by their names. */
export function arrows({ asked }) {
  const [a, b, c] = asked;
  if (c !== undefined)
    return [
      [a, b],
      [c, GOAL],
    ];
  return b === undefined ? [] : [[a, b]];
}
