// Masked positions and filled-in tokens of a sentence; nothing here touches a page.

import { MASK, writeBilingual } from "../../browser/engine/tokens/bilingual.js";

/** Positions with one more, or without it. */
export function toggled(places, place) {
  return places.includes(place)
    ? places.filter((one) => one !== place)
    : sorted([...places, place]);
}

/** Positions with all of a name, or, where all of it is masked, without it. */
export function toggledName(places, [start, end]) {
  const name = Array.from({ length: end - start }, (_, at) => start + at);
  const others = places.filter((place) => place < start || place >= end);
  return name.every((place) => places.includes(place)) ? others : sorted([...others, ...name]);
}

/** What is masked in a sentence that is typed anew: its last name, unless it holds a [MASK]. */
export function opening(tokens, names) {
  const [start, end] = tokens.includes(MASK) ? [0, 0] : (names.at(-1) ?? [0, 0]);
  return Array.from({ length: end - start }, (_, at) => start + at);
}

/** The masked positions: those that were clicked and those at which [MASK] was typed. */
export function maskedOf(places, tokens) {
  return [...tokens.keys()].filter((at) => places.includes(at) || tokens[at] === MASK);
}

/** Positions that hold the same token in another sentence. */
export function unchanged(places, before, now) {
  return places.filter((place) => before[place] === now[place]);
}

const sorted = (places) => [...new Set(places)].sort((a, b) => a - b);

/** Runs of neighbouring gaps: [[gap…]…], each with one gap or more. */
export function runsOf(gaps) {
  const runs = [];
  for (const gap of gaps) {
    const last = runs.at(-1);
    if (last && last.at(-1).place === gap.place - 1) last.push(gap);
    else runs.push([gap]);
  }
  return runs;
}

/**
 * What a model filled into each run of masked tokens beside what was typed: [{written, was,
 * isSame}…]; `was` is null where [MASK] was typed.
 */
export function fillings({ tokens, gaps }) {
  return runsOf(gaps).map((run) => {
    const written = run.map(({ best }) => best[0].token);
    const was = run.map(({ place }) => tokens[place]);
    return {
      written: writeBilingual(written),
      was: was.includes(MASK) ? null : writeBilingual(was),
      isSame: written.every((token, at) => token === was[at]),
    };
  });
}

/** A probability as a reader sees it. */
export function percent(share) {
  if (share > 0 && share < 0.0005) return "< 0.1 %";
  return `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;
}

/** What the models say, in a sentence each. */
export function toldInWords(names, results) {
  return (
    results
      .map((result, at) => {
        if (result.written) {
          const line = writeBilingual(result.written.map(({ token }) => token));
          const text = result.finished ? line.replace(/\.$/, "") : line; // our sentence ends, too
          return `${names[at]} continues: “${text}”${result.finished ? "" : " …"}`;
        }
        const parts = fillings(result).map(({ written, was, isSame }) =>
          isSame ? `“${written}”, as typed` : `“${written}”${was ? ` instead of “${was}”` : ""}`,
        );
        return parts.length
          ? `${names[at]} fills in ${parts.join(" and ")}`
          : `${names[at]} has no mask to fill in`;
      })
      .join("; ") + "."
  );
}
