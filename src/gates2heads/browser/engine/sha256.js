// SHA-256 (FIPS 180-4), because the browser's own is refused on pages that came by plain http.

// The first 32 bits of the fractions of square roots (8) and cube roots (64) of the first primes.
function fractions(count, root) {
  const found = [];
  for (let number = 2, primes = []; found.length < count; number += 1) {
    if (primes.some((prime) => number % prime === 0)) continue;
    primes.push(number);
    found.push(Math.floor((root(number) % 1) * 2 ** 32) | 0);
  }
  return Int32Array.from(found);
}

function turnedRight(word, by) {
  return (word >>> by) | (word << (32 - by));
}

/** The hash of bytes that come in parts: add(Uint8Array), …, then hex(). */
export class Sha256 {
  constructor() {
    this.state = fractions(8, Math.sqrt);
    this.constants = fractions(64, Math.cbrt);
    this.schedule = new Int32Array(64);
    this.waiting = new Uint8Array(64); // bytes of a block that is not full yet
    this.length = 0;
  }

  add(bytes) {
    let place = 0;
    while (place < bytes.length) {
      const held = this.length % 64;
      const taken = Math.min(64 - held, bytes.length - place);
      this.length += taken;
      if (taken === 64) {
        this.block(bytes, place);
      } else {
        this.waiting.set(bytes.subarray(place, place + taken), held);
        if (held + taken === 64) this.block(this.waiting, 0);
      }
      place += taken;
    }
    return this;
  }

  hex() {
    const bits = this.length * 8;
    const held = this.length % 64;
    const end = new Uint8Array((held < 56 ? 64 : 128) - held);
    end[0] = 128;
    new DataView(end.buffer).setUint32(end.length - 8, Math.floor(bits / 2 ** 32));
    new DataView(end.buffer).setUint32(end.length - 4, bits >>> 0);
    this.add(end);
    return Array.from(this.state, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
  }

  block(bytes, start) {
    const { schedule: w, constants } = this;
    for (let t = 0, at = start; t < 16; t += 1, at += 4) {
      w[t] = (bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3];
    }
    for (let t = 16; t < 64; t += 1) {
      const low = turnedRight(w[t - 15], 7) ^ turnedRight(w[t - 15], 18) ^ (w[t - 15] >>> 3);
      const high = turnedRight(w[t - 2], 17) ^ turnedRight(w[t - 2], 19) ^ (w[t - 2] >>> 10);
      w[t] = w[t - 16] + low + w[t - 7] + high;
    }
    // One name a word, and not a list that is turned: the loop runs for every byte of a model.
    let [a, b, c, d, e, f, g, h] = this.state;
    for (let t = 0; t < 64; t += 1) {
      const upper = turnedRight(e, 6) ^ turnedRight(e, 11) ^ turnedRight(e, 25);
      const first = (h + upper + ((e & f) ^ (~e & g)) + constants[t] + w[t]) | 0;
      const lower = turnedRight(a, 2) ^ turnedRight(a, 13) ^ turnedRight(a, 22);
      const second = (lower + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + first) | 0;
      d = c;
      c = b;
      b = a;
      a = (first + second) | 0;
    }
    [a, b, c, d, e, f, g, h].forEach((word, i) => {
      this.state[i] = (this.state[i] + word) | 0;
    });
  }
}
