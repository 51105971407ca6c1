// Where the parts of the leaderboard's picture are: axes, and labels that do not overlap.

import { ticks } from "./board.js";

export const EDGE = { left: 46, right: 14, top: 10, bottom: 40 };
const LETTER = 6.2; // units a letter of a label is wide
const CAPITAL = 2; // and a capital letter more
export const LINE = 15;
const ROUNDS = 6;
const HIDDEN = 3; // the cost of a mark under a label, relative to that of another label
const NEAR = 40; // units between points whose labels must be in their order
const REVERSED = 300; // the cost of two such labels in the reverse order
const RIVAL = 1.5; // of the distance to its own point: another one so near is a rival
const AMBIGUOUS = 60; // of a label that is nearer to another point than to its own

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

/** How far a point is from a box: 0 inside it. */
const distance = (box, { x, y }) =>
  Math.hypot(Math.max(box.left - x, x - box.right, 0), Math.max(box.top - y, y - box.bottom, 0));

/**
 * Boxes for labels beside points, none over another where there is room: [{x, y, anchor, leader}].
 * Labels of points that are close together are in the vertical order of their points. `leader` tells
 * whether a label needs a line to its point: it is far from it, or about as near to another point.
 */
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
  const isNear = (one, other) =>
    Math.abs(one.x - other.x) < NEAR && Math.abs(one.y - other.y) < NEAR;
  let chosen = [];
  const choose = (point, place) => {
    const { x, y } = point;
    const others = points.map((_, other) => other).filter((other) => other !== place);
    const placed = others.filter((other) => chosen[other]);
    const capitals = names[place].match(/\p{Lu}/gu)?.length ?? 0;
    const long = names[place].length * LETTER + capitals * CAPITAL;
    const taken = placed.map((other) => chosen[other].box);
    const close = placed.filter((other) => isNear(point, points[other]));
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
      const reversed = close.filter(
        (other) => (y - points[other].y) * (one.y - chosen[other].y) < 0,
      ).length;
      const own = distance(box, point);
      const hasRival = others.some((other) => distance(box, points[other]) < RIVAL * own);
      const nearer = others.filter((other) => distance(box, points[other]) < own).length;
      return {
        ...one,
        box,
        leader: Math.abs(one.y - y) > 1.5 * LINE || (one.y !== y && hasRival),
        cost:
          40 * outside +
          taken.reduce((sum, other) => sum + over(box, other), 0) +
          HIDDEN * marks.reduce((sum, other) => sum + over(box, other), 0) +
          REVERSED * reversed +
          AMBIGUOUS * nearer +
          one.order,
      };
    };
    chosen[place] = starts.map(cost).reduce((one, other) => (other.cost < one.cost ? other : one));
  };
  // A label that was placed early may stand in the way of a later one: all are placed again. The
  // result depends on which is placed first, so several orders are tried.
  const given = points.map((_, place) => place);
  const down = [...given].sort((one, other) => points[one].y - points[other].y);
  const along = [...given].sort((one, other) => points[one].x - points[other].x);
  const total = (some) => some.reduce((sum, { cost }) => sum + cost, 0);
  const orders = [given, down, along].flatMap((order) => [order, [...order].reverse()]);
  const tried = orders.map((order) => {
    chosen = [];
    for (let round = 0; round < ROUNDS; round++)
      order.forEach((place) => choose(points[place], place));
    return chosen;
  });
  chosen = tried.reduce((one, other) => (total(other) < total(one) ? other : one), tried[0]);
  return chosen.map(({ x, y, anchor, leader }) => ({ x, y, anchor, leader }));
}
