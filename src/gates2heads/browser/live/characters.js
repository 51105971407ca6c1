// What is typed, in the characters that a character model knows.

export const UNKNOWN = "\ufffd"; // represents every character that a model never saw
export const MOST = 400; // characters that the picture has room for

/** A text's characters; a tab is four blanks, what the vocabulary lacks is UNKNOWN. */
export function knownCharacters(text, { index }) {
  const lines = text.replaceAll("\r\n", "\n").replaceAll("\t", "    ");
  return [...lines].map((one) => (index.has(one) ? one : UNKNOWN));
}
