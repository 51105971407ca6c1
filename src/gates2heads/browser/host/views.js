// The views of a page, from the state that was saved with it.

import { Model, restored } from "./model.js";

const STATE = 'script[type="application/vnd.jupyter.widget-state+json"]';
const VIEW = 'script[type="application/vnd.jupyter.widget-view+json"]';

/** Imports the text of a module. A browser imports no file from `file://`, but it does a Blob. */
export async function imported(text) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  try {
    return await import(url);
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** `make` with a memory: one result for each key. */
function once(make) {
  const made = new Map();
  return (key, ...more) => {
    if (!made.has(key)) made.set(key, make(key, ...more));
    return made.get(key);
  };
}

class Host {
  constructor(page, saved) {
    this.page = page;
    this.saved = saved;
    this.module = once(imported);
    this.style = once((text) => this.addStyle(text));
    this.model = once((id) => this.makeModel(id));
  }

  addStyle(text) {
    const style = this.page.createElement("style");
    style.textContent = text;
    this.page.head.append(style);
  }

  /** The model and its module, which is initialised once, however often the model is shown. */
  async makeModel(id) {
    const entry = this.saved[id];
    if (!entry) throw new Error(`The page holds no state for the view ${id}.`);
    if (entry.model_module !== "anywidget") {
      throw new Error(`The host shows views made with anywidget, got ${entry.model_name}.`);
    }
    const model = new Model(restored(entry));
    const module = await this.module(model.get("_esm"));
    const widget = typeof module.default === "function" ? await module.default() : module.default;
    await widget.initialize?.({ model });
    return { model, widget };
  }

  /** Shows one view in an element. */
  async show(id, el) {
    const { model, widget } = await this.model(id);
    if (model.get("_css")) this.style(model.get("_css"));
    await widget.render({ model, el });
  }
}

/** What the page saved, by the ids of the models. */
function savedOn(page) {
  const texts = [...page.querySelectorAll(STATE)].map((script) => script.textContent);
  return Object.assign({}, ...texts.map((text) => JSON.parse(text).state));
}

/**
 * Shows every view of the page in order, each after the script that names it. A view that fails
 * leaves a sentence in its place and its error on the console; the other views are still shown.
 */
export async function showViews(page) {
  const scripts = [...page.querySelectorAll(VIEW)];
  if (!scripts.length) return;
  const host = new Host(page, savedOn(page));
  for (const script of scripts) {
    const el = page.createElement("div");
    el.className = "g2h-widget";
    script.after(el);
    try {
      // oxlint-disable-next-line no-await-in-loop -- the first view on the page is shown first
      await host.show(JSON.parse(script.textContent).model_id, el);
    } catch (error) {
      reportError(error);
      script.parentElement.classList.remove("g2h-reserved"); // no room; the text that is there instead
      el.setAttribute("role", "alert");
      el.textContent = "This view could not be shown; the browser's console gives the reason.";
    }
  }
}
