// Typed dates and the training data: a space as it has, and a warning where they are unlike it.

const [EARLIEST, LATEST] = [1900, 2100]; // years of the training data
const DIGITS = /\p{Nd}/gu;
const DIGITS_OF_ANY = /\p{Nd}/u; // without the flag that remembers a place
const WITH_SLASHES = /^\d{4}\/\d\d\/\d\d$/u; // Japanese; Arabic ones have digits or marks of their own
const OF_ARABIC = /[\u200f\u0660-\u0669]/u;
const ARABIC = "٠".codePointAt(0); // Arabic-Indic zero, the only other digits of the training data

/**
 * A date with the space that the data has: Russian sets its abbreviation of “year” off with a
 * narrow no-break space, which a keyboard does not have.
 */
export const asInTraining = (typed) => typed.replaceAll(/[ \u00a0]+(?=г\.)/gu, "\u202f");

/** What makes an input or its output unlike the training data, in a sentence; "" if nothing does. */
export function warningOf(text, output) {
  const plain = text.replace(DIGITS, (digit) => {
    const value = digit.codePointAt(0) - ARABIC;
    return value >= 0 && value <= 9 ? String(value) : digit;
  });
  const numbers = plain.match(/\d+/g) ?? [];
  const years = numbers.filter((one) => one.length > 2);
  const unlike = "The input is unlike the training data";
  if (years.length > 1) return `${unlike}, in which every input is a single date.`;
  if (years.length === 0 || years[0].length !== 4)
    return `${unlike}, in which every year has four digits.`;
  if (years[0] < EARLIEST || years[0] > LATEST)
    return `${unlike}: the year ${years[0]} is not between ${EARLIEST} and ${LATEST}.`;
  if (numbers.length > 3) return `${unlike}, in which every input is a single date.`;
  if (numbers.some((one) => one !== years[0] && (one < 1 || one > 31)))
    return `${unlike}: it contains a number that is neither a day nor a month.`;
  if (text.includes("/") && !WITH_SLASHES.test(text.trim()) && !OF_ARABIC.test(text))
    return `${unlike}, in which slashes occur only in Japanese dates, such as 1974/02/04, and in Arabic ones.`;
  if (!isDate(output)) return "The output is not a date of the calendar.";
  if (output.slice(0, 4) !== years[0]) return "The output has another year than the input.";
  return "";
}

/** Whether a text is a date in ISO 8601 that exists. */
function isDate(text) {
  const found = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (!found) return false;
  const [year, month, day] = found.slice(1).map(Number);
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

/** The same for a list of dates. */
export function warningOfList(text) {
  return DIGITS_OF_ANY.test(text)
    ? ""
    : "The input is unlike the training data: it contains no digits. The models output dates all the same.";
}
