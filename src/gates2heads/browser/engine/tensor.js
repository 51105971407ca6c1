// Matrices of single-precision numbers, row by row, and the arithmetic that layers are made of.
// Sums are taken in double precision, as JavaScript computes; what is kept is single.

/** Rows of numbers; whole numbers with a scale a row, where a model was written small. */
export class Matrix {
  /**
   * @param {number} rows how many rows
   * @param {number} columns how many columns
   * @param {Float32Array|Int8Array} data row after row; zeros if not given
   * @param {?Float32Array} scale (rows,) what a row of whole numbers is multiplied by
   * @param {?Kernel} kernel whose memory the data lies in, where there is one
   */
  constructor(rows, columns, data = new Float32Array(rows * columns), scale = null, kernel = null) {
    this.rows = rows;
    this.columns = columns;
    this.data = data;
    this.scale = scale;
    this.kernel = kernel;
  }

  /** Row i; the same memory, except where whole numbers are scaled. */
  row(i) {
    const whole = this.data.subarray(i * this.columns, (i + 1) * this.columns);
    return this.scale === null
      ? whole
      : Float32Array.from(whole, (number) => number * this.scale[i]);
  }

  /** Rows start, …, end − 1; the same memory. */
  slice(start, end) {
    const data = this.data.subarray(start * this.columns, end * this.columns);
    const scale = this.scale === null ? null : this.scale.subarray(start, end);
    return new Matrix(end - start, this.columns, data, scale, this.kernel);
  }
}

/** One vector as a matrix of one row; the same memory. */
export function oneRow(vector) {
  return new Matrix(1, vector.length, vector);
}

/** inputs (S, D), weight (R, D), bias (R,) or null: W x + b for each row x, (S, R). */
export function linear(inputs, weight, bias = null) {
  checkColumns("inputs", inputs.columns, weight.columns);
  const output = new Matrix(inputs.rows, weight.rows);
  const times = wayOf(weight);
  for (let row = 0; row < inputs.rows; row += 1) {
    times(weight, bias, inputs.data, row * inputs.columns, output.data, row * weight.rows);
  }
  return output;
}

/** W x + b for one vector x (D,): (R,). */
export function product(weight, vector, bias = null) {
  checkColumns("vector", vector.length, weight.columns);
  const output = new Float32Array(weight.rows);
  wayOf(weight)(weight, bias, vector, 0, output, 0);
  return output;
}

function wayOf({ kernel, columns }) {
  return kernel && kernel.fits(columns) ? multiplyFast : multiply;
}

function multiplyFast(weight, bias, input, from, output, to) {
  const { rows, scale, kernel } = weight;
  const sums = kernel.multiply(weight, input, from);
  for (let row = 0; row < rows; row += 1) {
    const sum = scale === null ? sums[row] : sums[row] * scale[row];
    output[to + row] = bias === null ? sum : sum + bias[row];
  }
}

// Four sums at once: a processor that waits for one addition can begin the next.
function multiply({ rows, columns, data, scale }, bias, input, from, output, to) {
  const whole = columns - (columns % 4);
  for (let row = 0, at = 0; row < rows; row += 1) {
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    let place = from;
    for (const end = at + whole; at < end; at += 4, place += 4) {
      a += data[at] * input[place];
      b += data[at + 1] * input[place + 1];
      c += data[at + 2] * input[place + 2];
      d += data[at + 3] * input[place + 3];
    }
    for (const end = (row + 1) * columns; at < end; at += 1, place += 1)
      a += data[at] * input[place];
    const sum = scale === null ? a + b + (c + d) : (a + b + (c + d)) * scale[row];
    output[to + row] = bias === null ? sum : sum + bias[row];
  }
}

function checkColumns(name, columns, wanted) {
  if (columns !== wanted) throw new Error(`${name} must have width ${wanted}, got ${columns}`);
}

/** The rows of a table at these numbers: (L, D), times a factor. */
export function embedding(numbers, table, factor = 1) {
  const vectors = new Matrix(numbers.length, table.columns);
  numbers.forEach((number, place) => {
    const target = vectors.row(place);
    const scale = table.scale === null ? 1 : table.scale[number];
    const start = number * table.columns;
    for (let i = 0; i < table.columns; i += 1) {
      // Rounded as the library rounds: first the weight, then its multiple.
      target[i] = Math.fround(table.data[start + i] * scale) * factor;
    }
  });
  return vectors;
}

/** The sum of two matrices of one shape. */
export function add(left, right) {
  return new Matrix(
    left.rows,
    left.columns,
    left.data.map((number, i) => number + right.data[i]),
  );
}

/** A function of every number. */
export function apply(matrix, activation) {
  return new Matrix(matrix.rows, matrix.columns, matrix.data.map(activation));
}

/** Several vectors end to end. */
export function concatenate(...vectors) {
  const joined = new Float32Array(vectors.reduce((total, vector) => total + vector.length, 0));
  let place = 0;
  for (const vector of vectors) {
    joined.set(vector, place);
    place += vector.length;
  }
  return joined;
}

/** Matrices of as many rows, side by side. */
export function beside(...parts) {
  const columns = parts.reduce((total, part) => total + part.columns, 0);
  const joined = new Matrix(parts[0].rows, columns);
  for (let row = 0; row < joined.rows; row += 1) {
    joined.row(row).set(concatenate(...parts.map((part) => part.row(row))));
  }
  return joined;
}

/** Matrices of as many columns, one below the other. */
export function below(...parts) {
  const rows = parts.reduce((total, part) => total + part.rows, 0);
  return new Matrix(rows, parts[0].columns, concatenate(...parts.map((part) => part.data)));
}

/** Numbers as shares that sum to 1, in their own place; −∞ gets 0, and if all are −∞ all get 0. */
export function softmaxInPlace(numbers) {
  const top = largest(numbers);
  if (top === -Infinity) return numbers.fill(0);
  let total = 0;
  for (let i = 0; i < numbers.length; i += 1) {
    numbers[i] = Math.exp(numbers[i] - top);
    total += numbers[i];
  }
  for (let i = 0; i < numbers.length; i += 1) numbers[i] /= total;
  return numbers;
}

/** The logarithms of the shares, in nats. */
export function logSoftmax(numbers) {
  const top = largest(numbers);
  let total = 0;
  for (let i = 0; i < numbers.length; i += 1) total += Math.exp(numbers[i] - top);
  const shift = top + Math.log(total);
  return numbers.map((number) => number - shift);
}

/** The largest of the numbers. */
export function largest(numbers) {
  let top = -Infinity;
  for (let i = 0; i < numbers.length; i += 1) if (numbers[i] > top) top = numbers[i];
  return top;
}

export function sigmoid(number) {
  return 1 / (1 + Math.exp(-number));
}

export function relu(number) {
  return number > 0 ? number : 0;
}

export function silu(number) {
  return number * sigmoid(number);
}

export function gelu(number) {
  return 0.5 * number * (1 + erf(number * Math.SQRT1_2));
}

// Abramowitz & Stegun, 7.1.6: 2/√π · exp(−x²) · Σ 2ⁿ x²ⁿ⁺¹ / (1 · 3 ⋯ (2n + 1)).
function erf(number) {
  if (Math.abs(number) >= 5) return Math.sign(number); // to twelve places
  let [term, sum] = [number, number];
  for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n += 1) {
    term *= (2 * number * number) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-number * number) * sum;
}
