// What BLEU makes of an order without a match. The twin of metrics/smoothing.py.

/** The methods, and the default value of each. */
export const SMOOTHING = { none: null, floor: 0.1, "add-k": 1, exp: null };

/** Precisions in percent, one for each order that has any n-gram; none at all without a match. */
export function modifiedPrecisions(matches, totals, method = "none", value = SMOOTHING[method]) {
  const precisions = [];
  if (!matches.some(Boolean)) return precisions;
  let misses = 0;
  for (const [place, match] of matches.entries()) {
    let extra = method === "add-k" && place > 0 ? value : 0;
    if (totals[place] + extra === 0) break;
    if (match + extra === 0) {
      misses += 1;
      if (method === "floor") extra = value;
      if (method === "exp") extra = 0.5 ** misses;
      precisions.push((100 * extra) / totals[place]);
    } else {
      precisions.push((100 * (match + extra)) / (totals[place] + extra));
    }
  }
  return precisions;
}
