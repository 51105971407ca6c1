import { Stage, element, field } from "../kit/view.js";
import { againstCompute, againstSize } from "./charts.js";
import {
  answerInWords,
  answerOf,
  countInWords,
  optimumOf,
  powerInWords,
  warningOf,
} from "./law.js";

const TRAITS = ["compute", "parameters"];
const STEP = 0.05; // of a slider, in decimal orders of magnitude
const NAMES = {
  compute: "budget of compute, in floating-point operations ",
  parameters: "model size, in parameters ",
};
const LEGEND = [
  ["fitted", "a run to which the law was fitted"],
  ["predicted", "a larger run, trained after the prediction"],
  ["yours", "your run"],
];

class ScalingExplorer extends Stage {
  constructor(model, el) {
    super(model, el, "scaling-explorer");
    this.data = Object.fromEntries(
      ["runs", "law", "bounds"].map((name) => [name, model.get(name)]),
    );
    this.buildControls();
    this.buildPictures();
    this.follow(TRAITS, () => this.draw());
    this.draw();
  }

  /** Budget and size as decimal logarithms, within bounds. */
  read() {
    return Object.fromEntries(
      TRAITS.map((name) => {
        const [low, high] = this.data.bounds[name];
        const value = Number(this.model.get(name));
        return [name, Math.min(Math.max(Number.isFinite(value) ? value : low, low), high)];
      }),
    );
  }

  buildControls() {
    this.sliders = Object.fromEntries(TRAITS.map((name) => [name, this.slider(name)]));
    this.optimal = element("button", { type: "button" }, "Best size for this budget");
    this.listen(this.optimal, "click", () => {
      const { parameters } = optimumOf(this.data.law, 10 ** this.read().compute);
      this.put({ parameters: Number(Math.log10(parameters).toFixed(3)) });
    });
    this.root.append(
      element(
        "div",
        { class: "g2h-controls" },
        ...TRAITS.map((name) =>
          field(NAMES[name], this.sliders[name].control, this.sliders[name].output),
        ),
        this.optimal,
      ),
    );
  }

  slider(name) {
    const [low, high] = this.data.bounds[name];
    const control = element("input", {
      type: "range",
      min: 0,
      max: Math.round((high - low) / STEP),
      step: 1,
      "data-trait": name,
    });
    this.listen(control, "input", () =>
      this.put({ [name]: Number((low + STEP * Number(control.value)).toFixed(2)) }),
    );
    return { control, output: element("output") };
  }

  buildPictures() {
    this.said = element("p", { class: "g2h-live", "aria-live": "polite" });
    this.warning = element("p", { class: "g2h-warning" });
    this.charts = [
      "Loss (nats per token) against compute",
      "Loss against model size, at this budget",
    ].map((name) => {
      const box = element("div", { class: "g2h-chart" });
      this.pictures ??= element("div", { class: "g2h-charts" });
      this.pictures.append(element("div", {}, element("p", { class: "g2h-name" }, name), box));
      return box;
    });
    const roles = new Set(this.data.runs.map((run) => run.role));
    const keys = LEGEND.filter(([role]) => roles.has(role)).map(([role, text]) =>
      element("span", {}, element("i", { class: `g2h-key g2h-${role}` }), text),
    );
    const lines = [
      ["size", "the law for one model size"],
      ["best", "the law for the best size"],
      ["budget", "the law at this budget"],
    ].map(([name, text]) =>
      element("span", {}, element("i", { class: `g2h-key g2h-${name}` }), text),
    );
    this.root.append(
      this.said,
      this.warning,
      this.pictures,
      element("p", { class: "g2h-legend" }, ...keys, ...lines),
    );
  }

  draw() {
    const { compute, parameters } = this.read();
    const { law, runs } = this.data;
    const [budget, size] = [10 ** compute, 10 ** parameters];
    const answer = answerOf(law, budget, size);
    const said = answerInWords(answer, size);
    this.said.replaceChildren(...said.map((text) => element("span", {}, `${text} `)));
    this.warning.textContent = warningOf(runs, budget, size);
    this.sliders.compute.output.textContent = powerInWords(budget);
    this.sliders.parameters.output.textContent = countInWords(size);
    for (const [name, { control, output }] of Object.entries(this.sliders)) {
      const value = { compute, parameters }[name];
      control.value = Math.round((value - this.data.bounds[name][0]) / STEP);
      control.setAttribute("aria-valuetext", output.textContent);
    }
    const shown = { compute, parameters, answer };
    const [optimum, yours] = said;
    const pictures = [
      againstCompute(
        this.data,
        shown,
        `Loss against compute: ${runs.length} runs and the fitted law. ${optimum}`,
      ),
      againstSize(this.data, shown, `Loss against model size at this budget. ${optimum} ${yours}`),
    ];
    this.charts.forEach((box, at) => box.replaceChildren(pictures[at]));
    Object.assign(this.root.dataset, {
      loss: answer.loss,
      tokens: answer.tokens,
      bestParameters: answer.best.parameters,
      bestTokens: answer.best.tokens,
      bestLoss: answer.best.loss,
    });
    this.settle(() => this.read());
  }
}

export default {
  render({ model, el }) {
    const view = new ScalingExplorer(model, el);
    return () => view.dispose();
  },
};
