// Texts cut into tokens. The twin of metrics/sentences.py; texts are well-formed Unicode.

// What Python takes for white space: other than JavaScript's \s it has the separators \x1c to \x1f
// and \x85, and lacks the mark \ufeff.
const BLANK =
  "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const BLANKS = new RegExp(`${BLANK}+`, "gu");
const BLANKS_AT_THE_END = new RegExp(`${BLANK}+$`, "u");

/** Cuts at white space, as Python's str.split() does. */
export function splitWords(text) {
  return text.split(BLANKS).filter(Boolean);
}

/** The text without white space, as a list of characters (code points). */
export function characters(text) {
  return Array.from(text.replace(BLANKS, ""));
}

function tokenize13a(text) {
  let line = text.replace(BLANKS_AT_THE_END, "");
  line = line.replaceAll("<skipped>", "").replaceAll("-\n", "").replaceAll("\n", " ");
  line = line.replaceAll("&quot;", '"').replaceAll("&amp;", "&");
  line = line.replaceAll("&lt;", "<").replaceAll("&gt;", ">");
  line = ` ${line} `.replace(/([!-&(-+/:-@[-`{-~])/gu, " $1 ");
  line = line.replace(/([^0-9])([.,])/gu, "$1 $2 ").replace(/([.,])([^0-9])/gu, " $1 $2");
  return splitWords(line.replace(/([0-9])-/gu, "$1 - "));
}

/** The tokenizers by the library's names. */
export const TOKENIZERS = {
  "13a": tokenize13a,
  none: splitWords,
  char: characters,
  rouge: (text) => text.toLowerCase().match(/[a-z0-9]+/gu) ?? [],
};

/** Cuts a text by the named tokenizer. */
export function cut(text, tokenize, { lowercase = false } = {}) {
  return TOKENIZERS[tokenize](lowercase ? text.toLowerCase() : text);
}
