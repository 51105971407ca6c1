// What every view shares that reads German: its field, and with it a second one for readers who do
// not write German, how often each word occurred in training, and a sentence about a text that does
// not look like German.

import { EnglishInput } from "../../../views/kit/english_input.js";
import { element } from "../../../views/kit/view.js";
import { WordRow } from "../../../views/kit/word_row.js";
import { LiveStage } from "./stage.js";
import { likenessInWords, storedLikeness } from "../word_counts.js";

export class GermanStage extends LiveStage {
  /** The field, and below it what the training data say of its text. */
  buildField(...given) {
    const german = super.buildField(...given);
    this.wordRow = new WordRow(this);
    this.remark = element("p", { class: "g2h-remark", role: "status" });
    return element("div", { class: "g2h-german" }, german, this.wordRow.node, this.remark);
  }

  /** English sentences whose German is stored with the page, with that German. */
  get pairs() {
    return [];
  }

  /** The field for English, which comes after the German one, and the examples. */
  buildChips(...given) {
    const chips = super.buildChips(...given);
    if (!this.model.get("english").length) return chips;
    this.english = new EnglishInput(this);
    return element("div", { class: "g2h-starts" }, this.english.node, chips);
  }

  /** The English field loads what it needs itself, when it is asked to translate. */
  use(target) {
    if (!this.english?.node.contains(target)) super.use(target);
  }

  /** Takes German from the English field, as if it was typed. */
  receive(german) {
    this.received = this.read(german);
    this.input.value = german;
    this.take();
  }

  /** What the training data say of a text; null if the model's file does not tell. */
  counted(text, read) {
    return this.all[0].run("count", { text, read }, { signal: this.life.signal });
  }

  /** The tokens of the stored result that is shown. */
  get recordedSource() {
    return this.model.get("recorded").source;
  }

  account() {
    super.account();
    if (this.model.get("seen")) this.count().catch((error) => this.uncounted(error));
  }

  async count() {
    const text = this.model.get("text");
    if (this.isRecorded) {
      const seen = this.model.get("seen");
      this.wordRow.show(this.recordedSource, seen);
      if (text !== this.received) this.english?.forget();
      this.remark.replaceChildren(likenessInWords(storedLikeness(text, seen.counts), "german"));
      return;
    }
    if (this.wordRow.node.parentElement.closest("[hidden]")) return; // something else than a text is shown
    const { source, seen, likeness } = await this.counted(text, "german");
    if (text !== this.model.get("text")) return;
    this.wordRow.show(source, seen);
    if (text !== this.received) this.english?.forget();
    this.remark.replaceChildren(likenessInWords(likeness, "german"));
    if (likeness.other && this.english) this.remark.append(" ", this.english.offer(text));
  }

  uncounted(error) {
    if (!this.life.signal.aborted) this.fault(error);
  }

  /** There is no text, or none that can be read: nothing is told of one. */
  clearCounts() {
    this.wordRow.clear();
    this.remark.replaceChildren();
  }

  rest(sentence) {
    super.rest(sentence);
    this.clearCounts();
    this.english?.forget();
  }

  turnDown(sentence) {
    super.turnDown(sentence);
    this.clearCounts();
  }

  dispose() {
    this.english?.dispose();
    super.dispose();
  }
}
