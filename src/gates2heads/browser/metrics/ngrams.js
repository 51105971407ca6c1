// N-grams: counted, clipped and matched. The twin of metrics/ngrams.py.

/** The n-grams of a list of tokens, from left to right, each as an array of its tokens. */
export function ngrams(tokens, order) {
  return Array.from({ length: Math.max(tokens.length - order + 1, 0) }, (_, start) =>
    tokens.slice(start, start + order),
  );
}

/** What an n-gram is counted under: no token holds white space, so the blank keeps them apart. */
export function keyOf(ngram) {
  return ngram.join(" ");
}

/** How often each n-gram occurs: a Map from its key to c_w. */
export function countNgrams(tokens, order) {
  const counts = new Map();
  for (const ngram of ngrams(tokens, order)) {
    const key = keyOf(ngram);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

/** For each n-gram the most that any one reference holds. */
export function mostInAny(counters) {
  const ceiling = new Map();
  for (const counts of counters) {
    for (const [key, count] of counts) ceiling.set(key, Math.max(count, ceiling.get(key) ?? 0));
  }
  return ceiling;
}

/**
 * What becomes of each n-gram of the tokens, from left to right: "match"; "clipped", where the
 * ceiling has it but earlier ones used it up; "miss", where no reference has it.
 */
export function fates(tokens, order, ceiling) {
  const left = new Map(ceiling);
  return ngrams(tokens, order).map((ngram) => {
    const key = keyOf(ngram);
    const still = left.get(key) ?? 0;
    left.set(key, still - 1);
    if (still > 0) return "match";
    return ceiling.get(key) ? "clipped" : "miss";
  });
}

/** How many n-grams find a partner; each partner is used up by one match. */
export function clippedMatches(tokens, order, ceiling) {
  return fates(tokens, order, ceiling).filter((fate) => fate === "match").length;
}

/** The number of all n-grams in a Map of counts. */
export function totalOf(counts) {
  let total = 0;
  for (const count of counts.values()) total += count;
  return total;
}
