// A text that the model continues, token by token: run, stop, undo, choice between samples, timing.
//
// The class that extends this one builds what is used here: the buttons `go`, `halt` and `back`,
// the picture, the samples and the times; and it draws.

import { textOf } from "../../browser/live/pieces.js";
import { LiveStage } from "../../browser/live/stages/stage.js";
import { inMilliseconds } from "./code_times.js";
import { SEEDS } from "./sliders.js";

export class ContinuedText extends LiveStage {
  undone = []; // texts before each continuation, with their generated range
  written = null; // the range of generated text: [from, to]

  /** The text is another one: what was written before it can neither be taken back nor chosen. */
  forget() {
    this.undone = [];
    this.back.disabled = true;
    this.samples.hide();
  }

  /** Sets a state. Without a text it is a way to continue, and the first example is continued. */
  async demonstrate(state) {
    this.forget();
    super.demonstrate(state);
    if (!("text" in state)) {
      this.input.value = this.example(0);
      this.take();
    }
    if (state.cache === false) await this.measure();
    else if (!("text" in state)) await this.continueText();
  }

  /** Reads the text in the field, unless the picture shows it; returns the text, or null. */
  async settled() {
    const text = this.read(this.input.value);
    clearTimeout(this.timer);
    if (!this.admits(text)) return null;
    this.stopped = false;
    if (text !== this.now.text) {
      this.take();
      await this.reading;
    }
    return this.now.text === text && !this.life.signal.aborted ? text : null;
  }

  ask() {
    const isNew = JSON.stringify(this.question()) !== this.asked;
    const answer = super.ask();
    if (isNew) this.reading = answer;
    return answer;
  }

  /** Lets the model write; the tokens are shown as they come. */
  async continueText() {
    const text = await this.settled();
    if (text === null) return;
    const { samples, seed } = { samples: this.model.get("samples"), seed: this.model.get("seed") };
    const cache = this.model.get("cache");
    const all = [];
    this.busy(true);
    this.samples.hide();
    for (let at = 0; at < samples && !this.stopped; at += 1) {
      const one = await this.write(text, {
        cache,
        seed: seed + at,
        of: samples > 1 ? `sample ${at + 1} of ${samples}: ` : "",
      });
      if (!one) break;
      all.push(one);
    }
    this.busy(false);
    if (!this.isStill(text)) return;
    if (!all.length) {
      this.draw(); // without the tokens that came before a fault
      return;
    }
    if (samples > 1) this.offer(text, all);
    else this.append(text, all[0]);
  }

  /** Writes the same twice, with the cache and without, to compare the times. */
  async measure() {
    const text = await this.settled();
    if (text === null) return;
    const seed = this.model.get("seed");
    this.busy(true);
    const found = [];
    for (const cache of [true, false]) {
      const one = await this.write(text, {
        cache,
        seed,
        endless: true, // or there might be little to measure
        of: cache ? "with the cache: " : "without the cache: ",
      });
      if (one) found.push(one);
      if (!one || this.stopped) break;
    }
    this.busy(false);
    if (!this.isStill(text)) return;
    if (!found.length) {
      this.draw();
      return;
    }
    const [first, second] = found;
    const isSame = second && !this.stopped && first.added === second.added;
    this.append(
      text,
      first,
      isSame
        ? "Both runs generated the same tokens. Sampling of the end-of-file token was disabled."
        : "",
    );
  }

  /** Whether the field still holds the text that was continued: what is typed meanwhile wins. */
  isStill(text) {
    return this.read(this.input.value) === text && !this.life.signal.aborted;
  }

  /** One continuation: {tokens, added, ended}; null where something newer came. */
  async write(text, { cache, seed, of, endless = false }) {
    const tokens = [];
    const times = this.times.begin(cache ? "cached" : "plain");
    this.isRecorded = false;
    this.draw();
    this.root.dataset.state = "writing";
    const steps = this.model.get("steps");
    const onProgress = (told) => {
      if (told.piece === undefined || this.stopped) return;
      tokens.push(told);
      times.push({ position: told.position, milliseconds: told.milliseconds });
      this.picture.extend(told, !text && tokens.length === 1);
      this.report(
        `Generating ${of}token ${tokens.length} of ${steps}, ${inMilliseconds(told.milliseconds)} per token …`,
      );
      this.times.drawSoon();
    };
    const payload = { text, steps, seed, cache, endless, ...this.way };
    const found = await this.runAll("continue", payload, { onProgress });
    this.times.draw();
    if (!found && !(this.stopped && tokens.length)) return null;
    const added = found
      ? found[0].added
      : textOf(
          tokens.map(({ piece }) => piece),
          !text,
        );
    return { tokens, added, ended: Boolean(found?.[0].ended) };
  }

  stop() {
    this.stopped = true;
    this.running?.abort(new Error("the reader stopped it"));
  }

  busy(isBusy) {
    this.go.disabled = this.times.both.disabled = isBusy;
    this.halt.disabled = !isBusy;
    this.back.disabled = isBusy || !this.undone.length;
    this.picture.node.toggleAttribute("data-writing", isBusy);
    if (!isBusy && this.root.dataset.state === "writing") this.root.dataset.state = "done";
  }

  /** A continuation becomes part of the text. */
  append(text, { tokens, added, ended }, more = "") {
    this.undone.push({ text, written: this.written });
    const from = this.written?.[1] === text.length ? this.written[0] : text.length;
    const count = `${tokens.length} ${tokens.length === 1 ? "token" : "tokens"}`;
    const how = this.stopped ? "Stopped after" : "The model generated";
    const end = ended ? ", and then the end of the file" : "";
    const sentence = [`${how} ${count}${end}.`, more].filter(Boolean).join(" ");
    this.replaceText(text + added, [from, text.length + added.length], sentence);
  }

  takeBack() {
    const before = this.undone.pop();
    if (!before) return;
    this.put({ seed: (this.model.get("seed") + 1) % SEEDS });
    this.samples.hide();
    this.replaceText(
      before.text,
      before.written,
      "The continuation was taken back. The next one uses another seed.",
    );
  }

  /** The text is another one, by no key of the reader. */
  replaceText(text, written, sentence) {
    this.said = { text, sentence };
    this.input.value = text;
    this.input.scrollTop = this.input.scrollHeight;
    this.asked = null;
    this.root.dataset.question = ""; // the tokens that were drawn are read again
    this.put({ text });
    this.written = written;
    this.back.disabled = !this.undone.length;
    this.taken = this.input.value;
    if (this.asked === null) this.hear();
  }

  /** Several samples: the reader chooses one. */
  offer(text, all) {
    this.draw();
    this.report("");
    this.samples.offer(all, (one) => {
      if (this.isStill(text)) this.append(text, one);
    });
    this.report(
      `${all.length} samples of the same distribution. Choose one, or change the settings.`,
    );
  }
}
