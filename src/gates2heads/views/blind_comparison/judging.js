// What ten judgements say: a sign test, and agreement beyond chance. The same as the library's
// metrics/judgements.py.

/** The two-sided p-value of a comparison in pairs, ties left out; 1 where nothing was preferred. */
export function signTest(wins, losses) {
  const tosses = wins + losses;
  let tail = 0;
  let ways = 1; // of `tosses` over k
  for (let k = 0; k <= tosses; k += 1) {
    if (k >= Math.max(wins, losses)) tail += ways;
    ways = (ways * (tosses - k)) / (k + 1);
  }
  return Math.min(1, (2 * tail) / 2 ** tosses);
}

/** How often two judges agree, by how much more than by chance: { same, items, kappa }. */
export function agreement(first, second) {
  const items = first.length;
  const same = first.filter((label, at) => label === second[at]).length;
  const times = (labels, label) => labels.filter((one) => one === label).length;
  const chance = [...new Set(first)].reduce(
    (sum, label) => sum + times(first, label) * times(second, label),
    0,
  );
  const kappa = chance === items ** 2 ? 1 : (same * items - chance) / (items ** 2 - chance);
  return { same, items, kappa };
}

/** Which system a choice prefers: "first", "second" or "tie". */
export function preferred(choice, { swapped }) {
  if (choice === "tie") return "tie";
  return (choice === "A") === swapped ? "second" : "first";
}

/** What all choices come to; κ is of the pairs in which reader and metric both prefer a system. */
export function outcome(pairs, choices) {
  const reader = pairs.map((pair, at) => preferred(choices[at], pair));
  const count = (label) => reader.filter((one) => one === label).length;
  const [first, second, ties] = [count("first"), count("second"), count("tie")];
  const judged = reader
    .map((label, at) => [label, pairs[at].metric])
    .filter((labels) => !labels.includes("tie"));
  return {
    reader,
    first,
    second,
    ties,
    p: signTest(first, second),
    ...agreement(
      judged.map(([label]) => label),
      judged.map(([, label]) => label),
    ),
  };
}

/** How many of `tosses` preferences one system needs for p < 0.05; null where none suffices. */
export function needed(tosses) {
  for (let wins = Math.ceil(tosses / 2); wins <= tosses; wins += 1)
    if (signTest(wins, tosses - wins) < 0.05) return wins;
  return null;
}

const rounded = (number) => number.toFixed(2).replace("-", "−");
const times = (number) => (number === 1 ? "once" : `${number} times`);

/** The result in sentences. */
export function inWords(found, [first, second], metric) {
  const decided = found.first + found.second;
  const enough = needed(decided);
  const p = found.p < 0.001 ? "p < 0.001" : `p = ${found.p.toFixed(found.p < 0.01 ? 3 : 2)}`;
  const verdict = found.p < 0.05 ? "significant at the 5 % level" : "not significant";
  return [
    `You preferred ${first} ${times(found.first)} and ${second} ${times(found.second)}; you found the two equally good ${times(found.ties)}.`,
    decided === 0
      ? "Without a preference there is nothing to test."
      : `Sign test over the ${decided} preferences, without ties: ${p}, ${verdict}. ${
          enough === null
            ? `With ${decided} preferences no result can be significant.`
            : `With ${decided} preferences, one system must win at least ${enough}.`
        }`,
    found.items === 0
      ? `In no pair did you and ${metric} both prefer a system, so there is no κ.`
      : `Both you and ${metric} preferred a system in ${found.items} of ${found.reader.length} pairs, the same one ${times(found.same)}: κ = ${rounded(found.kappa)}.`,
  ];
}
