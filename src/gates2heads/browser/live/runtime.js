// The page's side: who runs a model, and one promise for each run.
// Views that show the same model share one copy of it, and all models of a page share one Worker.

import {
  ENGINE_SIZE,
  checkEntry,
  engineFile,
  engineSource,
  find,
  key,
  runScript,
  sizeOf,
  transport,
} from "./files.js";

const SHARED = Symbol.for("gates2heads.live");
const START = 10_000; // milliseconds in which a Worker says that it is there

/** What the views of one page share: the engine, and the models that it has, by their key. */
function shared() {
  globalThis[SHARED] ??= { engine: null, models: new Map() };
  return globalThis[SHARED];
}

/**
 * What `load` would fetch over the network for these models: bytes by the name of a file. What is
 * in the page, or on its way, is not fetched again.
 */
export function filesToFetch(lives) {
  const { engine, models } = shared();
  const missing = lives.filter((live) => !models.has(key(live.model)));
  if (!missing.length || transport() !== "http") return new Map();
  const files = new Map(missing.map(({ model }) => [`${key(model)}.js`, sizeOf(model)]));
  return engine ? files : files.set(engineFile(), ENGINE_SIZE);
}

/** Starts the source in a Worker; gives its port, or throws where the browser refuses one. */
function inWorker(url) {
  return new Promise((done, failed) => {
    const worker = new Worker(url);
    const timer = setTimeout(failed, START, new Error("no answer"));
    worker.onerror = (event) => {
      clearTimeout(timer);
      event.preventDefault();
      worker.terminate();
      failed(new Error(event.message));
    };
    worker.onmessage = ({ data }) => {
      if (!data.ready) return;
      clearTimeout(timer);
      done(worker);
    };
  });
}

/** Starts the source in the page, which is blocked for as long as a single step takes. */
async function inPage(url) {
  const { port1, port2 } = new MessageChannel();
  globalThis.gates2heads_port = port2;
  await runScript(url);
  delete globalThis.gates2heads_port;
  return port1;
}

/** One engine: numbers requests and matches the answers. */
class Engine {
  constructor(widget) {
    this.waiting = new Map();
    this.last = 0;
    this.started = this.start(widget);
  }

  async start(widget) {
    const source = await engineSource(widget);
    const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    try {
      this.port = await inWorker(url);
      this.isBeside = true;
    } catch {
      this.port = await inPage(url);
      this.isBeside = false;
    }
    URL.revokeObjectURL(url);
    this.port.onmessage = ({ data }) => this.hear(data);
    this.port.onerror = (event) => this.fail(event.message);
  }

  /** A fault outside of any request, such as no memory left, ends all of them. */
  fail(message) {
    this.waiting.forEach(({ failed }) => failed(new Error(`The model stopped: ${message}`)));
    this.waiting.clear();
  }

  hear({ id, progress, result, error, refused }) {
    const request = this.waiting.get(id);
    if (!request) return;
    if (progress !== undefined) return request.onProgress?.(progress);
    this.waiting.delete(id);
    if (error === undefined) request.done(result);
    else request.failed(Object.assign(new Error(error), { isFromModel: request.isTask, refused }));
  }

  async request(message, { onProgress, signal, transfer = [] } = {}) {
    await this.started;
    signal?.throwIfAborted();
    const id = ++this.last;
    return new Promise((done, failed) => {
      // A model that cannot be loaded has refused no text.
      this.waiting.set(id, { onProgress, done, failed, isTask: message.task !== undefined });
      signal?.addEventListener(
        "abort",
        () => {
          if (!this.waiting.delete(id)) return;
          this.port.postMessage({ cancel: id });
          failed(signal.reason);
        },
        { once: true },
      );
      this.port.postMessage({ id, ...message }, transfer);
    });
  }
}

/**
 * A model that a view runs. Nothing is loaded before the first `load` or `run`.
 *
 * widget: the view's anywidget model; its trait `live` is a list of {name, hash, bytes}.
 * place: which of them, counted from 0.
 * trait: another trait that holds such a list.
 */
export class Live {
  constructor(widget, place = 0, trait = "live") {
    this.widget = widget;
    this.model = widget.get(trait)[place];
  }

  /** The page's engine; one that did not start is tried again when a model is asked for again. */
  get engine() {
    const common = shared();
    if (!common.engine) {
      const engine = (common.engine = new Engine(this.widget));
      engine.started.catch(() => (common.engine = common.engine === engine ? null : common.engine));
    }
    return common.engine;
  }

  /** How many bytes come for the model, as `load` tells them. */
  get size() {
    return sizeOf(this.model);
  }

  /** Whether the model is in the page, or on its way. */
  get isComing() {
    return shared().models.has(key(this.model));
  }

  /** Whether the page stays free while the model runs; known once it is loaded. */
  get isBeside() {
    return this.engine.isBeside;
  }

  /** Loads the model once for the whole page; a failed try may be repeated. */
  load({ onProgress = () => {} } = {}) {
    const { models } = shared();
    const known = models.get(key(this.model));
    if (known) {
      known.listeners.add(onProgress);
      return known.promise;
    }
    const listeners = new Set([onProgress]);
    const tell = (progress) => listeners.forEach((listener) => listener(progress));
    const promise = this.fetchAndLoad(tell).finally(() => listeners.clear());
    models.set(key(this.model), { listeners, promise });
    promise.catch(() => models.delete(key(this.model)));
    return promise;
  }

  async fetchAndLoad(tell) {
    const { model, engine } = this;
    const heard = (received) => tell({ loading: received, total: this.size });
    const [entry] = await Promise.all([
      find(this.widget, model, `${key(model)}.js`, heard),
      engine.started,
    ]);
    const transfer = entry.data instanceof Uint8Array ? [entry.data.buffer] : [];
    await engine.request({ model: key(model), entry: checkEntry(entry, model) }, { transfer });
  }

  /**
   * Runs a task of `worker.js` on the model and gives its result.
   *
   * onProgress hears {loading, total} in bytes while the file comes, then what the task yields.
   * signal: an AbortSignal; once aborted, the promise fails with its reason and the run ends.
   */
  async run(task, payload, { onProgress, signal } = {}) {
    await this.load({ onProgress });
    signal?.throwIfAborted();
    return this.engine.request({ model: key(this.model), task, payload }, { onProgress, signal });
  }
}
