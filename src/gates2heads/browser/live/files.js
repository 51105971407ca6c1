// Where a model's file is, and the engine's: beside the page, or with Python. What comes is compared
// with the hash that the page or the view was made with.

import { Sha256 } from "../engine/sha256.js";

const PATIENCE = 20_000; // milliseconds without a word from Python
const SOON = 1000; // milliseconds in which Python answers if it runs nothing else
/** Said while nothing has come because Python answers after the cells that it runs. */
export const WAITS = "Waits for the kernel, which is running cells.";
const SILENT =
  "Python does not answer: if cells are running, try again when they have ended; otherwise run the cell above again.";

export const key = ({ name, hash }) => (hash ? `${name}-${hash}` : name);

/** A file beside the pages; null where the page is none of the book's. */
export function address(file, root, page) {
  return root === undefined ? null : new URL(`${root}live/${file}`, page).href;
}

const written = (bytes) => (bytes / 1e6).toFixed(1);

/** "3.1 of 6.6 MB" */
export function megabytes(received, total) {
  return `${written(Math.min(received, total))} of ${inMegabytes(total)}`;
}

/** "6.6 MB", and of very little "less than 0.1 MB" */
export function inMegabytes(bytes) {
  return bytes < 50_000 ? "less than 0.1 MB" : `${written(bytes)} MB`;
}

// A file is text: three bytes of parameters in four letters, and the header with its quotation
// marks escaped. This is the mean over the files of the book, right within 1.5 %.
const LETTERS = 1.318;
/** About how many bytes the engine's file has. */
export const ENGINE_SIZE = 240_000;

/** How the files come to a page: "http", "file" or, where the page is none of the book's, "python". */
export function transport() {
  const url = address("", document.documentElement.dataset.content_root, location.href);
  return url ? new URL(url).protocol.replace(/s?:$/, "") : "python";
}

/** How many bytes come for a model whose header and parameters have `bytes`. */
export function sizeOf({ bytes }, way = transport()) {
  return way === "python" ? bytes : Math.round(LETTERS * bytes);
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
    tell(received);
  }
}

/** Runs a script that lies at an address. */
export function runScript(src) {
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
      `The model's file (${file}) could not be loaded: there is no connection, or the file is missing.`,
    );
  }
  if (!entry) throw new Error(`The model's file (${file}) is damaged.`);
  return entry;
}

// ---- Python

/** Whether the kernel runs something, as far as the notebook tells: JupyterLab does, Colab does not. */
const isBusy = (widget) => widget.widget_manager?.kernel?.status === "busy";

/**
 * The same over the widget's own channel, in as many messages as Python needs. `tell` hears of 0
 * bytes while the kernel runs cells: it answers when they have ended.
 */
function fromPython(widget, wanted, tell) {
  return new Promise((done, failed) => {
    const parts = [];
    let came = 0;
    let told = {};
    let timer;
    const finish = (settle, value) => {
      clearTimeout(timer);
      clearInterval(watch);
      widget.off("msg:custom", listen);
      settle(value);
    };
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(
        () => (isBusy(widget) ? wait() : finish(failed, new Error(SILENT))),
        PATIENCE,
      );
    };
    const watch = setInterval(() => !came && isBusy(widget) && tell(0), SOON);
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
export function find(widget, wanted, file, tell = () => {}) {
  const url = address(file, document.documentElement.dataset.content_root, location.href);
  return url ? fromPage(url, wanted, tell) : fromPython(widget, wanted, tell);
}

const ENGINE = { name: "engine" };

/** The page says under which name its engine was built. */
export const engineFile = () => globalThis.gates2heads_engine ?? "engine.js";

/** The text that runs beside the page. */
export async function engineSource(widget) {
  const file = engineFile();
  const { source, data } = await find(widget, ENGINE, file);
  return checkEngine(source ?? new TextDecoder().decode(data), file);
}
