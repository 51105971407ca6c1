// The kit that every view shares.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes (left out when null or false) and children. */
export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same of a drawing. */
export function drawn(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/** The head of a column; one without words is an ordinary cell. */
export function columnHead(words) {
  return words ? element("th", { scope: "col" }, words) : element("td");
}

/** The place nearest to `value` among 0 … places − 1. */
export function inside(value, places) {
  return Math.min(Math.max(Math.round(Number(value)) || 0, 0), places - 1);
}

/** A native control under its name. An <output> beside the name would take the label for itself. */
export function field(name, control, ...more) {
  if (more.length) control.setAttribute("aria-label", name.replace(/[:\s]+$/, ""));
  return element("label", { class: "g2h-field" }, element("span", {}, name, ...more), control);
}

/** A native list to choose from; options keep the direction of their own text. */
export function choice(options) {
  const select = element("select");
  options.forEach((text, value) => select.append(element("option", { value, dir: "auto" }, text)));
  return select;
}

/** What the page writes from right to left, by the first letter that has a direction. */
export function direction(text) {
  const letter = text.match(/\p{L}/u);
  const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;
  return letter && rightToLeft.test(letter[0]) ? "rtl" : "ltr";
}

/**
 * Controls that the first look at a view does not need, folded under a name. A control with
 * `data-trait` is unfolded when a *Show me* button sets that trait.
 */
export function moreControls(controls, name = "More controls") {
  return element("details", { class: "g2h-more" }, element("summary", {}, name), ...controls);
}

export const isSame = (a, b) => JSON.stringify(a) === JSON.stringify(b);

let refusals = 0;

/**
 * A sentence beside a field about what is typed there. It hides while there is nothing to say;
 * a field whose text is refused is marked as invalid.
 */
export class Refusal {
  constructor(control) {
    this.control = control;
    const id = `g2h-refusal-${++refusals}`;
    this.node = element("p", { class: "g2h-refusal", role: "alert", id, hidden: "" });
    control.setAttribute("aria-describedby", id);
  }

  say(sentence, isWrong = Boolean(sentence)) {
    this.node.textContent = sentence;
    this.node.hidden = !sentence;
    this.control.setAttribute("aria-invalid", String(isWrong));
  }
}

/**
 * The root of a view. Keys stay inside it: JupyterLab would take the arrows for its own commands.
 * `listen` adds a listener and `dispose` removes all of them, on the page and on the model.
 */
export class Stage {
  constructor(model, el, name) {
    this.model = model;
    this.root = element("div", { class: `g2h-view g2h-${name}`, "data-view": name });
    this.life = new AbortController();
    this.undo = [];
    this.listen(this.root, "keydown", (event) => event.stopPropagation());
    this.head();
    el.append(this.root);
  }

  /** Title, hint and *Show me* buttons, where the model has some; the title names the card. */
  head() {
    for (const part of ["title", "hint"]) {
      const text = this.model.get(part);
      if (text) this.root.append(element("p", { class: `g2h-${part}` }, text));
    }
    const all = this.model.get("show_me") ?? [];
    if (all.length) this.root.append(...this.showMe(all));
    if (!this.model.get("title")) return;
    this.root.setAttribute("role", "group");
    this.root.setAttribute("aria-label", this.model.get("title"));
  }

  /**
   * Buttons that set the view to a telling state. While it is in that state, the button is marked
   * and its sentence says what to look at.
   */
  showMe(all) {
    const buttons = all.map(({ label }) => element("button", { type: "button" }, label));
    const look = element("p", { class: "g2h-look", "aria-live": "polite" });
    const mark = () => {
      const isShown = ({ state }) =>
        Object.entries(state).every(([trait, value]) => isSame(this.model.get(trait), value));
      const shown = all.findIndex(isShown);
      buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(at === shown)));
      look.textContent = all[shown]?.look ?? "";
    };
    buttons.forEach((button, at) =>
      this.listen(button, "click", () => this.demonstrate(all[at].state)),
    );
    this.follow([...new Set(all.flatMap(({ state }) => Object.keys(state)))], mark);
    mark();
    const row = { class: "g2h-show-me", role: "group", "aria-label": "Show me" };
    return [element("div", row, element("span", {}, "Show me"), ...buttons), look];
  }

  /** Sets the view to the state of a *Show me* button; unfolds the controls that it sets. */
  demonstrate(state) {
    this.put(state);
    for (const folded of this.root.querySelectorAll("details.g2h-more")) {
      const traits = [...folded.querySelectorAll("[data-trait]")].map((one) => one.dataset.trait);
      if (traits.some((trait) => trait in state)) folded.open = true;
    }
  }

  /** Dims the picture while it is the answer to another text than the field holds. */
  dim(isOld) {
    this.root.toggleAttribute("data-stale", isOld);
  }

  listen(node, type, handler) {
    node.addEventListener(type, handler, { signal: this.life.signal });
  }

  /** Calls `handler` whenever one of the model's traits changes. */
  follow(traits, handler) {
    for (const trait of traits) {
      this.model.on(`change:${trait}`, handler);
      this.undo.push(() => this.model.off(`change:${trait}`, handler));
    }
  }

  /** Sets positions in the model and sends them to Python, where there is one. */
  put(positions) {
    const changed = Object.entries(positions).filter(([k, v]) => this.model.get(k) !== v);
    if (!changed.length) return;
    changed.forEach(([trait, value]) => this.model.set(trait, value));
    this.model.save_changes();
  }

  /**
   * Puts the positions that `read` gives once the change at hand is over: a linked control may have
   * asked for more than there is, and a link takes no answer while it is still calling.
   */
  settle(read) {
    queueMicrotask(() => this.life.signal.aborted || this.put(read()));
  }

  dispose() {
    this.life.abort();
    this.undo.forEach((step) => step());
    this.root.remove();
  }
}
