// Switch heads of attention off while a model runs, to see what each is worth.

import { Matrix } from "../tensor.js";

/** Every head of a model's attention in heads, in the order of its layers: [{layer, head}, …]. */
export function headsOf(model) {
  return attentionsOf(model).flatMap(({ name, num_heads }) =>
    Array.from({ length: num_heads }, (_, head) => ({ layer: name, head })),
  );
}

/**
 * Which heads are switched off, as the option `off` of `start` and `step` wants it.
 *
 * A head is switched off when what it has read is multiplied by 0 before the output projection:
 * Michel et al. 2019, section 2.3. The weights with which it read are computed, and noted, as ever.
 *
 * @param {{layer: string, head: number}[]} heads as `headsOf` lists them
 * @returns {Map<string, Set<number>>}
 */
export function headsOff(model, heads) {
  const layers = new Map(attentionsOf(model).map(({ name, num_heads }) => [name, num_heads]));
  const off = new Map();
  for (const { layer, head } of heads) {
    if (!layers.has(layer)) {
      const known = [...layers.keys()].join(", ") || "no layer of attention in heads";
      throw new Error(`heads must be of layers that model has, ${known}; got ${layer}`);
    }
    if (!Number.isInteger(head) || head < 0 || head >= layers.get(layer)) {
      const last = layers.get(layer) - 1;
      throw new Error(`heads of ${layer} must have numbers from 0 to ${last}, got ${head}`);
    }
    if (!off.has(layer)) off.set(layer, new Set());
    off.get(layer).add(head);
  }
  return off;
}

/** Called by a layer: what its heads have read (T, H · K), zeros where a head is switched off. */
export function leaveOut(record, layer, context, width) {
  const heads = record?.off?.get(layer);
  if (!heads) return context;
  const data = context.data.map((number, at) =>
    heads.has(Math.floor((at % context.columns) / width)) ? 0 : number,
  );
  return new Matrix(context.rows, context.columns, data);
}

// Attention in heads is known by its `num_heads`; the order is that in which layers were built.
function attentionsOf(part) {
  if (!part || typeof part !== "object" || part instanceof Matrix || ArrayBuffer.isView(part))
    return [];
  if (Number.isInteger(part.num_heads)) return [part];
  return Object.values(part).flatMap(attentionsOf);
}
