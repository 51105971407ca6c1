// The answers that Python stored with the page, in the shape in which live answers come.

import { sharesFrom } from "../kit/shares.js";
import { unmoved, wordsIn } from "../kit/heads.js";

const keyOf = JSON.stringify;
const asTyped = (text) => unmoved(wordsIn(text).words.length);

/** A translation, with the weights that `read` takes from the stored bytes. */
function unpacked({ shapes, ...told }, read) {
  return { ...told, blocks: shapes.map(read) };
}

/** The first example, translated by the complete model. */
export function recordedIn(model) {
  const [text] = model.get("examples");
  return { ...unpacked(model.get("recorded"), sharesFrom(model.get("weights"))), text };
}

/**
 * Gives a function from a question [text, off, positions, order] to its answer {base, now,
 * unshuffled}, undefined if none is stored. The complete model's answers are stored with the others.
 */
export function changesIn(model, recorded) {
  const answers = new Map();
  const keep = (text, off, positions, order, answer) =>
    answers.set(keyOf([text, off, positions, order]), answer);
  const keepComplete = (base) =>
    keep(base.text, [], true, asTyped(base.text), { base, now: base, unshuffled: null });
  const read = sharesFrom(model.get("stored_weights"));
  keepComplete(recorded);
  for (const { text, off, order, positions, judged, ...told } of model.get("stored")) {
    const base = told.base ? unpacked(told.base, read) : recorded;
    const now = { ...unpacked(told.now, read), judged };
    const unshuffled = told.unshuffled && unpacked(told.unshuffled, read);
    keepComplete(base);
    keep(text, off, positions, order.length ? order : asTyped(text), { base, now, unshuffled });
  }
  return (question) => answers.get(keyOf(question));
}
