// The base class of all views with live models. A view shows a stored result until the reader uses it;
// then it loads its models, after asking for permission if they are large. From then on it repeats
// one cycle: it receives a question (typed, clicked, or set by Python), runs its models and shows
// their answer. A newer question cancels an older one; until the new answer arrives, the previous
// result is dimmed; input that cannot be used is explained beside the field, which keeps it.
//
// A view defines
//   question()        the current question, from its traits: a value that JSON can represent
//   run(question)     the answer, from `runAll`; null if there is none (the reason is then shown)
//   show(answer)      stores an answer
//   draw()            draws the stored answer
//   inWords()         describes the result in words
// and overrides, where it differs from most views, the small methods under "options of a view",
// or extends `mark()`, which makes the controls show the current question.

import { element } from "../../../views/kit/view.js";
import { WAITS, megabytes } from "../files.js";
import { Live } from "../runtime.js";
import { refusalInWords, unknownInWords } from "../pieces.js";
import { Permission } from "../permission.js";
import { onUse } from "../touch.js";
import { TypedStage } from "./typed_stage.js";

/** Shown with a stored result, in every view. */
export const STORED =
  "This result was computed in advance. Edit the text to run the model in your browser.";
const KEPT = "This result was computed in advance.";

export class LiveStage extends TypedStage {
  constructor(model, el, name) {
    super(model, el, name);
    this.all = model.get("live").map((_, place) => new Live(model, place));
    this.lives = this.all; // those that are run
    this.isUsed = false;
    this.permission = new Permission(this.root, () => this.state.focus({ preventScroll: true }));
  }

  // ---- options of a view

  /** The messages of the status line. */
  get phrases() {
    return {
      loading: "Loading",
      running: "Computing …",
      ready: "Ready",
      asking: "The dimmed result belongs to the previous input.",
      kept: "The view still shows the previous result.",
    };
  }

  /** The answer to a question if it is stored with the page. */
  stored(_question) {
    return undefined;
  }

  // ---- parts that are built once

  /** The end of the card: the result in words, the status line, and what the models are. */
  buildFoot() {
    this.status = element("p", { class: "g2h-live", "aria-live": "polite" });
    this.state = element("p", { class: "g2h-state", role: "status", tabindex: -1 });
    this.root.append(this.status, this.state);
    const about = this.model.get("about");
    if (about) this.root.append(element("p", { class: "g2h-about" }, about));
  }

  /**
   * Shows the stored example and waits. Changes of `traits` are questions; a view that was created
   * with a question other than `recorded` asks it at once.
   */
  begin(traits, recorded = this.question()) {
    this.isRecorded = true;
    this.mark();
    this.draw();
    this.account();
    onUse(this.root, (target) => this.use(target), this.life.signal);
    this.follow(traits, () => {
      this.isUsed = true;
      this.hear();
    });
    if (JSON.stringify(this.question()) !== JSON.stringify(recorded)) this.hear();
  }

  /** The reader clicked a control or typed. What failed to load is tried again. */
  use(target) {
    if (this.permission.node.contains(target)) return;
    this.isUsed = true;
    this.permission.below(target);
    if (this.permission.isAsking) this.mayLoad(this.lives);
    else if (!this.lives.every((live) => live.isComing)) this.load();
  }

  say(...parts) {
    this.status.replaceChildren(...parts);
  }

  /** Whether the result on the page answers a previous question. */
  get isOld() {
    return this.root.hasAttribute("data-stale");
  }

  /** Shows a status message; a stored result that answers the current question is named as such. */
  report(sentence) {
    const isKept = this.isRecorded && !this.isOld;
    const told = isKept ? `${KEPT} ${sentence}`.trim() : sentence;
    if (this.state.textContent !== told) this.state.textContent = told; // what is new is read aloud
  }

  /** The message of a live result: how long it took, and which words the models do not know. */
  computed(strange) {
    const time = `Computed in ${(this.milliseconds / 1000).toFixed(2)} s, in this page.`;
    return `${time} ${unknownInWords(strange)}`.trim();
  }

  /** Describes the current result in the status line. */
  account() {
    if (this.isRecorded) this.root.dataset.state = "recorded";
    this.state.textContent = this.inWords();
  }

  // ---- ask

  async ask() {
    const question = this.question();
    const key = JSON.stringify(question);
    if (key === this.asked) {
      this.dim(key !== this.root.dataset.question || !this.isAsTyped);
      return;
    }
    const kept = this.stored(question);
    if (kept) {
      this.recall(kept, key);
      return;
    }
    this.dim(true);
    if (!this.admits(this.model.get("text"))) return;
    this.running?.abort(new Error("a newer question came"));
    this.asked = key;
    if (this.isAsTyped) this.refusal.say("");
    this.root.dataset.state = "reading";
    this.report(this.phrases.running);
    this.milliseconds = 0;
    const answer = await this.run(question);
    if (!answer || key !== this.asked) return;
    this.isRecorded = false;
    this.show(answer);
    this.draw();
    this.account();
    this.dim(!this.isAsTyped);
    Object.assign(this.root.dataset, { state: "done", question: key });
  }

  /** Shows a stored answer; nothing is loaded or run. */
  recall(answer, key) {
    this.running?.abort(new Error("the answer is stored"));
    this.asked = null;
    this.permission.withdraw();
    if (this.isAsTyped) this.refusal.say("");
    const isShown = this.isRecorded && this.root.dataset.question === key;
    if (!isShown) {
      this.isRecorded = true;
      this.root.dataset.question = key;
      this.show(answer);
      this.draw();
    }
    this.dim(!this.isAsTyped);
    this.account();
  }

  /** Resolves once the models may be downloaded; until then the reader is asked. */
  mayLoad(lives) {
    const given = this.permission.for(lives, this);
    if (this.permission.isAsking) {
      this.root.dataset.state = "asking";
      this.report(this.isOld ? this.phrases.asking : "");
    }
    return given;
  }

  /** Sets the state of the view; "empty" and "refused" remain while models load. */
  become(state) {
    if (!["empty", "refused"].includes(this.root.dataset.state)) this.root.dataset.state = state;
  }

  /** Loads the models, and reports progress or the reason of a failure. */
  async load() {
    const { loading, ready } = this.phrases;
    const { lives } = this;
    await this.mayLoad(lives);
    if (this.life.signal.aborted) return false;
    const came = lives.map(() => 0);
    const total = lives.reduce((sum, live) => sum + live.size, 0);
    const hears =
      (place) =>
      ({ loading: received }) => {
        if (received === undefined) return;
        came[place] = received;
        this.become("loading");
        const sum = came.reduce((a, b) => a + b, 0);
        this.report(sum ? `${loading} (once per page): ${megabytes(sum, total)} …` : WAITS);
      };
    try {
      await Promise.all(lives.map((live, place) => live.load({ onProgress: hears(place) })));
      if (this.asked) return true;
      this.become("ready");
      this.report(
        lives[0].isBeside
          ? `${ready}. Edit the text to see a new result.`
          : `${ready}. The browser allows no background thread here, so typing may be slow.`,
      );
      return true;
    } catch (error) {
      this.fault(error);
      return false;
    }
  }

  /**
   * Runs a task on the models. Returns the results in the order of the models, or null if a newer
   * question arrived, a model rejected its input, or an error occurred, which is then reported.
   * onProgress receives what the tasks yield.
   */
  async runAll(task, payload, { lives = this.lives, onProgress } = {}) {
    this.running?.abort(new Error("a newer question came"));
    const { signal } = (this.running = new AbortController());
    try {
      if (!(await this.load())) return null;
      signal.throwIfAborted();
      const begin = performance.now();
      const results = await Promise.all(
        lives.map((live) => live.run(task, payload, { signal, onProgress })),
      );
      this.milliseconds += performance.now() - begin;
      const refused = results.find((result) => result.refused)?.refused;
      if (!refused) return results;
      this.turnDown(refused);
    } catch (error) {
      if (signal.aborted) return null;
      if (error.isFromModel) this.turnDown(refusalInWords(error));
      else this.fault(error);
    }
    return null;
  }

  // ---- no answer

  /** No question: the previous result remains, dimmed. */
  rest(sentence) {
    this.running?.abort(new Error("nothing is asked any more"));
    this.asked = null; // so that the same may be asked again
    this.root.dataset.state = "empty";
    this.refusal.say(sentence, false);
    this.report("");
  }

  /** The question cannot be used; the field keeps it. */
  turnDown(sentence) {
    this.running?.abort(new Error("it was turned down"));
    this.asked = null;
    this.root.dataset.state = "refused";
    this.refusal.say([sentence, this.old].filter(Boolean).join(" "));
    this.report("");
  }

  fault(error) {
    this.asked = null;
    this.root.dataset.state = "fault";
    const kept = this.isRecorded ? "The view still shows the stored result." : this.phrases.kept;
    this.state.textContent = `${error.message} ${kept}`.trim();
  }

  dispose() {
    clearTimeout(this.timer);
    this.running?.abort(new Error("the view was closed"));
    super.dispose();
  }
}
