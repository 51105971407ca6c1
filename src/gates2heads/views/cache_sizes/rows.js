// The rows of the view: the sizes of one model as bars, and one decoding step in numbers.

import { countInWords, inFull, sizeInWords, timeInWords } from "./sizes.js";
import { element } from "../kit/view.js";

const short = (number) => Number(number.toPrecision(3));

/** The bars of one model: bytes of its cache and of its parameters; `width` of a size in CSS. */
export function sizeRow({ name, source, at, cache, parameters, own }, width) {
  const detail = [at, source].filter(Boolean).join("; ");
  const sizes =
    parameters === null
      ? `cache ${sizeInWords(cache)}, parameters not known`
      : `cache ${sizeInWords(cache)}, parameters ${sizeInWords(parameters)}`;
  const bar = (kind, size) =>
    element("i", { class: `g2h-bar g2h-${kind}`, style: `width: ${width(size)}` });
  const bars = [bar("cache", cache)];
  if (parameters !== null) bars.push(bar("parameters", parameters));
  return element(
    "div",
    { class: "g2h-row", role: "listitem", "data-own": own && "" },
    element(
      "p",
      {},
      element("b", {}, name),
      detail && element("span", { class: "g2h-detail" }, ` (${detail})`),
      element("span", { class: "g2h-sizes" }, sizes),
    ),
    element("div", { class: "g2h-track", "aria-hidden": "true" }, ...bars),
  );
}

/** Whether reading takes at least as long as arithmetic. */
const isMemoryBound = ({ memory, arithmetic }) => memory >= arithmetic;

const limited = (time) =>
  `${timeInWords(time.seconds)} (${isMemoryBound(time) ? "memory" : "arithmetic"})`;

/** What one decoding step of a batch costs, as a row of the table. */
export function stepRow(batch, step) {
  const cells = [
    sizeInWords(step.bytesPerToken),
    countInWords(step.macsPerToken),
    limited(step.products),
    limited(step.attention),
    timeInWords(step.leastSeconds),
    String(short(batch / step.leastSeconds).toLocaleString("en")),
  ];
  return element(
    "tr",
    { "data-batch": batch },
    element("th", { scope: "row" }, inFull(batch)),
    ...cells.map((cell) => element("td", {}, cell)),
  );
}

/** How the numbers of a step follow from one another: a sentence for each of its two operations. */
export function sumInWords({ batch }, step, lookedUp) {
  const part = (name, bytes, macs, time) => {
    const bound = isMemoryBound(time) ? "memory-bound" : "compute-bound";
    const each = short((macs * batch) / bytes);
    return `${name}, ${countInWords(macs)} MACs per token, ${each} MACs per byte: ${bound}.`;
  };
  const { parameterBytes, cacheBytes, macsPerToken, attentionMacs } = step;
  const left = lookedUp ? " (without the embedding table)" : "";
  const read = `${sizeInWords(parameterBytes)} of parameters${left}`;
  const cached = `${sizeInWords(cacheBytes)} of cache`;
  return [
    part(`Products: ${read}`, parameterBytes, macsPerToken - attentionMacs, step.products),
    part(`Attention: ${cached}`, cacheBytes, attentionMacs, step.attention),
  ];
}
