// Numbers from 0 to 1: as they travel from Python, whole numbers of two bytes, and as they are read.

const WHOLE = 65535;

/** Takes one array after the other out of the bytes that `packed_shares` made, by its shape. */
export function sharesFrom(bytes) {
  let at = 0;
  return (shape) => {
    const data = new Float32Array(shape.reduce((product, size) => product * size, 1));
    data.forEach((_, place) => (data[place] = bytes.getUint16(2 * at++, true) / WHOLE));
    return { shape, data };
  };
}

/** A probability, or a share of it, as a reader sees it. */
export function share(prob) {
  if (prob === 0) return "0";
  return prob < 0.001 ? "< 0.001" : prob.toFixed(3);
}

/** A whole number in small raised digits, as an exponent. */
export const raised = (number) =>
  [...String(number)].map((sign) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(sign)]).join("");

/** A count and what is counted: 1 token, 1,200 tokens. */
export const counted = (count, name) =>
  `${count.toLocaleString("en")} ${name}${count === 1 ? "" : "s"}`;
