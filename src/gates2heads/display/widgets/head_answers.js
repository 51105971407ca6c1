// What the whole model writes, what the changed one writes, and how likely each is: in words.

import {
  compared,
  gapBetween,
  isUnmoved,
  matched,
  nats,
  offInWords,
  timesInWords,
} from "./heads.js";
import { element } from "./view.js";

const INVITATION = "Switch a head off or move a word: what it writes then stands here.";
const LEGEND = "Underlined: words that the other one does not write.";

export class HeadAnswers {
  constructor() {
    this.node = element("div", { class: "g2h-answers g2h-dim" });
  }

  /**
   * base: what the whole model wrote for the sentence as typed; now: the changed one, or the same.
   */
  show(base, now) {
    const isSame = now === base;
    const note = (logProb) => `log-probability ${nats(logProb)} nats`;
    const judged = isSame ? null : now.judged.reduce((total, one) => total + one, 0);
    this.node.dataset.judged = isSame ? "" : judged.toFixed(4);
    this.node.replaceChildren(
      line("whole model", "before", marked(base.written, now.written), note(base.logProb)),
      isSame
        ? line("changed", "after", [element("span", { class: "g2h-name" }, INVITATION)], "")
        : line("changed", "after", marked(now.written, base.written), note(now.logProb)),
      element(
        "p",
        { class: "g2h-judged" },
        ...(isSame
          ? ["\u00a0"]
          : [
              "The changed model finds the upper translation ",
              element("b", {}, timesInWords(base.logProb, judged)),
              ` (${nats(judged)} nats). `,
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

/** What an answer stands for, in sentences. */
export function answerInWords({ base, now, unshuffled, off, order, positions }) {
  const said = [
    `${offInWords(
      off,
      now.blocks.map(({ shape }) => shape),
    )}.`,
  ];
  if (!isUnmoved(order)) said.push("The words are in another order.");
  if (!positions) said.push("The encoder is told no positions.");
  if (now !== base) {
    said.push(
      now.written === base.written ? "The translation stays the same." : "The translation changes.",
    );
  }
  if (unshuffled) said.push(bagInWords(now, unshuffled));
  if (!now.finished) said.push(`It was stopped after ${now.target.length} tokens without an end.`);
  return said.join(" ");
}

/** Without positions: did the order make a difference? */
function bagInWords(now, unshuffled) {
  const places = matched(now.source, unshuffled.source);
  if (!places) return "";
  const gap = gapBetween(now.blocks[0], unshuffled.blocks[0], places);
  const writes = now.written === unshuffled.written ? "the same" : `“${unshuffled.written}”`;
  const within = gap < 1e-5 ? "0.00001" : gap.toPrecision(1);
  return `With the words as typed it writes ${writes}; each weight of the encoder moved with its words, to within ${within}.`;
}
