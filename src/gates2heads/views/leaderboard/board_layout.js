// Where the parts of the leaderboard's picture are: axes, and labels that do not overlap.

import { ticks } from "./board.js";

export const EDGE = { left: 46, right: 14, top: 10, bottom: 40 };
const LETTER = 6.6; // units a letter of a label is wide
const CAPITAL = 2; // and a capital letter more
export const LINE = 15;
const ROUNDS = 4;

/** Maps numbers to units of the picture, with some air at both ends. */
export function axis(values, [from, to], { log = false, zero = false } = {}) {
  const warp = log ? Math.log : (value) => value;
  let [low, high] = [Math.min(...values), Math.max(...values)];
  if (zero) low = Math.min(0, low);
  const air = 0.06 * (warp(high) - warp(low)) || (log ? 0.1 : Math.abs(high) * 0.1 || 1);
  const [start, end] = [zero && low === 0 ? 0 : warp(low) - air, warp(high) + air];
  const unwarp = log ? Math.exp : (value) => value;
  return {
    at: (value) => from + ((warp(value) - start) / (end - start)) * (to - from),
    ticks: ticks(unwarp(start), unwarp(end), { log, most: 6 }),
  };
}

/** Boxes for labels beside points, none over another where there is room: [{x, y, anchor}]. */
export function labelled(points, names, { width, height }) {
  const marks = points.map(({ x, y }) => ({
    left: x - 6,
    right: x + 6,
    top: y - 6,
    bottom: y + 6,
  }));
  const over = (one, other) =>
    Math.max(0, Math.min(one.right, other.right) - Math.max(one.left, other.left)) *
    Math.max(0, Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top));
  const chosen = [];
  const choose = ({ x, y }, place) => {
    const capitals = names[place].match(/\p{Lu}/gu)?.length ?? 0;
    const long = names[place].length * LETTER + capitals * CAPITAL;
    const taken = [...marks, ...chosen.filter((_, other) => other !== place).map(({ box }) => box)];
    const starts = [0, 1, 2, 3].flatMap((far) =>
      [
        { x: x + 13, y: y - far * LINE, left: x + 13, anchor: "start" },
        { x: x - 13, y: y - far * LINE, left: x - 13 - long, anchor: "end" },
        { x: x + 13, y: y + far * LINE, left: x + 13, anchor: "start" },
        { x: x - 13, y: y + far * LINE, left: x - 13 - long, anchor: "end" },
        { x, y: y - (far + 1) * LINE, left: x - long / 2, anchor: "middle" },
        { x, y: y + (far + 1) * LINE, left: x - long / 2, anchor: "middle" },
      ].map((one, order) => ({ ...one, order: order + 6 * far })),
    );
    const cost = (one) => {
      const box = {
        left: one.left,
        right: one.left + long,
        top: one.y - LINE / 2,
        bottom: one.y + LINE / 2,
      };
      const outside =
        Math.max(0, 2 - box.left) +
        Math.max(0, box.right - width + 2) +
        Math.max(0, -box.top) +
        Math.max(0, box.bottom - height + EDGE.bottom);
      return {
        ...one,
        box,
        cost: 40 * outside + taken.reduce((sum, other) => sum + over(box, other), 0) + one.order,
      };
    };
    chosen[place] = starts.map(cost).reduce((one, other) => (other.cost < one.cost ? other : one));
  };
  // A label that was placed early may stand in the way of a later one: all are placed again.
  for (let round = 0; round < ROUNDS; round++) points.forEach(choose);
  return chosen.map(({ x, y, anchor }) => ({ x, y, anchor }));
}
