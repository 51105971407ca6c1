import { Stage, element, field, inside } from "../kit/view.js";

class FrameViewer extends Stage {
  constructor(model, el) {
    super(model, el, "frames");
    this.timer = null;
    this.build();
    this.follow(["index"], () => this.draw());
    this.draw();
  }

  get index() {
    return inside(this.model.get("index"), this.places);
  }

  build() {
    this.frames = this.model.get("frames");
    this.labels = this.model.get("labels");
    this.places = this.frames.length;
    this.pictures = new Map();
    const title = this.model.get("title");
    this.slider = element("input", { type: "range", min: 0, max: this.places - 1, step: 1 });
    this.label = element("output", { "aria-live": "polite" });
    this.previous = element("button", { type: "button", "aria-label": "previous frame" }, "‹");
    this.next = element("button", { type: "button", "aria-label": "next frame" }, "›");
    this.play = element("button", { type: "button", class: "g2h-play" }, "Play");
    this.figure = element("div", { class: "g2h-frame", role: "img" });
    this.root.setAttribute("role", "group");
    this.root.setAttribute("aria-label", title || "frames");
    const buttons = element("div", { class: "g2h-buttons" }, this.previous, this.play, this.next);
    const slider = field("frame: ", this.slider, this.label);
    this.root.append(element("div", { class: "g2h-controls" }, buttons, slider), this.figure);
    this.listen(this.slider, "input", () => this.go(Number(this.slider.value)));
    this.listen(this.previous, "click", () => this.go(this.index - 1));
    this.listen(this.next, "click", () => this.go(this.index + 1));
    this.listen(this.play, "click", () => this.toggle());
    this.listen(this.root, "keydown", (event) => this.key(event));
  }

  /** Shows a frame at the reader's wish, which ends playback. */
  go(index) {
    this.pause();
    this.put({ index: inside(index, this.places) });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const last = this.places - 1;
    const goals = {
      ArrowLeft: this.index - 1,
      ArrowRight: this.index + 1,
      ArrowDown: this.index - 1,
      ArrowUp: this.index + 1,
      Home: 0,
      End: last,
    };
    if (event.key in goals) this.go(goals[event.key]);
    else if (event.key === " " && event.target.tagName !== "BUTTON") this.toggle();
    else return;
    event.preventDefault();
  }

  toggle() {
    if (this.timer !== null) return this.pause();
    if (this.index === this.places - 1) this.put({ index: 0 });
    this.timer = setInterval(() => this.tick(), this.model.get("interval_ms"));
    this.play.textContent = "Pause";
  }

  tick() {
    this.put({ index: inside(this.index + 1, this.places) });
    if (this.index === this.places - 1) this.pause();
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    this.play.textContent = "Play";
  }

  draw() {
    const index = this.index;
    this.settle(() => ({ index: this.index }));
    this.slider.value = index;
    this.slider.setAttribute("aria-valuetext", this.labels[index]);
    this.label.textContent = this.labels[index];
    this.figure.replaceChildren(...this.picture(index));
    this.figure.dataset.index = index;
    const told = [this.model.get("title"), this.labels[index], this.model.get("alts")[index]];
    this.figure.setAttribute("aria-label", told.filter(Boolean).join(": "));
    this.previous.disabled = index === 0;
    this.next.disabled = index === this.places - 1;
  }

  // A frame is parsed when it is first shown, and then kept.
  picture(index) {
    if (!this.pictures.has(index)) {
      const template = document.createElement("template");
      template.innerHTML = this.frames[index];
      this.pictures.set(index, [...template.content.childNodes]);
    }
    return this.pictures.get(index);
  }

  dispose() {
    this.pause();
    super.dispose();
  }
}

export default {
  render({ model, el }) {
    const viewer = new FrameViewer(model, el);
    return () => viewer.dispose();
  },
};
