// The model's side of the port: in a Worker where the browser allows one, else in the page itself.
// It keeps the loaded models and runs tasks on them, a step at a time.

import { loadModel } from "../engine/engine.js";

const TURN = 12; // milliseconds of work before messages are heard again; a frame lasts 16

/** A promise that comes true after the messages that wait, unlike one that is true already. */
export function pause() {
  return new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      done();
    };
    port2.postMessage(null);
  });
}

/** Runs a generator to its end; hands on what it yields; gives way to messages between steps. */
export async function runSteps(steps, { onProgress, isCancelled }) {
  let begin = performance.now();
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    onProgress(value);
    if (performance.now() - begin > TURN) {
      await pause();
      if (isCancelled()) return undefined;
      begin = performance.now();
    }
  }
}

/**
 * Answers what comes over a port: {id, model, entry} loads, {id, model, task, payload} runs,
 * {cancel: id} ends a run. Answers are {id, progress}, {id, result} and {id, error, refused}: a
 * message, and as data what it says of a text that cannot be read.
 *
 * A task is a generator `(loaded, payload)`: it yields progress and returns the result.
 */
export function serve(port, tasks) {
  const models = new Map();
  const running = new Set();

  async function answer({ id, model, entry, task, payload }) {
    if (entry) {
      models.set(model, loadModel(entry, { verify: true }));
      return true;
    }
    running.add(id);
    await pause(); // a run that is cancelled in the same breath never begins
    const isCancelled = () => !running.has(id);
    if (isCancelled()) return undefined;
    const onProgress = (progress) => port.postMessage({ id, progress });
    return runSteps(tasks[task](models.get(model), payload), { onProgress, isCancelled });
  }

  port.onmessage = async ({ data }) => {
    if (data.cancel !== undefined) {
      running.delete(data.cancel);
      return;
    }
    try {
      port.postMessage({ id: data.id, result: await answer(data) });
    } catch (error) {
      port.postMessage({ id: data.id, error: error.message, refused: error.refused });
    } finally {
      running.delete(data.id);
    }
  };
  port.postMessage({ ready: true });
}
