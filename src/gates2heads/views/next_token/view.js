import { tidy } from "../../browser/live/pieces.js";
import { LiveStage, STORED } from "../../browser/live/stages/stage.js";
import {
  bitsOf,
  counted,
  extended,
  named,
  perplexity,
  probability,
  sum,
  surprises,
  told,
  wentOn,
} from "./foresight.js";
import { tokenPanel } from "./token_panel.js";
import { choice, element, field, inside } from "../kit/view.js";

const LONGEST = 2000; // characters; the models' own limits are in tokens
const WHOLE = 60; // tokens: as many as there is room for
const LEGEND =
  "Bar and number: the probability with which the token is sampled. Orange tick: the model's own probability, where it differs. Click a token to append it. “·” marks a token that continues a word.";
const ASKED = ["text", "temperature", "top_k", "top_p", "open_ended"];
const GOES_ON =
  "A full stop does not end a caption; only <eos>, shown as “end”, does. Few training captions have a second sentence.";
const SMALL =
  "Upper and lower case are different tokens here, and nearly every caption begins with a capital: type “A dog runs”, not “a dog runs”.";

class NextToken extends LiveStage {
  constructor(model, el) {
    super(model, el, "next-token");
    this.columns = model.get("columns");
    this.now = model.get("recorded");
    this.build();
    this.begin(ASKED, [this.example(0), 1, 0, 1, false]);
    this.follow(["source"], () => this.mark());
  }

  // ---- what stays for the life of the view

  build() {
    const { model } = this;
    this.panels = element("div", { class: "g2h-panels g2h-dim" });
    this.table = element("div", {
      class: "g2h-surprise g2h-dim",
      tabindex: 0,
      role: "group",
      "aria-label": "surprise of each word",
    });
    this.table.hidden = !model.get("surprise");
    this.root.append(
      this.buildField("textarea", { lang: "en" }),
      this.refusal.node,
      this.buildChips(model.get("labels")),
      this.buildControls(),
      this.panels,
      element("p", { class: "g2h-legend" }, LEGEND),
      this.table,
    );
    this.buildFoot();
    this.panels.before(this.state); // in sight of who types
    this.listen(this.panels, "click", (event) => this.write(event.target.closest("button")));
  }

  buildControls() {
    const slider = (trait, least, most, step) => {
      const bounds = { min: least, max: most, step, "data-trait": trait };
      const control = element("input", { type: "range", ...bounds });
      const output = element("output");
      this.listen(control, "input", () => this.put({ [trait]: Number(control.value) }));
      return { control, output };
    };
    this.sliders = {
      temperature: slider("temperature", 0.1, 3, 0.1),
      top_k: slider("top_k", 0, 100, 1),
      top_p: slider("top_p", 0.05, 1, 0.05),
    };
    const name = { temperature: "temperature ", top_k: "top-k ", top_p: "top-p " };
    const fields = Object.entries(this.sliders).map(([trait, { control, output }]) =>
      field(name[trait], control, output),
    );
    this.source = choice(this.columns.map((column) => column.name));
    this.one = element("button", { type: "button", class: "g2h-main" }, "Sample one token");
    this.whole = element("button", { type: "button" }, "Sample to the end");
    this.open = element("input", { type: "checkbox", "data-trait": "open_ended" });
    this.listen(this.open, "change", () => this.put({ open_ended: this.open.checked }));
    const barred = this.model.get("barred");
    const ends = barred.map((piece) => `“${named(piece)}”`).join(" ");
    const open = element("label", { class: "g2h-open" }, this.open, ` forbid ${ends}`);
    open.hidden = !barred.length;
    this.listen(this.source, "change", () => this.put({ source: this.source.selectedIndex }));
    this.listen(this.one, "click", () => this.drawOn(1));
    this.listen(this.whole, "click", () => this.drawOn(WHOLE));
    return element(
      "div",
      {},
      element("div", { class: "g2h-controls" }, ...fields),
      element(
        "div",
        { class: "g2h-controls g2h-drawing" },
        field("model", this.source),
        this.one,
        this.whole,
        open,
      ),
    );
  }

  // ---- what is asked

  get old() {
    return "The dimmed result below belongs to the previous text.";
  }

  get longest() {
    return LONGEST;
  }

  /** Before the first word, too, there is something to expect. */
  holds() {
    return true;
  }

  question() {
    return ASKED.map((trait) => this.model.get(trait));
  }

  /** How distributions are narrowed, as the tasks want it. */
  get way() {
    const [, temperature, k, p, isOpen] = this.question();
    const barred = isOpen ? this.model.get("barred") : [];
    return { temperature, topK: k || null, topP: p < 1 ? p : null, barred };
  }

  /** A state without a text is a way to decode: the first example is continued in that way. */
  async demonstrate(state) {
    super.demonstrate(state);
    if ("text" in state) return;
    this.input.value = this.example(0);
    this.take();
    await this.drawOn(WHOLE);
  }

  /** A token that is shown was clicked. */
  write(button) {
    const text = button && extended(this.model.get("text"), button.dataset.piece);
    if (text) this.put({ text });
  }

  run([text]) {
    return this.runAll("ahead", { text: tidy(text), ...this.way });
  }

  show(results) {
    this.now = this.columns.map(({ live, place }) => results[live].columns[place]);
  }

  inWords() {
    if (this.isRecorded) {
      return STORED;
    }
    return this.drew?.text === tidy(this.model.get("text")) ? this.drew.said : "";
  }

  /** Lets the chosen model continue the text. */
  async drawOn(steps) {
    const { live, place, name } =
      this.columns[inside(this.model.get("source"), this.columns.length)];
    const seed = this.model.get("seed");
    const text = tidy(this.input.value);
    clearTimeout(this.timer);
    this.put({ seed: seed + 1 });
    this.asked = JSON.stringify(this.question());
    const payload = { text, place, steps, seed, ...this.way };
    const found = await this.runAll("draw", payload, { lives: [this.lives[live]] });
    if (!found || tidy(this.input.value) !== text) return; // what was typed meanwhile wins
    const [drawn] = found;
    const words = drawn.pieces.map(named).join(" ");
    const on = !drawn.silent && wentOn(text, drawn.pieces) ? ` ${GOES_ON}` : "";
    const said = drawn.silent
      ? `${name} has no continuation: it keeps no trigram that begins with these two tokens.`
      : `${name} generated: ${words}${drawn.ended ? ", which ends the caption." : "."}${on}`;
    this.input.value = tidy(drawn.text);
    this.drew = { text: this.input.value, said };
    this.asked = null;
    this.take();
  }

  // ---- drawing

  /** The controls show what is asked. */
  mark() {
    for (const [trait, { control, output }] of Object.entries(this.sliders)) {
      const value = this.model.get(trait);
      control.value = value;
      output.textContent =
        trait === "top_k" && !value
          ? "all"
          : trait === "top_k"
            ? value
            : value.toFixed(trait === "top_p" ? 2 : 1);
      control.setAttribute("aria-valuetext", output.textContent);
    }
    this.source.selectedIndex = inside(this.model.get("source"), this.columns.length);
    this.open.checked = this.model.get("open_ended");
    super.mark();
  }

  draw() {
    this.panels.replaceChildren(
      ...this.columns.map(({ name }, at) => tokenPanel(name, this.now[at])),
    );
    this.drawSurprise();
  }

  drawSurprise() {
    const { now } = this;
    const bits = now.map((column) => column.bits.map(bitsOf));
    const words = surprises(now);
    const cells = (values, write = told) =>
      values.map((value) => element("td", { "data-value": value }, write(value)));
    const row = (name, attributes, ...more) =>
      element("tr", attributes, element("th", { scope: "row" }, name), ...more);
    const head = element(
      "tr",
      {},
      element("th", { scope: "col" }, "surprise of each word (bits)"),
      ...this.columns.map(({ name }) => element("th", { scope: "col" }, name)),
    );
    const totals = bits.map(sum);
    const ends = now.map(({ endBits }) => bitsOf(endBits));
    this.table.replaceChildren(
      element(
        "table",
        {},
        element("thead", {}, head),
        element(
          "tbody",
          {},
          ...words.map(({ text, bits: some, tokens }) =>
            row(
              tokens > 1 ? `${text} (${counted(tokens, "token")})` : text,
              { class: "g2h-word" },
              ...cells(some),
            ),
          ),
          row("total", { class: "g2h-sum" }, ...cells(totals)),
          row(
            `perplexity so far, per token (${counted(bits[0].length, "token")})`,
            { class: "g2h-perplexity" },
            ...bits.map((some) => element("td", {}, perplexity(some))),
          ),
          row("<eos>, if the caption ended here", { class: "g2h-ending" }, ...cells(ends)),
          row(
            `perplexity with <eos> (${counted(bits[0].length + 1, "token")})`,
            { class: "g2h-whole" },
            ...bits.map((some, at) => element("td", {}, perplexity([...some, ends[at]]))),
          ),
        ),
      ),
    );
    if (!this.model.get("surprise")) return;
    const best = this.columns
      .filter((_, at) => totals[at] === Math.min(...totals))
      .map(({ name }) => name);
    const least = Math.min(...totals);
    const said = !bits[0].length
      ? "The text is empty: these are the tokens with which a caption may begin. The last two rows of the table belong to a caption without any word."
      : least === Infinity
        ? "No model assigns this text a probability above 0."
        : `Least surprised: ${best.join(" and ")}, ${told(least)} bits, a probability of ${probability(-least)}.`;
    this.say(/^\p{Ll}/u.test(words[0]?.text ?? "") ? `${said} ${SMALL}` : said);
  }
}

export default {
  render({ model, el }) {
    const view = new NextToken(model, el);
    return () => view.dispose();
  },
};
