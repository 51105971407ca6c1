// Hold gates of a recurrent layer at a value while it runs, to see what each of them does.

/**
 * The `intervene` of a record that holds gates, as the library's `clamp_gates` does.
 *
 * @param {Unrolled} layer an LSTM or GRU
 * @param {{gate: string, value: number, units: ?number[]}[]} clamps "forget" is the gate of all
 *   layers and directions, "forget_l0" of one; units null is all; of two clamps on one gate the
 *   later counts
 * @returns {function(string, string, {data: Float32Array})}
 */
export function clampGates(layer, clamps) {
  const suffixes = layer.layers.flatMap((directions) => directions.map(({ suffix }) => suffix));
  const known = new Set(
    layer.gates.flatMap((gate) => [gate, ...suffixes.map((suffix) => gate + suffix)]),
  );
  clamps.forEach((clamp) => check(clamp, known, layer.hidden_size));
  const held = new Map(); // by the name under which a gate is noted: the clamps upon it
  for (const { gate, value, units = null } of clamps) {
    const names = layer.gates.includes(gate) ? suffixes.map((suffix) => gate + suffix) : [gate];
    names.forEach((name) => held.set(name, [...(held.get(name) ?? []), { value, units }]));
  }
  return (name, quantity, { data }) => {
    if (name !== layer.name) return;
    for (const { value, units } of held.get(quantity) ?? []) {
      if (units) units.forEach((unit) => (data[unit] = value));
      else data.fill(value);
    }
  };
}

function check({ gate, value, units = null }, known, size) {
  if (!known.has(gate)) {
    const names = [...known].join(", ") || "none, for it has no gates";
    throw new Error(`clamps must be of gates that layer has, ${names}; got ${gate}`);
  }
  if (!(value >= 0 && value <= 1))
    throw new Error(`clamps must set a gate to a value from 0 to 1, got ${value}`);
  const stranger = units?.find((unit) => !Number.isInteger(unit) || unit < 0 || unit >= size);
  if (stranger !== undefined)
    throw new Error(`clamps must be of units from 0 to ${size - 1}, got ${stranger}`);
}
