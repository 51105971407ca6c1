// The panel below the field: how long each generated token took, with the KV cache and without.

import { chart, medianOf, timesInWords } from "./code_times.js";
import { element } from "../kit/view.js";

const CHART =
  "Time of each generated token against its position, as measured on this page. When the context is full, the oldest quarter is discarded and the rest is processed again, because its keys and values depend on the discarded tokens. This one step is slow even with the cache.";
const NONE = "Continue the text with the cache and without, or click “Measure both”.";

export class TimesPanel {
  /**
   * @param root the node of the view, whose data- attributes show the medians
   * @param maxLength tokens of a full context
   * @param signal aborted when the view is closed
   */
  constructor(root, maxLength, signal) {
    Object.assign(this, { root, maxLength, signal });
    this.times = { cached: [], plain: [] };
    this.both = element("button", { type: "button" }, "Measure both");
    this.chart = element("div", { class: "g2h-chart" });
    this.timed = element("p", { class: "g2h-timed", "aria-live": "polite" });
    const key = (kind, text) =>
      element("span", { class: "g2h-key" }, element("i", { class: `g2h-${kind}` }), text);
    this.nodes = [
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

  /** A new run, "cached" or "plain": the list to which its times are added. */
  begin(name) {
    this.times[name] = [];
    return this.times[name];
  }

  /** Draws the chart with the next frame, while tokens are still generated. */
  drawSoon() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      if (!this.signal.aborted) this.draw(false);
    });
  }

  draw(isFinal = true) {
    this.chart.replaceChildren(chart(this.times, this.maxLength));
    for (const [name, some] of Object.entries(this.times)) {
      if (some.length) this.root.dataset[name] = medianOf(some).toFixed(3);
      else delete this.root.dataset[name];
    }
    if (isFinal) this.timed.textContent = timesInWords(this.times) || NONE;
  }
}
