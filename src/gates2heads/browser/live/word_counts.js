// How often words occurred in the training captions, and what that tells of a text. The counts are
// made, and their words cut and spelt, by `gates2heads.data.corpora.caption_words`.

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const LETTER = /\p{L}/u;
const SPELT = { ä: "ae", ö: "oe", ü: "ue", ß: "ss" };
const OTHER = { german: "english", english: "german" };
const NAMES = { german: "German", english: "English" };
const SMOOTHING = 0.5; // added to each count, so that an unseen word has a probability too
const ENOUGH = 2; // nats: the other language makes the words 7 times as probable
const MOST_SEEN = 0.7; // of the words, in a text of the other language
const HALF = 0.5;
const RARE = 10; // a word that occurs less often is rare

/** The words of a text: the longest runs of letters, marks and digits. */
export const wordsIn = (text) => text.normalize("NFC").match(WORD) ?? [];

/** Under what a word is counted: in small letters, with “ae” for “ä” and “ss” for “ß”. */
export const wordKey = (word) =>
  word
    .normalize("NFC")
    .toLowerCase()
    .replace(/[äöüß]/g, (letter) => SPELT[letter]);

/** One language as it travels, {"2": "suppe …"}, as counts by key, with their sum. */
export function tableOf(groups) {
  const counts = new Map();
  let total = 0;
  for (const [times, words] of Object.entries(groups)) {
    for (const word of words.split(" ")) {
      counts.set(word, Number(times));
      total += Number(times);
    }
  }
  return { counts, total };
}

const probability = (key, { counts, total }) => ((counts.get(key) ?? 0) + SMOOTHING) / total;

/**
 * Whether a text looks like the language that a model reads, by the counts of its words.
 *
 * It looks like the other language if that one makes its words clearly more probable and has seen
 * most of them.
 *
 * @param {object} tables {german, english}, each from `tableOf`
 * @param {string} read the language that is read
 * @returns {{words, unseen, rare, other}} the number of its words, those never and those rarely seen
 *   (never among them) in the language that is read, and whether it looks like the other one; numbers
 *   alone are no words
 */
export function likeness(text, tables, read) {
  const keys = keysOf(text);
  const [own, theirs] = [tables[read], tables[OTHER[read]]];
  const evidence = keys.reduce(
    (sum, key) => sum + Math.log(probability(key, theirs) / probability(key, own)),
    0,
  );
  const known = keys.filter((key) => theirs.counts.has(key)).length;
  return {
    ...familiarity(keys, (key) => own.counts.get(key) ?? 0),
    other: evidence > ENOUGH && known >= MOST_SEEN * keys.length,
  };
}

/** The same of a stored text, whose German counts are stored too; no such text is in English. */
export function storedLikeness(text, counts) {
  return { ...familiarity(keysOf(text), (key) => counts[key] ?? 0), other: false };
}

/** The keys of the words of a text, without numbers. */
const keysOf = (text) =>
  wordsIn(text)
    .filter((word) => LETTER.test(word))
    .map(wordKey);

/** How many words there are, and how many of them were never or rarely seen. */
const familiarity = (keys, count) => ({
  words: keys.length,
  unseen: keys.filter((key) => !count(key)).length,
  rare: keys.filter((key) => count(key) < RARE).length,
});

/** What a reader should know of a question; empty for any other text. */
export const questionInWords = (text) =>
  /\?["“”]?$/.test(text)
    ? "The training captions contain almost no questions: expect nonsense."
    : "";

/** What a reader should know of such a text, in a sentence or two; empty for an ordinary text. */
export function likenessInWords({ words, unseen, rare, other }, read) {
  const name = NAMES[read];
  if (!words) return "This text contains no words, so the translation is a guess.";
  if (other) return `This looks like ${NAMES[OTHER[read]]}, but the model translates from ${name}.`;
  const guess = "so the translation is a guess.";
  const where = `in the ${name} training captions, ${guess}`;
  if (rare < HALF * words) return ""; // the unseen words are among them
  if (unseen < HALF * words) {
    const told = `fewer than ${RARE} times ${where}`;
    if (words === 1) return `This word occurs ${told}`;
    return `${rare} of these ${words} words ${rare === 1 ? "occurs" : "occur"} ${told}`;
  }
  if (words === 1) return `This word does not occur ${where}`;
  if (unseen === words) return `None of these ${words} words occurs ${where}`;
  return `${unseen} of these ${words} words ${unseen === 1 ? "does" : "do"} not occur ${where}`;
}
