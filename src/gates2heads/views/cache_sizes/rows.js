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
const isMemoryBound = (step) => step.memorySeconds >= step.arithmeticSeconds;

/** What one decoding step of a batch costs, as a row of the table. */
export function stepRow(batch, step) {
  const cells = [
    sizeInWords(step.bytesPerToken),
    countInWords(step.macsPerToken),
    String(short(step.intensity)),
    timeInWords(step.leastSeconds),
    isMemoryBound(step) ? "memory" : "arithmetic",
    String(short(batch / step.leastSeconds).toLocaleString("en")),
  ];
  return element(
    "tr",
    { "data-batch": batch },
    element("th", { scope: "row" }, inFull(batch)),
    ...cells.map((cell) => element("td", {}, cell)),
  );
}

/** How the numbers of a step follow from one another. */
export function sumInWords({ batch, bandwidth, arithmetic }, step, lookedUp) {
  const left = lookedUp ? " (without the embedding table)" : "";
  const both = `${sizeInWords(step.parameterBytes)} of parameters${left} + ${sizeInWords(step.cacheBytes)} of cache`;
  const each = ` = ${sizeInWords(step.bytesPerToken)} per token`;
  const read = batch === 1 ? `${both}${each}` : `(${both}) / ${inFull(batch)} sequences${each}`;
  return `Bytes read: ${read}. ${countInWords(step.macsPerToken)} MACs per token ⇒ ${short(step.intensity)} MACs per byte. At ${inFull(bandwidth)} GB/s, reading takes at least ${timeInWords(step.memorySeconds)}; at ${inFull(arithmetic)} trillion MACs per second, arithmetic takes at least ${timeInWords(step.arithmeticSeconds)}. The step is ${isMemoryBound(step) ? "memory-bound" : "compute-bound"}.`;
}
