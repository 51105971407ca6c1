// The time of each token against its position in the context, with a KV cache and without.

import { drawn, isSame } from "../kit/view.js";

const SIZE = { width: 600, height: 212, left: 90, right: 12, top: 24, bottom: 38 };

/** The median of the milliseconds: single long steps, as when the context slides, do not count. */
export function medianOf(times) {
  const sorted = times.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return (sorted[Math.ceil(middle) - 1] + sorted[Math.floor(middle)]) / 2;
}

const meanOf = (times) =>
  times.reduce((sum, { milliseconds }) => sum + milliseconds, 0) / times.length;

/** Milliseconds, as precise as a page's clock. */
export const inMilliseconds = (time) => `${time < 10 ? time.toFixed(1) : Math.round(time)} ms`;

/** A round number that is not below this one. */
export function roundUp(number) {
  const power = 10 ** Math.floor(Math.log10(number));
  return [1, 2, 5, 10].map((digit) => digit * power).find((one) => one >= number * (1 - 1e-9));
}

/** A line through the points; it is broken where the position falls, because the context slid. */
export function lineOf(times, place) {
  return times
    .map((one, at) => {
      const [x, y] = place(one);
      const isOn = at > 0 && one.position > times[at - 1].position;
      return `${isOn ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
    })
    .join("");
}

/** Whether two runs went through the same positions, so that their times can be compared. */
const arePaired = (one, other) => one.length > 0 && isSame(placesOf(one), placesOf(other));

const placesOf = (times) => times.map(({ position }) => position);

/** So many tokens at each end of a run; the time of a single one depends on what else runs. */
const AT_END = 5;

/** The times of the first and the last tokens, in words. */
function endsInWords(times) {
  if (times.length < 2 * AT_END) {
    const [first, last] = [times[0], times.at(-1)];
    return `${inMilliseconds(first.milliseconds)} at position ${first.position} and ${inMilliseconds(last.milliseconds)} at position ${last.position}`;
  }
  const [first, last] = [times.slice(0, AT_END), times.slice(-AT_END)];
  return `${inMilliseconds(medianOf(first))} for the first ${AT_END} (from position ${first[0].position}) and ${inMilliseconds(medianOf(last))} for the last ${AT_END} (up to position ${last.at(-1).position})`;
}

/** How long the tokens took, in a sentence for each way. */
export function timesInWords({ cached, plain }) {
  const told = (times, name) =>
    times.length
      ? `${name}: ${inMilliseconds(medianOf(times))} per token (median), ${endsInWords(times)}.`
      : "";
  const both = [told(cached, "With the cache"), told(plain, "Without")].filter(Boolean);
  if (arePaired(cached, plain)) {
    // Where the clock is too coarse for one token, the mean is still measured.
    const ratio = medianOf(plain) / (medianOf(cached) || meanOf(cached));
    if (Number.isFinite(ratio)) {
      both.push(`Without the cache a token took ${Number(ratio.toPrecision(2))} times as long.`);
    }
  }
  return both.join(" ");
}

/** The chart: {cached: [{position, milliseconds}…], plain: […]}. */
export function chart({ cached, plain }, maxLength) {
  const { width, height, left, right, top, bottom } = SIZE;
  const longest = Math.max(0, ...[...cached, ...plain].map((one) => one.milliseconds));
  const most = roundUp(longest || 1);
  const x = (position) => left + ((width - left - right) * position) / maxLength;
  const y = (time) => height - bottom - ((height - top - bottom) * time) / most;
  const place = ({ position, milliseconds }) => [x(position), y(milliseconds)];
  const label = (text, attributes) => drawn("text", attributes, text);
  const marks = [0, 0.5, 1].flatMap((part) => [
    drawn("line", {
      class: "g2h-grid",
      x1: left,
      x2: width - right,
      y1: y(part * most),
      y2: y(part * most),
    }),
    label(part === 1 ? `${most} ms` : String(part * most), {
      x: left - 6,
      y: y(part * most) + 4,
      "text-anchor": "end",
    }),
  ]);
  const places = [0, 0.25, 0.5, 0.75, 1].map((part) =>
    label(String(Math.round(part * maxLength)), {
      x: x(part * maxLength),
      y: height - bottom + 16,
      "text-anchor": part === 1 ? "end" : "middle",
    }),
  );
  const told = timesInWords({ cached, plain }) || "No token has been timed yet.";
  return drawn(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": told },
    ...marks,
    ...places,
    label("position in the context (tokens)", {
      x: (left + width - right) / 2,
      y: height - 4,
      "text-anchor": "middle",
    }),
    drawn("path", { class: "g2h-plain-line", d: lineOf(plain, place) }),
    drawn("path", { class: "g2h-cached-line", d: lineOf(cached, place) }),
  );
}
