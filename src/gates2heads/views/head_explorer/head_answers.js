// The translations of the complete and the changed model, and how probable each is: in words.

import {
  compared,
  gapBetween,
  isUnmoved,
  matched,
  nats,
  offInWords,
  timesInWords,
} from "../kit/heads.js";
import { element } from "../kit/view.js";

const INVITATION = "Switch off a head, or move a word, to see the changed translation here.";
const LEGEND = "Underlined words occur in one translation only.";

export class HeadAnswers {
  constructor() {
    this.node = element("div", { class: "g2h-answers g2h-dim" });
  }

  /**
   * base: the complete model's translation of the sentence as typed; now: the changed one, or the same.
   */
  show(base, now) {
    const isSame = now === base;
    const note = (logProb) => `log-probability ${nats(logProb)} nats`;
    const judged = isSame ? null : now.judged.reduce((total, one) => total + one, 0);
    this.node.dataset.judged = isSame ? "" : judged.toFixed(4);
    this.node.replaceChildren(
      line("complete model", "before", marked(base.written, now.written), note(base.logProb)),
      isSame
        ? line("changed model", "after", [element("span", { class: "g2h-name" }, INVITATION)], "")
        : line("changed model", "after", marked(now.written, base.written), note(now.logProb)),
      element(
        "p",
        { class: "g2h-judged" },
        ...(isSame
          ? ["\u00a0"]
          : [
              "The translation of the complete model is ",
              element("b", {}, timesInWords(base.logProb, judged)),
              `: ${nats(judged)} nats under the changed model, `,
              `${nats(base.logProb)} under the complete one. `,
              now.written === base.written ? "" : LEGEND,
            ]),
      ),
    );
  }
}

function line(name, kind, text, note) {
  return element(
    "p",
    { class: `g2h-answer g2h-${kind}` },
    element("span", { class: "g2h-name" }, name),
    element("output", { lang: "en" }, ...text),
    element("span", { class: "g2h-note" }, note),
  );
}

function marked(text, other) {
  return compared(text, other).flatMap((part) => [
    part.isSame ? part.text : element("mark", {}, part.text),
    " ",
  ]);
}

/** What an answer shows, in sentences. */
export function answerInWords({ base, now, unshuffled, off, order, positions }) {
  const said = [
    `${offInWords(
      off,
      now.blocks.map(({ shape }) => shape),
    )}.`,
  ];
  if (!isUnmoved(order)) said.push("The word order is changed.");
  if (!positions) said.push("The encoder has no positional encodings.");
  if (now !== base) {
    said.push(
      now.written === base.written
        ? "The translation does not change."
        : "The translation changes.",
    );
  }
  if (unshuffled) said.push(bagInWords(now, unshuffled));
  if (!now.finished)
    said.push(`Generation was stopped after ${now.target.length} tokens without <eos>.`);
  return said.join(" ");
}

/** Without positional encodings: does the order make a difference? */
function bagInWords(now, unshuffled) {
  const places = matched(now.source, unshuffled.source);
  if (!places) return "";
  const gap = gapBetween(now.blocks[0], unshuffled.blocks[0], places);
  const output = now.written === unshuffled.written ? "the same" : `“${unshuffled.written}”`;
  const within = gap < 1e-5 ? "0.00001" : gap.toPrecision(1);
  return `With the words as typed, the output is ${output}: the encoder's weights differ only in their order (to within ${within}).`;
}
