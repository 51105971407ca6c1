import { counted } from "../kit/shares.js";
import { Stage, choice, element, field, moreControls } from "../kit/view.js";
import {
  BITS,
  axis,
  bytesPerToken,
  cacheInWords,
  decodingStep,
  formatInWords,
  groupsWithin,
  inFull,
  kvCacheBytes,
  originInWords,
  parametersOf,
  sharingInWords,
} from "./sizes.js";
import { sizeRow, stepRow, sumInWords } from "./rows.js";
import {
  FORMATS,
  LEAST,
  MEASURED,
  MOST,
  NAMES,
  NUMBERS,
  STEPS,
  TRAITS,
  nearest,
  valueInWords,
} from "./steps.js";

const HEADS = [
  "batch",
  "bytes read per token",
  "MACs per token",
  "products, limited by",
  "attention, limited by",
  "minimum time per step",
  "maximum tokens per second",
];
const BOUND =
  "The time is a lower bound. Products and attention each take at least as long as reading and as arithmetic; they alternate, so their times add up.";
const COUNTED = [
  "A step reads each parameter once for the whole batch and the cache of every sequence, and generates one token for each sequence.",
  "If the embedding table is separate, only one of its rows is read for each token; the others are not counted.",
  "MACs are multiply–accumulate operations: one for each parameter, and two for each query head, head dimension and cached position.",
  "Parameters and cache have the same number format.",
  "Activations and the scales of int8 and int4 are not counted, and the rate of arithmetic does not change with the number format.",
].join(" ");

class CacheSizes extends Stage {
  constructor(model, el) {
    super(model, el, "cache-sizes");
    this.models = model.get("models");
    this.wish = model.get("kv_heads"); // what the reader asked for; null: as many as query heads
    this.given = null; // the key–value heads that the slider of the query heads brought
    this.buildControls();
    this.buildPicture();
    this.buildStep();
    this.follow(TRAITS, () => this.draw());
    this.draw();
  }

  /** The setting, within bounds. */
  read() {
    const setting = { number_format: this.model.get("number_format") };
    if (!(setting.number_format in BITS)) setting.number_format = "bf16";
    for (const name of NUMBERS) {
      const value = Number(this.model.get(name)) || 0;
      const whole = MEASURED.includes(name) ? value : Math.round(value);
      setting[name] = Math.min(Math.max(whole, LEAST[name] ?? 1), MOST[name]);
    }
    setting.kv_heads = groupsWithin(setting.heads, setting.kv_heads);
    return setting;
  }

  // ---- what stays for the life of the view

  buildControls() {
    this.sliders = Object.fromEntries(NUMBERS.map((name) => [name, this.slider(name)]));
    this.format = choice(FORMATS.map(formatInWords));
    this.listen(this.format, "change", () =>
      this.put({ number_format: FORMATS[this.format.selectedIndex] }),
    );
    this.chips = this.models.map((one) => {
      const chip = element("button", { type: "button", class: "g2h-chip" }, one.name);
      this.listen(chip, "click", () => this.put(this.stateOf(one)));
      return chip;
    });
    const row = { class: "g2h-chips", role: "group", "aria-label": "Load a model" };
    const first = this.controls("kv_heads", "length", "batch");
    first.append(field("number format", this.format));
    this.root.append(
      element("div", row, element("span", {}, "Load a model"), ...this.chips),
      first,
      moreControls(
        [this.controls("layers", "heads", "head_width", "window")],
        "More controls: layers, query heads, head width, sliding window",
      ),
    );
  }

  /** A row of sliders. */
  controls(...names) {
    const fields = names.map((name) =>
      field(NAMES[name], this.sliders[name].control, this.sliders[name].output),
    );
    return element("div", { class: "g2h-controls" }, ...fields);
  }

  slider(name) {
    const control = element("input", { type: "range", min: 0, step: 1, "data-trait": name });
    this.listen(control, "input", () => {
      const value = STEPS[name](this.read())[Number(control.value)];
      if (name === "heads") this.giveHeads(value);
      else this.put({ [name]: value });
    });
    return { control, output: element("output") };
  }

  /** With other query heads, as many key–value heads as were asked for and as divide them. */
  giveHeads(heads) {
    const { wish } = this;
    this.given = groupsWithin(heads, wish ?? heads);
    const kv_heads = this.given;
    this.put({ heads, kv_heads }); // one after the other: between the two, neither is meant
    Object.assign(this, { wish, given: kv_heads });
  }

  /** The traits that show a model. */
  stateOf({ layers, heads, kv_heads, head_width, max_length, window }) {
    return { layers, heads, kv_heads, head_width, length: max_length, window };
  }

  buildPicture() {
    this.said = element("p", { class: "g2h-live", "aria-live": "polite" });
    this.rows = element("div", { class: "g2h-rows", role: "list" });
    this.ticks = element("div", { class: "g2h-ticks", "aria-hidden": "true" });
    const key = (kind) => element("i", { class: `g2h-key g2h-${kind}` });
    const legend = element(
      "p",
      { class: "g2h-legend" },
      key("cache"),
      " KV cache of the whole batch, ",
      key("parameters"),
      " parameters. The scale is logarithmic: each grid line is 1,000 times the one before it. The published models are shown at their maximum context, with your batch and number format. 1 kB is 1,000 bytes.",
    );
    this.root.append(this.said, this.rows, this.ticks, legend);
  }

  buildStep() {
    this.step = element("tbody");
    const head = element("tr", {}, ...HEADS.map((text) => element("th", { scope: "col" }, text)));
    const name = "one decoding step";
    this.sum = element("p", { class: "g2h-sum" });
    this.root.append(
      element("p", { class: "g2h-name" }, "One decoding step, with the cache"),
      this.controls("bandwidth", "arithmetic"),
      this.sum,
      element(
        "div",
        { class: "g2h-scroll", tabindex: 0, role: "group", "aria-label": name },
        element("table", {}, element("thead", {}, head), this.step),
      ),
      element("p", { class: "g2h-legend" }, BOUND),
      moreControls([element("p", { class: "g2h-legend" }, COUNTED)], "What is counted"),
    );
  }

  // ---- drawing

  draw() {
    const setting = this.read();
    if (setting.kv_heads !== this.given) {
      this.wish = setting.kv_heads === setting.heads ? null : setting.kv_heads;
      this.given = null;
    }
    const found = parametersOf(setting, this.models);
    const step = decodingStep(setting, found);
    this.mark(setting);
    this.drawRows(setting, found);
    this.drawStep(setting, found, step);
    const said = [cacheInWords(setting), sharingInWords(setting), originInWords(found)];
    this.said.replaceChildren(...said.map((text) => element("span", {}, `${text} `)));
    Object.assign(this.root.dataset, {
      cache: step.cacheBytes,
      perToken: bytesPerToken(setting),
      parameters: found.parameters,
      bytes: step.bytesPerToken,
      macs: step.macsPerToken,
      intensity: step.intensity,
      seconds: step.leastSeconds,
    });
    this.settle(() => this.read());
  }

  /** The controls show the setting; a value between two steps is at the nearer one. */
  mark(setting) {
    for (const [name, { control, output }] of Object.entries(this.sliders)) {
      const steps = STEPS[name](setting);
      control.max = steps.length - 1;
      control.value = nearest(steps, setting[name]);
      control.disabled = steps.length === 1;
      output.textContent = valueInWords(name, setting[name]);
      control.setAttribute("aria-valuetext", output.textContent);
    }
    this.format.selectedIndex = FORMATS.indexOf(setting.number_format);
    this.models.forEach((one, at) => {
      const isShown = Object.entries(this.stateOf(one)).every(([k, v]) => setting[k] === v);
      this.chips[at].setAttribute("aria-pressed", String(isShown));
    });
  }

  drawRows(setting, { parameters }) {
    const { batch, number_format } = setting;
    const byteOf = (count) => (count * BITS[number_format]) / 8;
    const rows = [
      {
        name: "your setting",
        cache: kvCacheBytes(setting),
        parameters: byteOf(parameters),
        own: true,
      },
      ...this.models.map((one) => ({
        name: one.name,
        source: one.source,
        at: `${counted(one.max_length, "token")}${one.window ? `, window ${inFull(one.window)}` : ""}`,
        cache: kvCacheBytes({ ...one, length: one.max_length, batch, number_format }),
        parameters: one.parameters === null ? null : byteOf(one.parameters),
      })),
    ];
    const sizes = rows.flatMap((row) => [row.cache, row.parameters]).filter(Boolean);
    const { share, ticks } = axis(sizes);
    const percent = (part) => `${(100 * part).toFixed(2)}%`;
    this.root.style.setProperty("--g2h-grid", percent(1 / (ticks.length - 1)));
    this.rows.replaceChildren(...rows.map((row) => sizeRow(row, (size) => percent(share(size)))));
    this.ticks.replaceChildren(
      ...ticks.map(({ name, at }) => element("span", { style: `left: ${percent(at)}` }, name)),
    );
  }

  drawStep(setting, found, step) {
    const { batch } = setting;
    const batches = batch === 1 ? [1] : [1, batch];
    this.step.replaceChildren(
      ...batches.map((size) => stepRow(size, decodingStep({ ...setting, batch: size }, found))),
    );
    const said = sumInWords(setting, step, found.lookedUp);
    this.sum.replaceChildren(...said.map((text) => element("span", {}, text)));
  }
}

export default {
  render({ model, el }) {
    const view = new CacheSizes(model, el);
    return () => view.dispose();
  },
};
