// What the alignment explorer knows without a page: the payload, places in it, words about it.
import { inside } from "./view.js";

const NAMED = 3; // how many source tokens the sentence about a step names at most
const WORTH_NAMING = 0.05;
const MARGIN = 24; // pixels that a token keeps from the edges of what is seen

/** A blank is shown as the sign for it. */
export const visible = (token) => (token.trim() === "" ? "␣" : token);

/** Tokens as running text; most being single characters, a special token is no word. */
export function joined(tokens) {
  const characters = tokens.filter((token) => [...token].length === 1).length;
  return tokens.join(2 * characters > tokens.length ? "" : " ");
}

/** The payload as [score][sentence] → {source, target, rows}, in the order Python wrote it. */
export function readAlignments({ sources, targets }, data) {
  let offset = 0;
  const row = (source) => source.map(() => data.getFloat32((offset += 4) - 4, true));
  return targets.map((bySentence) =>
    bySentence.map((target, sentence) => {
      const source = sources[sentence];
      return { source, target, rows: target.map(() => row(source)) };
    }),
  );
}

/** A position moved inside what there is to show: score first, then sentence, then step. */
export function placeInside(alignments, { score, sentence, step }) {
  const at = { score: inside(score, alignments.length) };
  at.sentence = inside(sentence, alignments[at.score].length);
  at.step = inside(step, alignments[at.score][at.sentence].target.length);
  return at;
}

/** Where the weight is largest; the first place, if several are. */
export const peakOf = (weights) => weights.indexOf(Math.max(...weights));

/** The few places worth naming, most weight first; always at least one. */
export function mostLookedAt(weights) {
  const strongest = [...weights.keys()].sort((a, b) => weights[b] - weights[a]);
  return strongest.filter((at, rank) => !rank || weights[at] >= WORTH_NAMING).slice(0, NAMED);
}

/** A link from a written token, below at `from`, to a source token, above at `to`. */
export function linkPath(from, to, height) {
  const bend = height / 2;
  return `M${from} ${height} C${from} ${bend} ${to} ${bend} ${to} 0`;
}

/**
 * How far to scroll so that a place is seen. What is seen reaches from `from` to `to`, counted from
 * the left edge of the box; a place that is seen already moves nothing.
 */
export function scrolledTo(place, scrolled, from, to) {
  const seen = place - scrolled;
  if (seen >= from + MARGIN && seen <= to - MARGIN) return scrolled;
  return place - (from + to) / 2;
}

/** The changes of position that keys ask for. */
export function stepsOf({ sentence, step }, last) {
  return {
    ArrowLeft: { step: step - 1 },
    ArrowRight: { step: step + 1 },
    ArrowUp: { sentence: sentence - 1 },
    ArrowDown: { sentence: sentence + 1 },
    Home: { step: 0 },
    End: { step: last },
  };
}
