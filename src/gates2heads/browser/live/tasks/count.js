// The words of a text beside those of the training captions.

import { likeness, tableOf, wordKey, wordsIn } from "../word_counts.js";

const tables = new WeakMap(); // of each model, by language

/**
 * Counts the words of a text in the training data of a translator.
 *
 * payload: {text, read}; read is "german" or "english".
 * Yields once; returns {source: [piece…], seen: {captions, counts}, likeness}, the counts by key;
 * or null if the model's file holds none.
 */
export function* countWords(loaded, { text, read }) {
  const { words } = loaded;
  if (!words) return null;
  if (!tables.has(loaded)) {
    tables.set(loaded, { german: tableOf(words.german), english: tableOf(words.english) });
  }
  yield {};
  const known = tables.get(loaded);
  const keys = wordsIn(text).map(wordKey);
  return {
    source: loaded.source.encode(text).map((id) => loaded.source.vocabulary.tokens[id]),
    seen: {
      captions: words.captions,
      counts: Object.fromEntries(keys.map((key) => [key, known[read].counts.get(key) ?? 0])),
    },
    likeness: likeness(text, known, read),
  };
}
