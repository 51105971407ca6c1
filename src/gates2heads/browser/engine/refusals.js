// Errors about a text that a model cannot read. They carry as data what their message says in
// words, so that a view can say it in a reader's: `refused` is {unseen: [sign…]} or {most, length}.

const NAMED = 12; // signs that are listed

/** An error whose `refused` is the data. */
export function refusal(message, refused) {
  return Object.assign(new Error(message), { refused });
}

/** Signs that a model never saw, in words. */
export function listed(signs) {
  const more = signs.length > NAMED ? ` and ${signs.length - NAMED} more` : "";
  const named = signs.slice(0, NAMED).map((sign) => `“${sign}”`);
  return `${named.join(", ")}${more}`;
}

/** Refuses what is longer than a model can read. */
export function checkLength(name, length, most) {
  if (length > most) {
    throw refusal(`${name} must be at most ${most} tokens long, got ${length}`, { most, length });
  }
}
