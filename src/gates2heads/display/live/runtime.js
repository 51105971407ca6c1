// The page's side: where a model's file is, who runs it, and one promise for each run.
// Views that show the same model share one copy of it, and all models of a page share one Worker.

import { Sha256 } from "../engine/sha256.js";

const SHARED = Symbol.for("gates2heads.live");
const PATIENCE = 20_000; // milliseconds without a word from Python
const START = 10_000; // milliseconds in which a Worker says that it is there

/** What the views of one page share: the engine, and the models that it has, by their key. */
function shared() {
  globalThis[SHARED] ??= { engine: null, models: new Map() };
  return globalThis[SHARED];
}

export const key = ({ name, hash }) => (hash ? `${name}-${hash}` : name);

/** A file beside the pages; null where the page is none of the book's. */
export function address(file, root, page) {
  return root === undefined ? null : new URL(`${root}live/${file}`, page).href;
}

/** "3.1 of 6.6 MB" */
export function megabytes(received, total) {
  const written = (bytes) => (bytes / 1e6).toFixed(1);
  return `${written(Math.min(received, total))} of ${written(total)} MB`;
}

/** Refuses an entry that is not the model that the view was made with, as far as it says itself. */
export function checkEntry(entry, model) {
  if (typeof entry.header !== "string" || !entry.data) {
    throw new Error(`The file of the model (${key(model)}.js) is damaged.`);
  }
  if (!String(entry.sha256).startsWith(model.sha256 ?? model.hash)) {
    throw new Error(`The file of the model (${key(model)}.js) holds another model.`);
  }
  return entry; // whose bytes the engine compares with entry.sha256
}

/** Refuses an engine other than the one that the page was built with, by the hash in its name. */
export function checkEngine(source, file) {
  const told = /^engine-([0-9a-f]{64})\.js$/.exec(file)?.[1];
  if (told && new Sha256().add(new TextEncoder().encode(source)).hex() !== told) {
    throw new Error(`The engine's file (live/${file}) is damaged.`);
  }
  return source;
}

// ---- the file beside the page
//
// Over http a file is fetched and read as data: nothing of it runs before it was compared with the
// hash that the page or the view was made with. From file:// a browser fetches nothing, and blocks
// every script with an `integrity`: there the file is a script like the page's own, and runs. The
// hash then tells what is damaged or belongs to another build, not what is malicious.

const WRITTEN = /^\(globalThis\.\w+ \?\?= \{\}\)\["(?:[^"\\]|\\.)*"\] = (\{.*\});\s*$/s;

/** What a file would register, read without running it; null if it is written in another way. */
export function registeredBy(text) {
  try {
    return JSON.parse(WRITTEN.exec(text)?.[1] ?? "null");
  } catch {
    return null;
  }
}

/** The text of a file that comes in pieces, so that progress can be told. */
async function fetched(url, tell) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(String(response.status));
  const pieces = [];
  let received = 0;
  for (const reader = response.body.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) return new Blob(pieces).text();
    pieces.push(value);
    received += value.length;
    tell(received * 0.75); // base64: 3 bytes in 4 letters
  }
}

function runScript(src) {
  return new Promise((done, failed) => {
    const script = document.createElement("script");
    Object.assign(script, { src, async: true, onload: done, onerror: failed });
    document.head.append(script);
    script.remove(); // it runs all the same
  });
}

/** What a script registered; the Worker keeps it, the page need not. */
async function registeredIn(url, name) {
  await runScript(url);
  const entry = globalThis.gates2heads_live?.[name];
  if (entry) delete globalThis.gates2heads_live[name];
  return entry;
}

async function fromPage(url, { name }, tell) {
  const file = url.slice(url.lastIndexOf("/live/") + 1);
  let entry;
  try {
    entry = /^https?:/.test(url)
      ? registeredBy(await fetched(url, tell))
      : await registeredIn(url, name);
  } catch {
    throw new Error(
      `The model's file (${file}) did not come: no connection, or it is not beside the page.`,
    );
  }
  if (!entry) throw new Error(`The model's file (${file}) is damaged.`);
  return entry;
}

// ---- Python

/** The same over the widget's own channel, in as many messages as Python needs. */
function fromPython(widget, wanted, tell) {
  return new Promise((done, failed) => {
    const parts = [];
    let came = 0;
    let told = {};
    let timer;
    const finish = (settle, value) => {
      clearTimeout(timer);
      widget.off("msg:custom", listen);
      settle(value);
    };
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(
        () => finish(failed, new Error("Python does not answer: run the cell above again.")),
        PATIENCE,
      );
    };
    function listen(content, buffers) {
      if (content.model !== key(wanted)) return;
      if (content.error) {
        finish(failed, new Error(content.error));
        return;
      }
      told = { ...content, ...told }; // the first part alone brings the header
      const { buffer, byteOffset, byteLength } = buffers[0];
      parts[content.part] = new Uint8Array(buffer, byteOffset, byteLength);
      came += byteLength;
      tell(came);
      wait();
      if (parts.filter(Boolean).length < content.parts) return;
      const data = new Uint8Array(came);
      parts.reduce((at, part) => (data.set(part, at), at + part.length), 0);
      finish(done, { header: told.header, sha256: told.sha256, data });
    }
    widget.on("msg:custom", listen);
    wait();
    widget.send({ ask: key(wanted) });
  });
}

/** What a key stands for, from beside the page or, where the page is none of the book's, Python. */
function find(widget, wanted, file, tell = () => {}) {
  const url = address(file, document.documentElement.dataset.content_root, location.href);
  return url ? fromPage(url, wanted, tell) : fromPython(widget, wanted, tell);
}

const ENGINE = { name: "engine" };

/** The text that runs beside the page. The page says under which name it was built. */
async function engineSource(widget) {
  const file = globalThis.gates2heads_engine ?? "engine.js";
  const { source, data } = await find(widget, ENGINE, file);
  return checkEngine(source ?? new TextDecoder().decode(data), file);
}

// ---- who runs it

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
 */
export class Live {
  constructor(widget, place = 0) {
    this.widget = widget;
    this.model = widget.get("live")[place];
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
    const heard = (received) => tell({ loading: received, total: model.bytes });
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
