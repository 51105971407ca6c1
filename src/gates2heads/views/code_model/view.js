import { narrow } from "../../browser/engine/decoding/sampling.js";
import { logSoftmax } from "../../browser/engine/tensor.js";
import { textOf } from "../../browser/live/pieces.js";
import { LiveStage, STORED } from "../../browser/live/stage.js";
import {
  ahead,
  drawnText,
  inRange,
  inWords,
  keptRange,
  named,
  probOf,
  shade,
  share,
  totals,
} from "./code_tokens.js";
import { chart, inMilliseconds, medianOf, timesInWords } from "./code_times.js";
import { element, field, moreControls } from "../kit/view.js";

const NEXT = 8; // of the likeliest next tokens
const SLIDERS = {
  steps: { name: "tokens ", min: 1, max: 240, step: 1 },
  temperature: { name: "temperature ", min: 0.1, max: 3, step: 0.1 },
  min_p: { name: "min-p ", min: 0, max: 1, step: 0.01 },
  top_p: { name: "top-p ", min: 0.05, max: 1, step: 0.05 },
  top_k: { name: "top-k ", min: 0, max: 100, step: 1 },
  samples: { name: "samples ", min: 1, max: 4, step: 1 },
  seed: { name: "seed ", min: 0, max: 99, step: 1 },
};
const FIRST = ["steps", "temperature", "min_p"]; // the others are folded
const LEGEND =
  "The darker a token, the less probable it was, given the tokens before it (darkest from 12 bits on). Point at a token, tap it or use the arrow keys to see the most probable tokens at its place. Underlined: written by the model. “↵” marks the end of a line.";
const KEYS = "Enter keeps the indentation; Tab leaves the field.";
const CHART =
  "Time of each generated token against its position, as measured in this page. Once the context is full, it slides: three quarters of it are read anew, which takes one long step with the cache, too.";

let views = 0; // on this page, so that each names its tokens in its own way

class CodeModel extends LiveStage {
  constructor(model, el) {
    super(model, el, "code-model");
    this.number = ++views;
    this.vocabulary = model.get("vocabulary");
    const { buffer, byteOffset, byteLength } = model.get("next");
    this.now = {
      ...model.get("recorded"),
      text: this.example(0),
      next: new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength)),
    };
    this.times = { cached: [], plain: [] };
    this.undone = []; // texts before each continuation, with their generated range
    this.written = null; // where generated text stands: [from, to]
    this.chosen = null; // the token that is shown in the panel; null: the next one
    this.build();
    this.begin(["text"], [this.example(0)]);
    this.follow(Object.keys(SLIDERS), () => {
      this.mark();
      this.drawPanel();
    });
    this.follow(["cache"], () => this.mark());
  }

  // ---- what stays for the life of the view

  build() {
    const code = {
      rows: 9,
      lang: "en",
      dir: "ltr",
      wrap: "off",
      autocapitalize: "off",
      class: "g2h-typed",
    };
    this.picture = element("div", {
      class: "g2h-code g2h-dim",
      role: "listbox",
      tabindex: 0,
      "aria-label": "tokens, with their probability",
    });
    this.panel = element("div", {
      class: "g2h-panel g2h-dim",
      role: "group",
      "aria-label": "the token at this place",
    });
    this.candidates = element("div", {
      class: "g2h-candidates",
      role: "group",
      "aria-label": "samples",
      hidden: true,
    });
    this.root.append(
      this.buildField("textarea", code),
      this.refusal.node,
      element("p", { class: "g2h-keys" }, KEYS),
      this.buildChips(this.model.get("labels")),
      this.buildControls(),
      element("div", { class: "g2h-both" }, this.picture, this.panel),
    );
    this.buildFoot();
    this.root.querySelector(".g2h-both").before(this.state); // in sight of who presses
    this.root
      .querySelector(".g2h-both")
      .after(
        this.status,
        this.candidates,
        element("p", { class: "g2h-legend" }, LEGEND),
        ...this.buildTimes(),
      );
    this.listen(this.input, "keydown", (event) => this.indent(event));
    this.listen(this.picture, "keydown", (event) => this.walk(event));
    this.listen(this.picture, "click", (event) => this.point(event.target, true));
    this.listen(
      this.picture,
      "pointerover",
      (event) => event.pointerType === "mouse" && this.point(event.target),
    );
    this.listen(this.picture, "pointerleave", () => this.drawPanel());
  }

  buildControls() {
    this.sliders = {};
    const one = (trait) => {
      const { name, ...bounds } = SLIDERS[trait];
      const control = element("input", { type: "range", ...bounds, "data-trait": trait });
      const output = element("output");
      this.sliders[trait] = { control, output };
      this.listen(control, "input", () => this.put({ [trait]: Number(control.value) }));
      return field(name, control, output);
    };
    const button = (text, press, attributes = {}) => {
      const node = element("button", { type: "button", ...attributes }, text);
      this.listen(node, "click", press);
      return node;
    };
    this.go = button("Continue", () => this.continueText(), { class: "g2h-main" });
    this.halt = button("Stop", () => this.stop(), { disabled: true });
    this.back = button("Undo", () => this.takeBack(), { disabled: true });
    this.keep = element("input", { type: "checkbox", "data-trait": "cache" });
    this.listen(this.keep, "change", () => this.put({ cache: this.keep.checked }));
    return element(
      "div",
      {},
      element("div", { class: "g2h-controls" }, ...FIRST.map(one)),
      moreControls(
        [
          element(
            "div",
            { class: "g2h-controls" },
            ...Object.keys(SLIDERS)
              .filter((name) => !FIRST.includes(name))
              .map(one),
          ),
        ],
        "More ways to sample",
      ),
      element(
        "div",
        { class: "g2h-controls g2h-buttons" },
        this.go,
        this.halt,
        this.back,
        element("label", { class: "g2h-keep" }, this.keep, " KV cache"),
      ),
    );
  }

  buildTimes() {
    this.both = element("button", { type: "button" }, "Measure both");
    this.listen(this.both, "click", () => this.measure());
    this.chart = element("div", { class: "g2h-chart" });
    this.timed = element("p", { class: "g2h-timed", "aria-live": "polite" });
    const key = (kind, text) =>
      element("span", { class: "g2h-key" }, element("i", { class: `g2h-${kind}` }), text);
    return [
      element("p", { class: "g2h-name" }, "Milliseconds per token"),
      element(
        "div",
        { class: "g2h-keyrow" },
        key("cached", "with the KV cache"),
        key("plain", "without"),
        this.both,
      ),
      this.chart,
      this.timed,
      element("p", { class: "g2h-legend" }, CHART),
    ];
  }

  // ---- the field

  /** Code is read as it stands. */
  read(typed) {
    return typed.replaceAll("\r\n", "\n");
  }

  /** An empty text, too, goes on. */
  holds() {
    return true;
  }

  get longest() {
    return 20_000;
  }

  get old() {
    return "The dimmed result below belongs to the previous text.";
  }

  /** A new line begins below the last one, further in after a colon. */
  indent(event) {
    if (
      event.key !== "Enter" ||
      event.isComposing ||
      event.shiftKey ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey
    )
      return;
    const { value, selectionStart } = this.input;
    const line = value.slice(value.lastIndexOf("\n", selectionStart - 1) + 1, selectionStart);
    const blanks = /^[ \t]*/.exec(line)[0] + (/:\s*$/.test(line) ? "    " : "");
    if (!blanks) return;
    event.preventDefault();
    // The old command alone leaves the browser's own undo intact.
    if (document.execCommand?.("insertText", false, `\n${blanks}`)) return;
    this.input.setRangeText(`\n${blanks}`, selectionStart, this.input.selectionEnd, "end");
    this.later();
  }

  type() {
    const [before, after] = [this.model.get("text"), this.read(this.input.value)];
    this.written = keptRange(this.written, before, after);
    if (before !== after) this.forget();
    super.type();
  }

  /** The text is another one: what was written before it can neither be taken back nor chosen. */
  forget() {
    this.undone = [];
    this.back.disabled = true;
    this.candidates.hidden = true;
  }

  // ---- what is asked

  question() {
    return [this.model.get("text")];
  }

  /** How distributions are narrowed, as the engine wants it. */
  get way() {
    const get = (trait) => this.model.get(trait);
    const [k, p, least] = [get("top_k"), get("top_p"), get("min_p")];
    return {
      temperature: get("temperature"),
      topK: k || null,
      topP: p < 1 ? p : null,
      minP: least > 0 ? least : null,
    };
  }

  async run([text]) {
    const found = await this.runAll("code", { text });
    return found?.[0];
  }

  show(found) {
    this.now = found;
    this.chosen = null;
  }

  inWords() {
    if (this.isRecorded) return STORED;
    return this.said?.text === this.model.get("text") ? this.said.sentence : "";
  }

  // ---- to continue

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

  /** Reads what stands in the field, if the picture shows something else; gives the text, or null. */
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
    this.candidates.hidden = true;
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
    this.append(text, first, isSame ? "Both ways wrote the same tokens." : "");
  }

  /** Whether the field still holds the text that was continued: what is typed meanwhile wins. */
  isStill(text) {
    return this.read(this.input.value) === text && !this.life.signal.aborted;
  }

  /** One continuation: {tokens, added, ended}; null where something newer came. */
  async write(text, { cache, seed, of }) {
    const tokens = [];
    const times = (this.times[cache ? "cached" : "plain"] = []);
    this.isRecorded = false;
    this.draw();
    this.root.dataset.state = "writing";
    const steps = this.model.get("steps");
    const onProgress = (told) => {
      if (told.piece === undefined || this.stopped) return;
      tokens.push(told);
      times.push({ position: told.position, milliseconds: told.milliseconds });
      this.picture.lastChild.before(
        this.tokenNode(told, this.picture.children.length - 1, true, !text && tokens.length === 1),
      );
      this.picture.scrollTop = this.picture.scrollHeight;
      this.report(
        `Generating ${of}token ${tokens.length} of ${steps}, ${inMilliseconds(told.milliseconds)} per token …`,
      );
      this.drawTimesSoon();
    };
    const payload = { text, steps, seed, cache, ...this.way };
    const found = await this.runAll("continue", payload, { onProgress });
    this.drawTimes();
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
    this.go.disabled = this.both.disabled = isBusy;
    this.halt.disabled = !isBusy;
    this.back.disabled = isBusy || !this.undone.length;
    this.picture.toggleAttribute("data-writing", isBusy);
    if (!isBusy && this.root.dataset.state === "writing") this.root.dataset.state = "done";
  }

  /** A continuation becomes part of the text. */
  append(text, { tokens, added, ended }, more = "") {
    this.undone.push({ text, written: this.written });
    const from = this.written?.[1] === text.length ? this.written[0] : text.length;
    const count = `${tokens.length} ${tokens.length === 1 ? "token" : "tokens"}`;
    const how = this.stopped ? "Stopped after" : "The model wrote";
    const end = ended ? ", and then the end of the file" : "";
    const sentence = [`${how} ${count}${end}.`, more].filter(Boolean).join(" ");
    this.replaceText(text + added, [from, text.length + added.length], sentence);
  }

  takeBack() {
    const before = this.undone.pop();
    if (!before) return;
    this.put({ seed: (this.model.get("seed") + 1) % (SLIDERS.seed.max + 1) });
    this.candidates.hidden = true;
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
    this.root.dataset.question = ""; // the tokens that were drawn are read anew
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
    const cards = all.map((one, at) => {
      const use = element("button", { type: "button" }, `Use sample ${at + 1}`);
      this.listen(use, "click", () => {
        this.candidates.hidden = true;
        if (this.isStill(text)) this.append(text, one);
      });
      const { bits, characters, count } = totals(
        [""],
        one.tokens.filter(({ piece }) => piece !== "<eos>"),
      );
      const told = `${count} tokens, ${characters ? (bits / characters).toFixed(2) : "–"} bits per character`;
      return element(
        "div",
        { class: "g2h-candidate" },
        element(
          "pre",
          { tabindex: 0, role: "region", "aria-label": `sample ${at + 1}` },
          one.added,
        ),
        element("p", {}, element("span", {}, told), use),
      );
    });
    this.candidates.replaceChildren(...cards);
    this.candidates.hidden = false;
    this.report(
      `${all.length} samples of the same distribution. Choose one, or change the settings.`,
    );
  }

  // ---- drawing

  /** The controls show what is asked. */
  mark() {
    for (const [trait, { control, output }] of Object.entries(this.sliders)) {
      const value = this.model.get(trait);
      const digits = { temperature: 1, top_p: 2, min_p: 2 }[trait] ?? 0;
      control.value = value;
      const isAll = { top_k: 0, top_p: 1, min_p: 0 }[trait] === value;
      output.textContent = isAll
        ? trait === "top_k"
          ? "all"
          : `${value} (off)`
        : value.toFixed(digits);
      control.setAttribute("aria-valuetext", output.textContent);
    }
    this.keep.checked = this.model.get("cache");
    super.mark();
  }

  draw() {
    const { text, unread, tokens } = this.now;
    const generated = inRange(unread, tokens, text, this.written);
    const nodes = tokens.map((one, at) =>
      this.tokenNode(one, at, generated[at], !at && !unread.length),
    );
    const rest = unread.length
      ? [element("span", { class: "g2h-unread" }, textOf(unread, true))]
      : [];
    this.end = element(
      "span",
      {
        class: "g2h-token g2h-next",
        role: "option",
        id: this.idOf(tokens.length),
        "data-at": tokens.length,
        "aria-label": "the next token",
      },
      "▮",
    );
    this.nodes = [...nodes, this.end];
    this.picture.replaceChildren(...rest, ...this.nodes);
    if (generated.at(-1)) this.picture.scrollTop = this.picture.scrollHeight;
    const { count, bits, characters } = totals(unread, tokens);
    Object.assign(this.root.dataset, { count, bits, characters, unread: unread.length });
    this.say(inWords(unread, tokens));
    this.chosen =
      this.chosen !== null && this.chosen < this.nodes.length ? this.chosen : tokens.length;
    this.drawPanel();
    this.drawTimes();
  }

  idOf(at) {
    return `g2h-code-${this.number}-${at}`;
  }

  tokenNode({ piece, bits }, at, isGenerated, isFirst) {
    const parts = piece === "<eos>" ? [["⏹", ""]] : drawnText(piece, isFirst);
    const attributes = {
      class: isGenerated ? "g2h-token g2h-generated" : "g2h-token",
      role: "option",
      id: this.idOf(at),
      "data-at": at,
      "data-bits": bits,
      style: `--g2h-bits: ${(100 * shade(bits)).toFixed(0)}%`,
      "aria-label": `${named(piece)}, probability ${share(probOf(bits))}${isGenerated ? ", generated" : ""}`,
    };
    const marks = parts.flatMap(([sign, some]) => (sign ? [element("i", {}, sign), some] : [some]));
    return element("span", attributes, ...marks);
  }

  /** A token was pointed at, or pressed: then it stays. */
  point(target, stays = false) {
    const node = target.closest?.(".g2h-token");
    if (!node || this.picture.hasAttribute("data-writing")) return;
    const at = Number(node.dataset.at);
    if (stays) this.chosen = at;
    this.drawPanel(at);
  }

  walk(event) {
    const last = this.nodes.length - 1;
    const now = this.chosen ?? last;
    const to = {
      ArrowLeft: now - 1,
      ArrowRight: now + 1,
      Home: 0,
      End: last,
      ArrowUp: this.lineAway(-1),
      ArrowDown: this.lineAway(1),
    }[event.key];
    if (to === undefined || this.picture.hasAttribute("data-writing")) return;
    event.preventDefault();
    this.chosen = Math.min(Math.max(to, 0), last);
    this.nodes[this.chosen].scrollIntoView({ block: "nearest" });
    this.drawPanel();
  }

  /** The token that stands above or below the chosen one. */
  lineAway(step) {
    const here = this.nodes[this.chosen ?? this.nodes.length - 1].getClientRects()[0];
    if (!here) return this.chosen;
    const other = this.nodes
      .map((node, at) => ({ at, box: node.getClientRects()[0] }))
      .filter(({ box }) => box && step * (box.top - here.top) > here.height / 2);
    const rows = other.map(({ box }) => step * box.top);
    const near = Math.min(...rows);
    const line = other.filter(({ box }) => step * box.top - near < here.height / 2);
    const apart = ({ box }) => Math.abs(box.left - here.left);
    return line.length
      ? line.reduce((best, one) => (apart(one) < apart(best) ? one : best)).at
      : (this.chosen ?? 0);
  }

  drawPanel(at = this.chosen) {
    const { tokens } = this.now;
    this.nodes.forEach((node, place) => {
      if (place === this.chosen) node.setAttribute("aria-selected", "true");
      else if (node.hasAttribute("aria-selected")) node.removeAttribute("aria-selected");
      node.toggleAttribute("data-shown", place === at);
    });
    this.picture.setAttribute("aria-activedescendant", this.idOf(this.chosen));
    this.panel.dataset.at = at;
    this.panel.replaceChildren(
      ...(at < tokens.length ? this.tokenPanel(tokens[at], at) : this.nextPanel()),
    );
  }

  tokenPanel({ piece, bits, top }, at) {
    const prob = probOf(bits);
    const isListed = top.some(([one]) => one === piece);
    const rows = top.map(([one, its]) => this.row(one, its, its, one === piece));
    if (!isListed) rows.push(this.row(piece, prob, prob, true));
    return [
      element("p", { class: "g2h-name" }, `token ${at + 1}: ${named(piece)}`),
      element("p", { class: "g2h-told" }, `probability ${share(prob)}, ${bits.toFixed(1)} bits`),
      ...rows,
    ];
  }

  nextPanel() {
    const logProbs = logSoftmax(this.now.next);
    const narrowed = narrow(logProbs, this.way);
    const { kept, best } = ahead(logProbs, narrowed, this.vocabulary, NEXT);
    this.panel.dataset.kept = kept;
    const tokens = `${kept.toLocaleString("en")} of ${logProbs.length.toLocaleString("en")} tokens can be drawn`;
    return [
      element("p", { class: "g2h-name" }, "the next token"),
      element("p", { class: "g2h-told" }, tokens),
      ...best.map(({ piece, prob, drawn }) => this.row(piece, drawn, prob, false)),
    ];
  }

  /** A token with the probability of being drawn; a tick is at the model's own. */
  row(piece, drawn, prob, isActual) {
    const attributes = {
      class: "g2h-row",
      "data-piece": piece,
      "data-prob": prob,
      "data-drawn": drawn,
      "data-actual": isActual && "",
      "data-moved": Math.abs(drawn - prob) > 0.0005 && "",
      style: `--g2h-share: ${(100 * drawn).toFixed(2)}%; --g2h-own: ${(100 * prob).toFixed(2)}%`,
    };
    const name = element("span", {}, isActual ? `▸ ${named(piece)}` : named(piece));
    return element("p", attributes, name, element("span", {}, share(drawn)));
  }

  drawTimesSoon() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      if (!this.life.signal.aborted) this.drawTimes(false);
    });
  }

  drawTimes(isFinal = true) {
    const { times } = this;
    this.chart.replaceChildren(chart(times, this.model.get("max_length")));
    for (const [name, some] of Object.entries(times)) {
      if (some.length) this.root.dataset[name] = medianOf(some).toFixed(3);
      else delete this.root.dataset[name];
    }
    if (!isFinal) return;
    this.timed.textContent =
      timesInWords(times) ||
      "Continue the text with the cache and without, or press “Measure both”.";
  }
}

export default {
  render({ model, el }) {
    const view = new CodeModel(model, el);
    return () => view.dispose();
  },
};
