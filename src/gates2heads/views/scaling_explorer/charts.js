// Two charts with logarithmic axes: loss against compute, and loss against model size.

import { raised } from "../kit/shares.js";
import { drawn } from "../kit/view.js";
import { lossOf, optimumOf, tokensOf } from "./law.js";

const SIZE = { width: 380, height: 270, left: 44, right: 10, top: 10, bottom: 40 };
const POINTS = 60; // of a curve
const SIGNS = { fitted: "circle", predicted: "diamond", yours: "cross" };

/** Positions of decimal logarithms (across) and of losses (up, logarithmic too). */
export function scalesOf([low, high], [least, most]) {
  const { width, height, left, right, top, bottom } = SIZE;
  const [under, over] = [Math.log(least), Math.log(most)];
  return {
    across: (power) => left + ((width - left - right) * (power - low)) / (high - low),
    up: (loss) =>
      height - bottom - ((height - top - bottom) * (Math.log(loss) - under)) / (over - under),
  };
}

/** Losses at which an axis has a grid line: whole and half nats, few enough to read. */
export function lossTicks(least, most) {
  for (const step of [0.25, 0.5, 1, 2, 5, 10]) {
    const first = Math.ceil(least / step);
    const count = Math.floor(most / step) - first + 1;
    if (count <= 6) return Array.from({ length: count }, (_, at) => (first + at) * step);
  }
  return [least, most];
}

const spaced = (low, high) =>
  Array.from({ length: POINTS + 1 }, (_, at) => low + ((high - low) * at) / POINTS);

function lineThrough(points) {
  return points.map(([x, y], at) => `${at ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
}

function signOf(kind, x, y, attributes) {
  const paths = {
    circle: `M${x - 3.5} ${y}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0Z`,
    diamond: `M${x - 6} ${y}L${x} ${y - 6}L${x + 6} ${y}L${x} ${y + 6}Z`,
    cross: `M${x - 5} ${y - 5}L${x + 5} ${y + 5}M${x - 5} ${y + 5}L${x + 5} ${y - 5}`,
  };
  return drawn("path", { ...attributes, d: paths[kind] });
}

function frame({ across, up }, powers, losses, name) {
  const { width, height, left, right, top, bottom } = SIZE;
  const label = (text, attributes) => drawn("text", attributes, text);
  return [
    ...losses.flatMap((loss) => [
      drawn("line", { class: "g2h-grid", x1: left, x2: width - right, y1: up(loss), y2: up(loss) }),
      label(String(loss), { x: left - 6, y: up(loss) + 4, "text-anchor": "end" }),
    ]),
    ...powers.flatMap((power) => [
      drawn("line", {
        class: "g2h-grid",
        x1: across(power),
        x2: across(power),
        y1: top,
        y2: height - bottom,
      }),
      label(`10${raised(power)}`, {
        x: across(power),
        y: height - bottom + 15,
        "text-anchor": "middle",
      }),
    ]),
    label(name, { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }),
  ];
}

const wholesIn = ([low, high]) =>
  Array.from({ length: Math.floor(high) - Math.ceil(low) + 1 }, (_, at) => Math.ceil(low) + at);

function picture(told, parts) {
  const { width, height } = SIZE;
  const box = { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": told };
  return drawn("svg", box, ...parts);
}

/** The least and largest loss that both charts show: of all runs, and of the best far away. */
export function lossesShown({ runs, law, bounds }) {
  const far = 10 ** bounds.compute[1];
  const best = optimumOf(law, far);
  const all = [...runs.map((run) => run.loss), lossOf(law, best.parameters, best.tokens)];
  return [Math.min(...all) * 0.97, Math.max(...all) * 1.08];
}

/** Loss against compute: runs, a curve for each of their sizes, the lowest of all sizes. */
export function againstCompute(data, { compute, answer }, told) {
  const { runs, law, bounds } = data;
  const shown = lossesShown(data);
  const { across, up } = scalesOf(bounds.compute, shown);
  const inside = (points) => points.filter(([, loss]) => loss >= shown[0] && loss <= shown[1]);
  const curve = (lossAt) =>
    lineThrough(
      inside(spaced(...bounds.compute).map((power) => [power, lossAt(10 ** power)])).map(
        ([power, loss]) => [across(power), up(loss)],
      ),
    );
  const sizes = [...new Set(runs.map((run) => run.parameters))];
  const best = (budget) => {
    const { parameters: size, tokens } = optimumOf(law, budget);
    return lossOf(law, size, tokens);
  };
  return picture(told, [
    ...frame({ across, up }, wholesIn(bounds.compute), lossTicks(...shown), "compute (FLOPs)"),
    ...sizes.map((size) =>
      drawn("path", {
        class: "g2h-size",
        d: curve((budget) => lossOf(law, size, tokensOf(budget, size))),
      }),
    ),
    drawn("path", { class: "g2h-best", d: curve(best) }),
    ...here(across(compute), up, { loss: answer.loss, shown }),
    ...runs.map((run) => sign(run, across(Math.log10(run.compute)), up(run.loss))),
  ]);
}

/** Loss against model size at one budget: the law's curve and its lowest point. */
export function againstSize(data, { compute, parameters, answer }, told) {
  const { law, bounds } = data;
  const shown = lossesShown(data);
  const { across, up } = scalesOf(bounds.parameters, shown);
  const budget = 10 ** compute;
  const points = spaced(...bounds.parameters)
    .map((power) => [power, lossOf(law, 10 ** power, tokensOf(budget, 10 ** power))])
    .filter(([, loss]) => loss >= shown[0] && loss <= shown[1]);
  const { best } = answer;
  return picture(told, [
    ...frame({ across, up }, wholesIn(bounds.parameters), lossTicks(...shown), "parameters"),
    drawn("path", {
      class: "g2h-budget",
      d: lineThrough(points.map(([power, loss]) => [across(power), up(loss)])),
    }),
    ...near(data.runs, budget).map((run) =>
      sign(run, across(Math.log10(run.parameters)), up(run.loss)),
    ),
    signOf("circle", across(Math.log10(best.parameters)), up(best.loss), { class: "g2h-lowest" }),
    ...here(across(parameters), up, { loss: answer.loss, shown }),
  ]);
}

/** Runs whose compute differs from a budget by at most a quarter. */
export const near = (runs, budget) =>
  runs.filter((run) => Math.abs(Math.log(run.compute / budget)) < Math.log(1.25));

function sign(run, x, y) {
  const title = drawn("title", {}, `${run.name}: loss ${run.loss.toFixed(2)}`);
  const path = signOf(SIGNS[run.role], x, y, { class: `g2h-run g2h-${run.role}` });
  path.append(title);
  return path;
}

/** A line at the chosen value, and a ring at the chosen model's loss if the chart reaches it. */
function here(x, up, { loss, shown }) {
  const { height, top, bottom } = SIZE;
  const line = drawn("line", { class: "g2h-here", x1: x, x2: x, y1: top, y2: height - bottom });
  const isShown = loss >= shown[0] && loss <= shown[1];
  return isShown
    ? [line, drawn("circle", { class: "g2h-yours-ring", cx: x, cy: up(loss), r: 7 })]
    : [line];
}
