// The picture of the leaderboard: quality against a cost, or against the length of the sentences.

import { COSTS, LENGTH, QUALITIES, SEARCHES, standing } from "./board.js";
import { axis, EDGE, labelled, LINE } from "./board_layout.js";
import { drawn } from "../kit/view.js";

const COLOURS = ["blue", "green", "orange", "pink", "amber", "sky"];

function frame(picture, { x, y, width, height, across, upwards }) {
  const [left, bottom] = [EDGE.left, height - EDGE.bottom];
  for (const [value, text] of y) {
    picture.append(
      drawn("line", { class: "g2h-grid", x1: left, x2: width - EDGE.right, y1: value, y2: value }),
      drawn("text", { class: "g2h-tick", x: left - 6, y: value + 4, "text-anchor": "end" }, text),
    );
  }
  for (const [value, text] of x)
    picture.append(
      drawn("text", { class: "g2h-tick", x: value, y: bottom + 16, "text-anchor": "middle" }, text),
    );
  picture.append(
    drawn("line", { class: "g2h-axis", x1: left, x2: width - EDGE.right, y1: bottom, y2: bottom }),
    drawn(
      "text",
      {
        class: "g2h-name",
        x: (left + width - EDGE.right) / 2,
        y: height - 6,
        "text-anchor": "middle",
      },
      across,
    ),
    drawn(
      "text",
      {
        class: "g2h-name",
        x: 12,
        y: (EDGE.top + bottom) / 2,
        "text-anchor": "middle",
        transform: `rotate(-90 12 ${(EDGE.top + bottom) / 2})`,
      },
      upwards,
    ),
  );
}

function mark(kind, x, y) {
  if (kind === "convolution") return drawn("path", { d: `M${x} ${y - 7}l7 7l-7 7l-7 -7z` });
  if (kind === "Transformer") return drawn("rect", { x: x - 5, y: y - 5, width: 10, height: 10 });
  return drawn("circle", { cx: x, cy: y, r: 5.5 });
}

const colourOf = (entry, families) =>
  `var(--g2h-${COLOURS[families.indexOf(entry.family) % COLOURS.length]})`;

function group(entry, place, { picked, families }, ...children) {
  const kinds = [
    entry.attention ? "" : "g2h-hollow",
    entry.ranked ? "" : "g2h-apart",
    picked === place ? "g2h-picked" : "",
  ];
  return drawn(
    "g",
    {
      class: `g2h-rung ${kinds.filter(Boolean).join(" ")}`,
      "data-place": place,
      style: `--g2h-own:${colourOf(entry, families)}`,
    },
    ...children,
  );
}

/** Quality against a cost: a mark for the mean, a bar for the interval, a tick for each run. */
function scatter(picture, entries, places, state) {
  const { width, height, search } = state;
  const [quality, cost] = [QUALITIES[state.quality], COSTS[state.against]];
  const there = places
    .map((place) => ({
      place,
      entry: entries[place],
      q: standing(entries[place], quality, search),
      c: standing(entries[place], cost, search),
    }))
    .filter(({ q, c }) => q && c);
  if (!there.length) return "Nothing to draw: no model with these scores matches the filters.";
  const log = !quality.up;
  const ends = [height - EDGE.bottom, EDGE.top];
  // Up is better: the axis of a perplexity is turned.
  const y = axis(
    there.flatMap(({ q }) => [
      ...q.values,
      ...(q.low === null ? [] : [Math.max(q.low, log ? 1 : q.low), q.high]),
    ]),
    quality.up ? ends : ends.reverse(),
    { log },
  );
  const x = axis(
    there.map(({ c }) => c.mean),
    [EDGE.left, width - EDGE.right],
    { zero: true },
  );
  const name =
    quality.keys.length > 1
      ? `${quality.label}, ${SEARCHES[search]}`
      : `${quality.label} (reversed)`;
  frame(picture, {
    width,
    height,
    across: `${cost.label} (${cost.unit})`,
    upwards: name,
    x: x.ticks.map((value) => [x.at(value), String(Number(value.toFixed(2)))]),
    y: y.ticks.map((value) => [y.at(value), String(Number(value.toFixed(2)))]),
  });
  const points = there.map(({ q, c }) => ({ x: x.at(c.mean), y: y.at(q.mean) }));
  const names = there.map(
    ({ entry }) => entry.name + (entry.ranked && entry.seeds.length === 1 ? " (one run)" : ""),
  );
  const labels = labelled(points, names, state);
  there.forEach(({ place, entry, q }, number) => {
    const point = points[number];
    const parts = q.values.map((value) =>
      drawn("line", {
        class: "g2h-run-tick",
        x1: point.x - 9,
        x2: point.x + 9,
        y1: y.at(value),
        y2: y.at(value),
      }),
    );
    if (q.low !== null)
      parts.push(
        drawn("line", {
          class: "g2h-range",
          x1: point.x,
          x2: point.x,
          y1: y.at(Math.max(q.low, log ? 1 : q.low)),
          y2: y.at(q.high),
        }),
      );
    const label = labels[number];
    if (label.leader) {
      const near = label.y > point.y ? label.y - 6 : label.y + 6;
      parts.push(
        drawn("line", { class: "g2h-leader", x1: point.x, y1: point.y, x2: label.x, y2: near }),
      );
    }
    picture.append(
      group(
        entry,
        place,
        state,
        ...parts,
        mark(entry.family, point.x, point.y),
        drawn("text", { x: label.x, y: label.y + 4, "text-anchor": label.anchor }, names[number]),
      ),
    );
  });
  return `${name} against ${cost.label}: ${there.map(({ entry, q, c }) => `${entry.name} ${q.mean.toFixed(quality.places)} at ${c.mean.toFixed(cost.places)}`).join("; ")}.`;
}

/** BLEU by sentence length; the selected model has an interval. */
function lines(picture, entries, places, state) {
  const { width, height, bins } = state;
  const there = places.filter((place) => entries[place].lengths.length);
  if (!there.length)
    return "Nothing to draw: no outputs are stored for the models that match the filters.";
  const room = width < 480 ? 20 : 150; // for the names
  const y = axis(
    there.flatMap((place) =>
      entries[place].lengths.flatMap((one) =>
        place === state.picked ? [one.low, one.high] : [one.bleu],
      ),
    ),
    [height - EDGE.bottom, EDGE.top],
  );
  const at = (bin) => EDGE.left + 20 + (bin / (bins.length - 1)) * (width - EDGE.left - room - 20);
  frame(picture, {
    width,
    height,
    across: "words of the German sentence",
    upwards: "BLEU, beam of five",
    x: bins.map((bin, number) => [at(number), bin.label]),
    y: y.ticks.map((value) => [y.at(value), String(value)]),
  });
  const ends = there
    .map((place) => ({ place, y: y.at(entries[place].lengths.at(-1).bleu) }))
    .sort((a, b) => a.y - b.y);
  ends.forEach((end, number) => {
    if (number) end.y = Math.max(end.y, ends[number - 1].y + LINE);
  });
  const down = Math.max(0, (ends.at(-1)?.y ?? 0) - (height - EDGE.bottom));
  there.forEach((place) => {
    const entry = entries[place];
    const parts = [
      drawn("polyline", {
        points: entry.lengths.map((one, bin) => `${at(bin)},${y.at(one.bleu)}`).join(" "),
      }),
    ];
    entry.lengths.forEach((one, bin) => {
      parts.push(mark(entry.family, at(bin), y.at(one.bleu)));
      if (place === state.picked)
        parts.push(
          drawn("line", {
            class: "g2h-range",
            x1: at(bin),
            x2: at(bin),
            y1: y.at(one.low),
            y2: y.at(one.high),
          }),
        );
    });
    if (width >= 480 || place === state.picked) {
      const end = ends.find((one) => one.place === place);
      parts.push(
        width >= 480
          ? drawn("text", { x: at(bins.length - 1) + 12, y: end.y - down + 4 }, entry.name)
          : drawn(
              "text",
              { x: width - EDGE.right, y: EDGE.top + 12, "text-anchor": "end" },
              entry.name,
            ),
      );
    }
    picture.append(group(entry, place, state, ...parts));
  });
  return `BLEU by length: ${there.map((one) => `${entries[one].name} ${entries[one].lengths.map(({ bleu }) => bleu.toFixed(1)).join(", ")}`).join("; ")}.`;
}

/** The picture of a state, with its description. */
export function boardPicture(entries, places, state) {
  const picture = drawn("svg", { viewBox: `0 0 ${state.width} ${state.height}`, role: "img" });
  const told = (state.against === LENGTH ? lines : scatter)(picture, entries, places, state);
  picture.setAttribute("aria-label", told);
  if (!picture.childNodes.length)
    picture.append(
      drawn("text", { x: state.width / 2, y: state.height / 2, "text-anchor": "middle" }, told),
    );
  return picture;
}
