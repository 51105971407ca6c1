// What `predict` says, without a page: text with marks in it, verdicts and scores in words.

/** `code` and *emphasis* as parts of their own: [{text, tag}], tag null for plain text. */
export function marked(text) {
  const parts = [];
  let from = 0;
  for (const found of text.matchAll(/`([^`]+)`|\*([^*\s](?:[^*]*[^*\s])?)\*/g)) {
    if (found.index > from) parts.push({ text: text.slice(from, found.index), tag: null });
    parts.push(found[1] ? { text: found[1], tag: "code" } : { text: found[2], tag: "em" });
    from = found.index + found[0].length;
  }
  if (from < text.length) parts.push({ text: text.slice(from), tag: null });
  return parts;
}

/** A number as it is read: at most six digits, with its unit. */
export function quantity(number, unit) {
  return `${Number(number.toPrecision(6))}${unit && ` ${unit}`}`;
}

/** Whether an answer is right: the option's own word, or close enough to the number. */
export function isRight(question, answer) {
  if (question.options) return question.options[answer].right;
  return Math.abs(answer - question.answer) <= question.within + rounding(question);
}

// A slider's positions are rounded: 0.1 + 0.2 is not 0.3.
const rounding = ({ low, high }) => 1e-9 * (high - low);

/** One sentence on a committed answer. */
export function verdict(question, answer) {
  const right = isRight(question, answer);
  if (question.options) {
    if (right) return "Correct.";
    return `The correct answer is: ${question.options.find((option) => option.right).answer}`;
  }
  const { answer: truth, unit } = question;
  const yours = `Your answer: ${quantity(answer, unit)}`;
  const off = Math.abs(answer - truth);
  if (off <= rounding(question)) return `${yours}, which is correct.`;
  const side = `${quantity(off, unit)} too ${answer > truth ? "high" : "low"}`;
  const near = right ? ", close enough" : "";
  return `${yours}. The correct answer is ${quantity(truth, unit)} (yours is ${side}${near}).`;
}

/** How far the reader is through several questions; nothing is said of a single one. */
export function score(questions, answers) {
  if (questions.length === 1) return "";
  const done = answers.filter((answer) => answer !== null).length;
  if (done < questions.length) return `${done} of ${questions.length} answered.`;
  const missed = questions.flatMap((question, at) =>
    isRight(question, answers[at]) ? [] : [at + 1],
  );
  const right = questions.length - missed.length;
  if (!missed.length) return `All ${right} correct.`;
  const which = missed.length === 1 ? "question" : "questions";
  return `${right} of ${questions.length} correct. Worth another look: ${which} ${missed.join(", ")}.`;
}

/** Where a number lies between the ends of its slider, in percent. */
export function percentAlong({ low, high }, number) {
  return (100 * (number - low)) / (high - low);
}
