// The searches over tables of log-probabilities, one after every prefix.

import { beam } from "../../../src/gates2heads/browser/engine/decoding/beam.js";
import { compare } from "../../../src/gates2heads/browser/engine/decoding/searches.js";
import { Power, Wu } from "../../../src/gates2heads/browser/engine/decoding/lengths.js";
import {
  draw,
  Generator,
  keepMinP,
  keepTopK,
  keepTopP,
  narrow,
  sample,
  temper,
} from "../../../src/gates2heads/browser/engine/decoding/sampling.js";
import { greedy } from "../../../src/gates2heads/browser/engine/decoding/search.js";
import { finish } from "../../../src/gates2heads/browser/engine/decoding/steps.js";
import { Tree } from "../../../src/gates2heads/browser/engine/decoding/trace.js";
import {
  TABLES_START,
  twoTables,
} from "../../../src/gates2heads/browser/engine/decoding/two_tables.js";
import { laboratorySteps, remembering } from "../../../src/gates2heads/browser/live/laboratory.js";

const RULES = { Power, Wu };

// levels[t] (size^t, size): what may come after each prefix of t tokens.
function stepOf(levels) {
  return ({ prefix, level }, last) => {
    const row = level ? prefix * levels[0].columns + last : 0;
    return { logProbs: levels[level].row(row), state: { prefix: row, level: level + 1 } };
  };
}

export const searches = {
  search({ levels, kind, options: { rule, branches, pruned = null, uniforms, ...options } }) {
    const tree = branches ? new Tree(branches, { pruned }) : null;
    if (rule) options.lengthRule = new RULES[rule.kind](rule.alpha);
    if (uniforms) options.generator = { next: () => uniforms.shift() };
    const found = { greedy, sample, beam }[kind](
      stepOf(levels),
      { prefix: 0, level: 0 },
      { ...options, tree },
    );
    const plain = (one) => ({ ...one, state: undefined });
    return { found: kind === "beam" ? found.map(plain) : plain(found), nodes: tree && tree.nodes };
  },

  compare({ levels, tables, options: { rule, ...options } }) {
    if (rule) options.lengthRule = new RULES[rule.kind](rule.alpha);
    if (tables) return compare(twoTables(tables), TABLES_START, options);
    return compare(stepOf(levels), { prefix: 0, level: 0 }, options);
  },

  // The laboratory asked several things in a row, with one memory: what it found, and what it
  // computed.
  laboratory({ levels, words, sides, asked }) {
    let calls = 0;
    const counted = (state, last) => ((calls += 1), stepOf(levels)(state, last));
    const { step, state, size } = remembering(counted, { prefix: 0, level: 0 });
    return asked.map((one) => {
      const found = finish(laboratorySteps(step, state, words, sides, one));
      return { ...found, calls, size: size() };
    });
  },

  searchWith({ answers, kind, options }) {
    return { greedy, sample, beam }[kind](() => ({ logProbs: answers, state: 0 }), 0, options);
  },

  narrow({ logProbs, temperature, topK, topP, minP = 0 }) {
    return {
      tempered: temper(logProbs, temperature),
      topK: keepTopK(logProbs, topK),
      topP: keepTopP(logProbs, topP),
      minP: keepMinP(logProbs, minP),
      all: narrow(logProbs, { temperature, topK, topP, minP }),
    };
  },

  draws({ logProbs, uniforms }) {
    return uniforms.map((uniform) => draw(logProbs, uniform));
  },

  uniforms({ seed, count }) {
    const generator = new Generator(seed);
    return Array.from({ length: count }, () => generator.next());
  },
};
