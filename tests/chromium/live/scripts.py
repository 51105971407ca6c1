"""What the browser tests of live views run inside the page."""

# The next turn of the page's thread, without the four milliseconds of a timer.
TURN = """
  const ENTER = { key: "Enter", bubbles: true, cancelable: true };
  const turn = () => new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => { port1.close(); done(); };
    port2.postMessage(null);
  });
"""

LOADED = """() => performance.getEntriesByType("resource")
  .filter((entry) => entry.name.includes("/live/translator-")).length"""

# Gaps between frames and tasks of more than 50 ms, from now on.
WATCH_FRAMES = """() => {
  const gaps = [], tasks = [];
  let last = performance.now();
  const tick = (now) => { gaps.push(now - last); last = now; requestAnimationFrame(tick); };
  requestAnimationFrame(tick);
  const note = (list) => list.getEntries().forEach((entry) => tasks.push(entry.duration));
  new PerformanceObserver(note).observe({ entryTypes: ["longtask"] });
  window.frames_seen = () => ({
    gap: Math.max(...gaps.slice(1)), count: gaps.length, task: Math.max(0, ...tasks),
  });
}"""

# From the press of Enter to the words on the page.
RUN_TIMES = (
    "async (texts) => {"
    + TURN
    + """
  const root = document.querySelector(".g2h-translate"), input = root.querySelector("textarea");
  const times = [];
  for (const text of texts) {
    input.value = text;
    const begin = performance.now();
    input.dispatchEvent(new KeyboardEvent("keydown", ENTER));
    while (root.dataset.shown !== text || root.dataset.state !== "done") await turn();
    times.push(performance.now() - begin);
  }
  return times;
}"""
)

# The saved view's own module and state, rendered on a model of the test's own.
OWN_MODEL = (
    TURN
    + """
  const text = JSON.parse(document.querySelector("script[type$='widget-state+json']").textContent);
  const isOurs = (m) => m.state._anywidget_id?.endsWith(".Translate");
  const entry = Object.values(text.state).find(isOurs);
  const module = URL.createObjectURL(new Blob([entry.state._esm], { type: "text/javascript" }));
  const view = (await import(module)).default;
  const bytes = Uint8Array.from(atob(entry.buffers[0].data), (c) => c.charCodeAt(0));
  const state = { ...entry.state, weights: new DataView(bytes.buffer) };
  const listeners = new Set();
  const model = {
    get: (name) => state[name],
    set: (name, value) => { state[name] = value; },
    save_changes() {},
    on: (name, listener) => name === "msg:custom" && listeners.add(listener),
    off: (name, listener) => listeners.delete(listener),
    send: () => {},
  };
  const el = document.createElement("div");
  document.body.append(el);
  const answered = async (wanted) => {
    const root = el.firstChild;
    for (;;) {
      const { state, shown } = root.dataset;
      if (state === "fault" || (state === "done" && shown === wanted)) return root;
      await turn();
    }
  };
  const ask = (text) => {
    const input = el.querySelector("textarea");
    input.value = text;
    input.dispatchEvent(new KeyboardEvent("keydown", ENTER));
  };
"""
)
SECOND_VIEW = (
    "async (wanted) => {"
    + OWN_MODEL
    + """
  view.render({ model, el });
  ask(wanted);
  const root = await answered(wanted);
  const asked = performance.getEntriesByType("resource").map((entry) => entry.name);
  const requests = asked.filter((name) => /\\/live\\/t[^/]*js$/.test(name)).length;
  return { requests, written: root.dataset.written };
}"""
)
CHANNEL = (
    "async ({ text: wanted, parts, error, busy }) => {"
    + OWN_MODEL
    + """
  const { name, hash } = state.live[0];
  const key = `${name}-${hash}`;
  const registered = async (file) => {
    const script = await (await fetch(`live/${file}`)).text();
    return JSON.parse(script.slice(script.indexOf("] = ") + 4, script.lastIndexOf(";")));
  };
  const { header, sha256, data } = await registered(`${key}.js`);
  const whole = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
  const { source } = await registered(window.gates2heads_engine);
  delete document.documentElement.dataset.content_root;
  let asked = 0;
  const kernel = { status: busy ? "busy" : "idle" };
  model.widget_manager = { kernel };
  const cells = new Promise((end) => (busy ? (window.cells_end = end) : end()));
  cells.then(() => (kernel.status = "idle"));
  model.send = async (content) => {
    await cells;
    if (content.ask === "engine") {
      const piece = new DataView(new TextEncoder().encode(source).buffer);
      return listeners.forEach((listen) => listen({ model: "engine", part: 0, parts: 1 }, [piece]));
    }
    if (content.ask !== key) throw new Error(`asked for ${content.ask}`);
    asked += 1;
    if (error) return listeners.forEach((listen) => listen({ model: key, error }, []));
    const size = Math.ceil(whole.length / parts);
    for (let part = 0; part < parts; part++) {
      const told = part ? { model: key } : { model: key, header, sha256 };
      const piece = new DataView(whole.slice(part * size, (part + 1) * size).buffer);
      [...listeners].forEach((listen) => listen({ ...told, part, parts }, [piece]));
    }
  };
  view.render({ model, el });
  ask(wanted);
  const root = await answered(wanted);
  return {
    asked, listeners: listeners.size, written: root.dataset.written,
    state: root.querySelector(".g2h-state").textContent,
  };
}"""
)

# A reader who agrees to every download: clicks the button of the question as soon as it is there.
AGREE = """() => {
  const agree = () => document.querySelector(".g2h-ask button")?.click();
  new MutationObserver(agree).observe(document, { childList: true, subtree: true });
}"""
AGREES = f"({AGREE})();"

# What every view says of the example that it was saved with.
STORED = "This result was computed in advance. Edit the text to run the model in your browser."
