// The model of a view, as a widget manager would give it, on a page without a kernel.

/** Whether two values of traits are equal; binary values are equal only to themselves. */
export function isEqual(a, b) {
  if (Object.is(a, b)) return true;
  if (!isPlain(a) || !isPlain(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && isEqual(a[name], b[name]));
}

function isPlain(value) {
  return typeof value === "object" && value !== null && !ArrayBuffer.isView(value);
}

/** Puts each binary trait of a saved model back into its state, as a DataView. */
export function restored({ state, buffers = [] }) {
  const whole = structuredClone(state);
  for (const { path, encoding, data } of buffers) {
    if (encoding !== "base64")
      throw new Error(`A saved trait has the unknown encoding ${encoding}.`);
    const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
    const parent = path.slice(0, -1).reduce((node, name) => node[name], whole);
    parent[path.at(-1)] = new DataView(bytes.buffer);
  }
  return whole;
}

/**
 * The state of one view, shared by all its displays. `set` calls the listeners of
 * `change:TRAIT`, then those of `change`, if the value is another than before.
 */
export class Model {
  constructor(state) {
    this.state = state;
    this.listeners = new Map(); // event -> functions
  }

  get(trait) {
    return this.state[trait];
  }

  set(trait, value) {
    if (isEqual(this.state[trait], value)) return;
    this.state[trait] = value;
    this.#call(`change:${trait}`, value);
    this.#call("change");
  }

  on(event, listener) {
    this.listeners.set(event, [...(this.listeners.get(event) ?? []), listener]);
  }

  /** Removes one listener, or all of an event where none is named. */
  off(event, listener) {
    const kept = (this.listeners.get(event) ?? []).filter((one) => listener && one !== listener);
    this.listeners.set(event, kept);
  }

  /** There is no kernel to save to: the state lasts as long as the page. */
  save_changes() {}

  /** There is no kernel that could answer. */
  send() {}

  #call(event, ...told) {
    for (const listener of this.listeners.get(event) ?? []) listener(this, ...told);
  }
}
