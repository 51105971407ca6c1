// From the file that `python -m gates2heads export` wrote to matrices by name.

import { Kernel } from "./kernel.js";
import { Matrix } from "./tensor.js";
import { Sha256 } from "./sha256.js";

/** The bytes of base64 text. */
export function decodeBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text); // newer browsers, faster
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i += 1) bytes[i] = characters.charCodeAt(i);
  return bytes;
}

/** An entry's data as bytes: base64 from a script, or binary from a widget's channel. */
export function entryBytes({ data }) {
  if (typeof data === "string") return decodeBase64(data);
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  if (ArrayBuffer.isView(data))
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  throw new Error(`data must be base64 text or bytes, got ${typeof data}`);
}

/**
 * Read and check an entry.
 *
 * @param {{header: string, sha256: string, data: *}} entry what the file registers
 * @param {boolean} verify whether to compare the hash; the loader of a page does
 * @param {boolean} fast whether to use WebAssembly where it runs
 * @returns {{header: object, weights: Weights}}
 */
export function readEntry(entry, { verify = true, fast = true } = {}) {
  if (!entry || typeof entry.header !== "string") {
    throw new Error("entry must hold a header, a sha256 and data, as an exported model does");
  }
  let bytes;
  try {
    bytes = entryBytes(entry);
  } catch (error) {
    throw new Error(`The model's file is not whole: ${error.message}.`, { cause: error });
  }
  if (verify) {
    const hash = new Sha256().add(new TextEncoder().encode(entry.header)).add(bytes).hex();
    if (hash !== entry.sha256) {
      throw new Error(
        "The model's file was altered or is not whole: its hash differs from the one inside it.",
      );
    }
  }
  const header = JSON.parse(entry.header);
  if (header.format !== 2)
    throw new Error(`The model's file has format ${header.format}, this engine reads format 2.`);
  return { header, weights: new Weights(readTensors(header.tensors, bytes, fast)) };
}

function readTensors(list, bytes, fast) {
  const longest = Math.max(...list.map(({ shape }) => size(shape.slice(1))));
  const most = Math.max(...list.map(({ shape }) => shape[0] ?? 1));
  const kernel = fast ? Kernel.holding(bytes, longest, most) : null;
  // A view of four-byte numbers must begin at a multiple of four.
  const whole = bytes.byteOffset % 4 ? bytes.slice() : bytes;
  const { buffer, byteOffset } = kernel ? { buffer: kernel.buffer, byteOffset: 0 } : whole;
  const tensors = new Map();
  for (const { name, shape, dtype, offset, scale } of list) {
    const [rows, columns] =
      shape.length > 1 ? [shape[0], size(shape.slice(1))] : [1, shape[0] ?? 1];
    const Kind = { float32: Float32Array, int8: Int8Array }[dtype];
    if (!Kind) throw new Error(`${name} must be float32 or int8, got ${dtype}`);
    const data = new Kind(buffer, byteOffset + offset, size(shape));
    const scales = scale === undefined ? null : new Float32Array(buffer, byteOffset + scale, rows);
    tensors.set(name, { shape, matrix: new Matrix(rows, columns, data, scales, kernel) });
  }
  return tensors;
}

function size(shape) {
  return shape.reduce((total, length) => total * length, 1);
}

/** A model's tensors, or those of one of its parts: `weights.part("encoder").matrix("…")`. */
export class Weights {
  /**
   * @param {Map<string, {shape: number[], matrix: Matrix}>} tensors all of a model, by name
   * @param {string} name of the part whose tensors are meant, as in the library; "" is the model
   */
  constructor(tensors, name = "") {
    this.tensors = tensors;
    this.name = name;
  }

  part(name) {
    return new Weights(this.tensors, this.whole(name));
  }

  has(name) {
    return this.tensors.has(this.whole(name));
  }

  matrix(name) {
    const found = this.tensors.get(this.whole(name));
    if (!found) throw new Error(`The model's file lacks ${this.whole(name)}.`);
    return found.matrix;
  }

  /** A tensor with one axis. */
  vector(name) {
    return this.matrix(name).data;
  }

  /** A linear layer: {weight, bias}, the bias null if the layer has none. */
  linear(name) {
    const bias = this.has(`${name}.bias`) ? this.vector(`${name}.bias`) : null;
    return { weight: this.matrix(`${name}.weight`), bias };
  }

  /** The parts that are numbered: name.0, name.1, … */
  parts(name) {
    const found = [];
    for (const start of this.tensors.keys()) {
      const rest = start.startsWith(`${this.whole(name)}.`)
        ? start.slice(this.whole(name).length + 1)
        : "";
      if (/^\d+\./.test(rest))
        found[parseInt(rest, 10)] ??= this.part(`${name}.${parseInt(rest, 10)}`);
    }
    return found;
  }

  whole(name) {
    return this.name ? `${this.name}.${name}` : name;
  }
}
