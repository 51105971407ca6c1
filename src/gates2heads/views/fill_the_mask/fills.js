// What a sentence with gaps holds, in words and places; nothing here touches a page.

import { writeBilingual } from "../../browser/engine/tokens/bilingual.js";

/** Places with one more, or without it. */
export function toggled(places, place) {
  return places.includes(place)
    ? places.filter((one) => one !== place)
    : sorted([...places, place]);
}

/** Places with all of a name, or, where all of it is hidden, without it. */
export function toggledName(places, [start, end]) {
  const name = Array.from({ length: end - start }, (_, at) => start + at);
  const others = places.filter((place) => place < start || place >= end);
  return name.every((place) => places.includes(place)) ? others : sorted([...others, ...name]);
}

/** Places that hold the same token in another sentence. */
export function unchanged(places, before, now) {
  return places.filter((place) => before[place] === now[place]);
}

/** The places that a sentence of some length has. */
export function within(places, length) {
  return sorted(places.filter((place) => place < length));
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

/** What a model wrote into each run of gaps beside what stood there: [{written, was, isSame}…]. */
export function fillings({ tokens, gaps }) {
  return runsOf(gaps).map((run) => {
    const written = run.map(({ best }) => best[0].token);
    const was = run.map(({ place }) => tokens[place]);
    return {
      written: writeBilingual(written),
      was: writeBilingual(was),
      isSame: written.every((token, at) => token === was[at]),
    };
  });
}

/** A share as a reader sees it. */
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
          return `${names[at]} goes on: “${line}”${result.finished ? "" : " …"}`;
        }
        const parts = fillings(result).map(({ written, was, isSame }) =>
          isSame ? `“${written}”, as it stood` : `“${written}” for “${was}”`,
        );
        return parts.length
          ? `${names[at]} fills in ${parts.join(" and ")}`
          : `${names[at]} has no gap to fill`;
      })
      .join("; ") + "."
  );
}
