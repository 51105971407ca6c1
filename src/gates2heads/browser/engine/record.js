// Look inside a forward pass while it happens, as the library's layers/record.py does; and step in.

const ASKED_FOR = new Set(["scores", "queries", "keys", "values", "context"]);

/** What the layers of one model noted, by layer name and then by quantity. */
export class Trace {
  /** @param {Iterable<string>} more quantities to note beside the usual ones, see ASKED_FOR */
  constructor(more = []) {
    this.more = new Set(more);
    this.notes = new Map();
  }

  wants(quantity) {
    return !ASKED_FOR.has(quantity) || this.more.has(quantity);
  }

  /** Append one note: {shape, data}, copied. */
  add(layer, quantity, shape, data) {
    if (!this.notes.has(layer)) this.notes.set(layer, new Map());
    const quantities = this.notes.get(layer);
    if (!quantities.has(quantity)) quantities.set(quantity, []);
    quantities.get(quantity).push({ shape: [...shape], data: Float32Array.from(data) });
  }

  /** The names of the layers that noted something, in the order in which they ran. */
  layers() {
    return [...this.notes.keys()];
  }

  /** The list of what a layer noted under a name, one for each time that it ran. */
  get(layer, quantity) {
    const known = this.layers().join(", ") || "nothing";
    const quantities = this.notes.get(layer);
    if (!quantities) throw new Error(`layer '${layer}' noted nothing; recorded: ${known}`);
    if (!quantities.has(quantity)) {
      throw new Error(
        `layer '${layer}' noted ${[...quantities.keys()].join(", ")}, not '${quantity}'`,
      );
    }
    return quantities.get(quantity);
  }

  /** All records of one quantity along the time axis, the second to last: (…, T, S). */
  joined(layer, quantity) {
    const notes = this.get(layer, quantity);
    const columns = Math.max(...notes.map((one) => one.shape.at(-1)));
    const steps = notes.reduce((total, one) => total + one.shape.at(-2), 0);
    const outer = notes[0].shape.slice(0, -2);
    const blocks = outer.reduce((total, size) => total * size, 1);
    const data = new Float32Array(blocks * steps * columns); // a shorter row ends in zeros
    let step = 0;
    for (const one of notes) {
      const [rows, width] = one.shape.slice(-2);
      for (let block = 0; block < blocks; block += 1) {
        for (let row = 0; row < rows; row += 1) {
          const from = (block * rows + row) * width;
          data.set(one.data.subarray(from, from + width), (block * steps + step + row) * columns);
        }
      }
      step += rows;
    }
    return { shape: [...outer, steps, columns], data };
  }

  /** What the layers whose names match noted of one quantity, layer by layer: (layers, …, T, S). */
  stacked(pattern, quantity) {
    const maps = this.layers()
      .filter((name) => pattern.test(name))
      .map((name) => this.joined(name, quantity));
    const data = new Float32Array(maps.reduce((sum, map) => sum + map.data.length, 0));
    maps.reduce((at, map) => (data.set(map.data, at), at + map.data.length), 0);
    return { shape: [maps.length, ...maps[0].shape], data };
  }

  /** Put what another trace noted behind what this one did. */
  append(other) {
    for (const layer of other.layers()) {
      for (const [quantity, notes] of other.notes.get(layer)) {
        for (const one of notes) this.add(layer, quantity, one.shape, one.data);
      }
    }
  }
}

/**
 * Called by a layer before it uses a tensor: let somebody change it, then keep it if somebody asks.
 *
 * @param {?{trace: ?Trace, intervene: ?Function, off: ?Map}} record null costs nothing
 */
export function note(record, layer, quantity, shape, data) {
  if (!record) return;
  change(record, layer, quantity, shape, data);
  const { trace } = record;
  if (trace && trace.wants(quantity)) trace.add(layer, quantity, shape, data);
}

/** The first half of `note`: for layers that keep many steps and note them at once. */
export function change(record, layer, quantity, shape, data) {
  if (record && record.intervene) record.intervene(layer, quantity, { shape, data });
}

/** Whether it is worth building a tensor that only a note needs. */
export function isWanted(record, quantity) {
  return Boolean(record && (record.intervene || (record.trace && record.trace.wants(quantity))));
}
