// What every view of live models shares: it sleeps until it is touched, then loads its models, runs
// what is asked, lets a newer question end an older one, and says in words where it stands.

import { Refusal, Stage, element } from "../widgets/view.js";
import { Live, megabytes } from "./runtime.js";
import { refusalInWords } from "./pieces.js";
import { onFirstTouch } from "./touch.js";

const WAIT = 150; // milliseconds without a key before what is typed is read

export class LiveStage extends Stage {
  constructor(model, el, name) {
    super(model, el, name);
    this.lives = model.get("live").map((_, place) => new Live(model, place));
    this.sleep = () => {};
  }

  /** Said of the picture while what was asked has no answer. */
  get old() {
    return "";
  }

  /** The examples as buttons; `attributes` gives what each has beyond its label. */
  buildChips(labels, attributes = () => ({})) {
    this.chips = labels.map((label, place) =>
      element(
        "button",
        { type: "button", class: "g2h-chip", ...attributes(place), "data-place": place },
        label,
      ),
    );
    const row = element(
      "div",
      { class: "g2h-chips", role: "group", "aria-label": "examples" },
      ...this.chips,
    );
    this.listen(row, "click", (event) => this.press(event.target.closest("button")));
    return row;
  }

  /** Where it is said, beside the field, that what is typed there cannot be read. */
  buildRefusal(control) {
    this.refusal = new Refusal(control);
    return this.refusal.node;
  }

  /** The end of the card: what is shown in words, and where the machine stands. */
  buildFoot() {
    this.status = element("p", { class: "g2h-live", "aria-live": "polite" });
    this.state = element("p", { class: "g2h-state", role: "status" });
    this.root.append(this.status, this.state);
  }

  say(...parts) {
    this.status.replaceChildren(...parts);
  }

  /** What is typed is read by `type` once no key was pressed for a moment. */
  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.take(), WAIT);
  }

  take() {
    this.taken = this.input.value;
    this.type();
  }

  /**
   * The field is left: what is typed is read at once, unless it was. To draw the same again would
   * take the button away under the press that left the field.
   */
  leave() {
    if (this.input.value !== this.taken) this.take();
  }

  press(chip) {
    if (!chip) return;
    this.input.value = this.model.get("examples")[chip.dataset.place];
    this.take();
  }

  wake() {
    this.sleep = onFirstTouch(this.root, () => this.load());
  }

  /** Loads all models of the view; says so, and says why not. */
  async load() {
    const came = this.lives.map(() => 0);
    const total = this.lives.reduce((sum, live) => sum + live.model.bytes, 0);
    const hears =
      (place) =>
      ({ loading }) => {
        if (loading === undefined) return;
        came[place] = loading;
        this.root.dataset.state = "loading";
        const sum = came.reduce((a, b) => a + b, 0);
        this.state.textContent = `Loading, once for this page: ${megabytes(sum, total)} …`;
      };
    try {
      await Promise.all(this.lives.map((live, place) => live.load({ onProgress: hears(place) })));
      if (this.asked) return true;
      this.root.dataset.state = "ready";
      this.state.textContent = this.lives[0].isBeside
        ? "Ready: type, and it answers."
        : "Ready. This page allows the models no thread of their own: typing may stutter.";
      return true;
    } catch (error) {
      this.fault(error);
      return false;
    }
  }

  /**
   * Runs a task on every model of the view; gives the results in their order, or null where a newer
   * question came first or something went wrong, which is then said. onProgress hears what the tasks
   * yield on their way.
   */
  async runAll(task, payload, { onProgress } = {}) {
    this.running?.abort(new Error("a newer question came"));
    const running = (this.running = new AbortController());
    try {
      if (!(await this.load())) return null;
      const { signal } = running;
      signal.throwIfAborted();
      return await Promise.all(
        this.lives.map((live) => live.run(task, payload, { signal, onProgress })),
      );
    } catch (error) {
      if (running.signal.aborted) return null;
      if (error.isFromModel && this.refusal) this.turnDown(refusalInWords(error.message));
      else this.fault(error);
      return null;
    }
  }

  /** Nothing was asked: the last picture stays, dimmed. */
  rest(sentence) {
    this.running?.abort(new Error("nothing is asked any more"));
    this.root.dataset.state = "empty";
    this.refusal?.say(sentence, false);
    this.state.textContent = this.refusal ? "" : sentence;
  }

  /** What was asked cannot be read; the field keeps it. */
  turnDown(sentence) {
    this.asked = null; // so that the same may be asked again
    this.root.dataset.state = "refused";
    this.refusal.say([sentence, this.old].filter(Boolean).join(" "));
    this.state.textContent = "";
  }

  fault(error) {
    this.asked = null;
    this.root.dataset.state = "fault";
    this.state.textContent = this.isRecorded
      ? `${error.message} What you see is the recorded example.`
      : `${error.message} What you see is the answer before.`;
  }

  dispose() {
    clearTimeout(this.timer);
    this.running?.abort(new Error("the view was closed"));
    this.sleep();
    super.dispose();
  }
}
