// The inner products of a model in WebAssembly, sixteen columns at a time. `multiply` in tensor.js
// says the same in plain JavaScript and is used wherever this cannot run.

const CALL = { weight: 0, rows: 1, columns: 2, input: 3, output: 4 }; // what both are given
const LOCAL = { place: 5, end: 6, sums: [7, 8, 9, 10], whole: 11 };
const AT_ONCE = 16;
const PAGE = 65536; // bytes

// The few instructions that are needed, as WebAssembly's specification numbers them.
const wasm = {
  block: [0x02, 0x40],
  loop: [0x03, 0x40],
  end: [0x0b],
  goto: (depth) => [0x0c, depth],
  gotoIf: (depth) => [0x0d, depth],
  get: (local) => [0x20, local],
  set: (local) => [0x21, local],
  number: (small) => [0x41, small], // up to 63
  isZero: [0x45],
  isBelow: [0x49],
  add: [0x6a],
  subtract: [0x6b],
  shiftLeft: [0x74],
  storeSingle: [0x38, 2, 0],
  addSingles: [0x92],
  load: (offset) => [0xfd, 0, 0, offset], // sixteen bytes
  zeros: [0xfd, 12, ...new Array(16).fill(0)],
  lane: (number) => [0xfd, 31, number],
  widenBytesLow: [0xfd, 0x87, 1],
  widenBytesHigh: [0xfd, 0x88, 1],
  widenLow: [0xfd, 0xa7, 1],
  widenHigh: [0xfd, 0xa8, 1],
  toSingles: [0xfd, 0xfa, 1],
  addFour: [0xfd, 0xe4, 1],
  multiplyFour: [0xfd, 0xe6, 1],
};

/** Multiplies the matrices that lie in its memory; their `kernel` is this. */
export class Kernel {
  /** A kernel with these bytes at the beginning of its memory, or null where none can run. */
  static holding(bytes, longestRow, mostRows) {
    const room = bytes.length + 4 * (longestRow + mostRows) + 2 * AT_ONCE;
    try {
      const memory = new WebAssembly.Memory({ initial: Math.ceil(room / PAGE) });
      const module = new WebAssembly.Module(Uint8Array.from(assembled()));
      const { exports } = new WebAssembly.Instance(module, { page: { memory } });
      new Uint8Array(memory.buffer).set(bytes);
      return new Kernel(exports, memory.buffer, bytes.length, longestRow);
    } catch {
      return null; // an old browser, or a page that forbids it: the plain way gives the same
    }
  }

  constructor({ single, whole }, buffer, used, longestRow) {
    this.single = single;
    this.whole = whole;
    this.buffer = buffer;
    this.input = Math.ceil(used / AT_ONCE) * AT_ONCE;
    this.output = this.input + 4 * longestRow;
    this.numbers = new Float32Array(buffer);
  }

  /** Whether a width can be read sixteen columns at a time. */
  fits(columns) {
    return columns % AT_ONCE === 0;
  }

  /**
   * Sums of weight (R, D) times D numbers of the input, without scale and bias: (R,), until the
   * next call.
   */
  multiply({ rows, columns, data }, input, from) {
    this.numbers.set(input.subarray(from, from + columns), this.input / 4);
    const run = data instanceof Int8Array ? this.whole : this.single;
    run(data.byteOffset, rows, columns, this.input, this.output);
    return this.numbers.subarray(this.output / 4, this.output / 4 + rows);
  }
}

// A module: one type of function, the memory from outside, two functions and their names.
function assembled() {
  const [int, vector] = [0x7f, 0x7b];
  const type = [0x60, 5, int, int, int, int, int, 0];
  const locals = [2, 2, int, 5, vector]; // two kinds of them
  const body = (code) => withLength([...locals, ...code, ...wasm.end]);
  return [
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0], // "\0asm", version 1
    ...section(1, [1, ...type]),
    ...section(2, [1, ...name("page"), ...name("memory"), 2, 0, 1]),
    ...section(3, [2, 0, 0]),
    ...section(7, [2, ...name("single"), 0, 0, ...name("whole"), 0, 1]),
    ...section(10, [2, ...body(rowsOf(singles, 64)), ...body(rowsOf(wholes, 16))]),
  ];
}

// For each row: four times four sums over the columns, then their total.
function rowsOf(weights, step) {
  const { get, set } = wasm;
  const advance = (local, by) => [...get(local), ...wasm.number(by), ...wasm.add, ...set(local)];
  const wide = (local) => [...get(local), ...unsigned(64), ...wasm.add, ...set(local)];
  const { loaded, four } = weights;
  return [
    ...[...wasm.block, ...wasm.loop],
    ...[...get(CALL.rows), ...wasm.isZero, ...wasm.gotoIf(1)],
    ...[...get(CALL.input), ...set(LOCAL.place)],
    ...[...get(CALL.input), ...get(CALL.columns), ...wasm.number(2), ...wasm.shiftLeft],
    ...[...wasm.add, ...set(LOCAL.end)],
    ...LOCAL.sums.flatMap((sum) => [...wasm.zeros, ...set(sum)]),
    ...wasm.loop,
    ...loaded,
    ...LOCAL.sums.flatMap((sum, part) => [
      ...[...get(sum), ...four(part), ...get(LOCAL.place), ...wasm.load(16 * part)],
      ...[...wasm.multiplyFour, ...wasm.addFour, ...set(sum)],
    ]),
    ...(step === 64 ? wide(CALL.weight) : advance(CALL.weight, step)),
    ...wide(LOCAL.place),
    ...[...get(LOCAL.place), ...get(LOCAL.end), ...wasm.isBelow, ...wasm.gotoIf(0)],
    ...wasm.end,
    ...total(),
    ...advance(CALL.output, 4),
    ...[...get(CALL.rows), ...wasm.number(1), ...wasm.subtract, ...set(CALL.rows), ...wasm.goto(0)],
    ...[...wasm.end, ...wasm.end],
  ];
}

// Four single-precision weights of each of the four parts, as they lie in memory.
const singles = {
  loaded: [],
  four: (part) => [...wasm.get(CALL.weight), ...wasm.load(16 * part)],
};

// Sixteen whole numbers are loaded at once, and widened four by four.
const wholes = {
  loaded: [...wasm.get(CALL.weight), ...wasm.load(0), ...wasm.set(LOCAL.whole)],
  four: (part) => [
    ...wasm.get(LOCAL.whole),
    ...(part < 2 ? wasm.widenBytesLow : wasm.widenBytesHigh),
    ...(part % 2 ? wasm.widenHigh : wasm.widenLow),
    ...wasm.toSingles,
  ],
};

function total() {
  const { get, set } = wasm;
  const [first, ...others] = LOCAL.sums;
  return [
    ...get(first),
    ...others.flatMap((sum) => [...get(sum), ...wasm.addFour]),
    ...set(first),
    ...get(CALL.output),
    ...[0, 1, 2, 3].flatMap((lane) => [
      ...get(first),
      ...wasm.lane(lane),
      ...(lane ? wasm.addSingles : []),
    ]),
    ...wasm.storeSingle,
  ];
}

function section(number, content) {
  return [number, ...withLength(content)];
}

function withLength(content) {
  const [low, high] = [content.length & 127, content.length >> 7]; // below 2^14
  return [...(high ? [low | 128, high] : [low]), ...content];
}

function name(text) {
  return withLength(Array.from(text, (character) => character.charCodeAt(0)));
}

// A number from 64 on needs a second byte, or its highest bit would be read as a sign.
function unsigned(number) {
  return [0x41, (number & 127) | 128, number >> 7];
}
