// Exercises on the built page: answers are judged here, and which are solved is kept in this
// browser. The questions, the diagnoses and the correct answers are those of
// gates2heads.grading.paper, which _ext/exercise_forms.py writes into the page.

(() => {
  // ---- An answer as it is typed ---------------------------------------------------------------

  const NAMED = { pi: Math.PI, e: Math.E };
  const FUNCTIONS = {
    sqrt: Math.sqrt,
    exp: Math.exp,
    ln: Math.log,
    log: Math.log,
    log2: Math.log2,
    log10: Math.log10,
  };
  const SIGNS = {
    "−": "-",
    "–": "-",
    "·": "*",
    "×": "*",
    "∙": "*",
    "÷": "/",
    "√": "sqrt ",
    "**": "^",
  };
  const TOKEN = /\s*(?:(\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)|([a-z]+\d*)|([-+*/^()%]))/iy;
  const [LONGEST, DEEPEST] = [200, 50];

  class Unreadable extends Error {}

  // The value of an expression: numbers, + - * / ^, brackets, %, and a few functions.
  function calculate(text) {
    const plain = String(text)
      .trim()
      .replace(/\*\*|[−–·×∙÷√]/g, (sign) => SIGNS[sign]);
    if (plain.length > LONGEST) throw new Unreadable();
    const tokens = [];
    TOKEN.lastIndex = 0;
    while (TOKEN.lastIndex < plain.length) {
      const found = TOKEN.exec(plain);
      if (!found) throw new Unreadable();
      tokens.push(found[1] === undefined ? (found[2]?.toLowerCase() ?? found[3]) : +found[1]);
    }
    let at = 0;
    const next = (...wanted) => wanted.includes(tokens[at]) && tokens[at++];
    const sum = (depth) => {
      if (depth > DEEPEST) throw new Unreadable();
      let value = product(depth);
      for (let sign = next("+", "-"); sign; sign = next("+", "-"))
        value += sign === "-" ? -product(depth) : product(depth);
      return value;
    };
    const product = (depth) => {
      let value = signed(depth);
      for (let sign = next("*", "/"); sign; sign = next("*", "/"))
        value = sign === "*" ? value * signed(depth) : value / signed(depth);
      return value;
    };
    const signed = (depth) => {
      if (depth > DEEPEST) throw new Unreadable();
      const sign = next("+", "-");
      if (sign) return sign === "-" ? -signed(depth + 1) : signed(depth + 1);
      let value = atom(depth);
      if (next("^")) value **= signed(depth + 1);
      while (next("%")) value /= 100;
      return value;
    };
    const atom = (depth) => {
      const token = tokens[at++];
      if (typeof token === "number") return token;
      if (token === "(") {
        const value = sum(depth + 1);
        if (!next(")")) throw new Unreadable();
        return value;
      }
      if (Object.hasOwn(NAMED, token ?? "")) return NAMED[token];
      if (Object.hasOwn(FUNCTIONS, token ?? "")) return FUNCTIONS[token](atom(depth + 1));
      throw new Unreadable();
    };
    const value = sum(0);
    if (at < tokens.length || !Number.isFinite(value)) throw new Unreadable();
    return value;
  }

  // The numbers of one answer. A comma separates; between digits of a single number it is read as
  // 1,000,000 or, in the way of many countries, as 0,14.
  function readNumbers(text, size) {
    const plain = text.trim();
    if (size === 1) {
      const grouped = /^-?\d{1,3}(,\d{3})+(\.\d+)?$/.test(plain);
      return [
        calculate(grouped ? plain.replaceAll(",", "") : plain.replace(/(\d),(?=\d)/g, "$1.")),
      ];
    }
    const inside = plain.replace(/^[([{]|[)\]}]$/g, "");
    const sign = [";", ","].find((one) => inside.includes(one)) ?? /\s+/;
    const parts = inside.split(sign);
    const numbers = parts
      .filter((part) => part.trim())
      .map((part) => calculate(sign === ";" ? part.replace(/(\d),(?=\d)/g, "$1.") : part));
    if (numbers.length !== size) throw new Unreadable();
    return numbers;
  }

  // ---- The verdict, as in gates2heads.grading.paper -------------------------------------------

  function holds(range, numbers) {
    const given = range.of_sum ? [numbers.reduce((sum, one) => sum + one, 0)] : numbers;
    return given.every(
      (number, i) => number >= (range.low[i] ?? -Infinity) && number <= (range.high[i] ?? Infinity),
    );
  }

  // What is wrong with the numbers of one question; "" if nothing is.
  function faultOf(question, numbers) {
    if (question.right.some((range) => holds(range, numbers))) return "";
    return question.slips.find((range) => holds(range, numbers))?.words ?? question.otherwise;
  }

  // The verdict on an answer: a list of numbers for each question, or the chosen names.
  function judge(check, answer) {
    let fault = "";
    if (check.choices) {
      const chosen = [...answer].sort().join("\n");
      if (chosen !== check.right.join("\n"))
        fault = check.against.find(({ names }) => names.join("\n") === chosen).words;
    } else
      for (const [i, question] of check.questions.entries()) fault ||= faultOf(question, answer[i]);
    const words = fault ? `not yet. ${fault}` : `right. ${check.remark}`;
    return { passed: !fault, message: `${check.title}: ${words}` };
  }

  // ---- What is solved, kept in this browser ---------------------------------------------------

  const KEY = "gates2heads.exercises";
  const NUMBER = /^\d{1,2}\.\d{1,2}$/;

  // The entries of a text that this file has written: exercise → {solved, answer, when}.
  function readProgress(text) {
    const found = JSON.parse(text);
    if (found?.format !== KEY || typeof found.exercises !== "object" || !found.exercises)
      throw new Unreadable();
    const kept = {};
    for (const [number, entry] of Object.entries(found.exercises)) {
      if (!NUMBER.test(number) || typeof entry?.solved !== "boolean") throw new Unreadable();
      const answer = Array.isArray(entry.answer) ? entry.answer.slice(0, 9) : [];
      kept[number] = {
        solved: entry.solved,
        answer: answer.map((one) => String(one).slice(0, LONGEST)),
        when: String(entry.when ?? "").slice(0, 10),
      };
    }
    return kept;
  }

  function writeProgress(exercises) {
    return JSON.stringify({ format: KEY, exercises }, null, 1);
  }

  // Two records as one: an exercise that is solved in either is solved.
  function merged(ours, theirs) {
    const both = { ...ours };
    for (const [number, entry] of Object.entries(theirs))
      if (!both[number]?.solved) both[number] = entry;
    return both;
  }

  globalThis.gates2headsExercises = {
    calculate,
    readNumbers,
    judge,
    readProgress,
    writeProgress,
    merged,
  };
  if (typeof document === "undefined") return;

  // ---- On the page ----------------------------------------------------------------------------

  let memory = {}; // where the browser keeps nothing, until the page is left
  let keeps = true;

  function progress() {
    try {
      const text = localStorage.getItem(KEY);
      memory = text ? readProgress(text) : {};
    } catch (error) {
      if (error instanceof Unreadable || error instanceof SyntaxError) {
        // Nothing is lost: what cannot be read is put aside.
        localStorage.setItem(`${KEY}.unreadable`, localStorage.getItem(KEY));
        localStorage.removeItem(KEY);
      } else keeps = false;
    }
    return memory;
  }

  function keep(exercises) {
    memory = exercises;
    try {
      localStorage.setItem(KEY, writeProgress(exercises));
    } catch {
      keeps = false; // private windows and full disks: the page says so
    }
    document.dispatchEvent(new CustomEvent("g2h-progress"));
  }

  function note(number, solved, answer = []) {
    const before = progress();
    const when = new Date().toISOString().slice(0, 10);
    // What was solved once stays solved.
    if (before[number]?.solved && !solved && answer.length) return;
    keep({ ...before, [number]: { solved, answer, when } });
  }

  function made(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  // A message as elements: what is between backticks is code.
  function worded(message) {
    return message
      .split("`")
      .map((part, i) => (i % 2 ? made("code", { class: "literal" }, part) : part));
  }

  function tell(output, sign, message) {
    output.replaceChildren(made("span", { "aria-hidden": "true" }, `${sign} `), ...worded(message));
    output.dataset.sign = sign;
  }

  const READS =
    "Type a number, a fraction such as 3/4, or an expression with + − · / ^ ( ), sqrt, ln and exp.";

  function answerOf(form, check) {
    if (check.choices) {
      const chosen = [...form.querySelectorAll("input:checked")].map((one) => one.value);
      if (chosen.length === check.right.length) return { typed: chosen, answer: chosen };
      const count = check.right.length === 1 ? "one answer" : `${check.right.length} answers`;
      return { problem: `Choose ${count}; you chose ${chosen.length || "none"}.` };
    }
    const fields = [...form.querySelectorAll("input")];
    const answer = [];
    for (const [i, question] of check.questions.entries()) {
      try {
        answer.push(readNumbers(fields[i].value, question.size));
        fields[i].removeAttribute("aria-invalid");
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error;
        fields[i].setAttribute("aria-invalid", "true");
        fields[i].focus();
        const given = fields[i].value.trim();
        const unread = given ? `“${given}” cannot be read as an answer. ` : "";
        return { problem: `${unread}${question.ask}. ${READS}` };
      }
    }
    return { typed: fields.map((field) => field.value.trim()), answer };
  }

  function prepare(form) {
    const check = JSON.parse(form.querySelector("script").textContent);
    const output = form.querySelector("output");
    const { exercise } = form.dataset;
    const before = progress()[exercise];
    if (before?.answer.length && check.choices)
      for (const box of form.querySelectorAll("input"))
        box.checked = before.answer.includes(box.value);
    else if (before?.answer.length)
      for (const [i, field] of form.querySelectorAll("input").entries())
        field.value = before.answer[i] ?? "";
    if (before?.solved) tell(output, "✔", `Exercise ${exercise}: solved on ${before.when}.`);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const { problem, typed, answer } = answerOf(form, check);
      if (problem) {
        tell(output, "○", problem);
        return;
      }
      const { passed, message } = judge(check, answer);
      tell(output, passed ? "✔" : "✘", message);
      note(exercise, passed, typed);
    });
    form.hidden = false;
  }

  function prepareTask(task) {
    const box = task.querySelector("input");
    const show = () => {
      box.checked = Boolean(progress()[task.dataset.exercise]?.solved);
    };
    box.addEventListener("change", () => note(task.dataset.exercise, box.checked));
    document.addEventListener("g2h-progress", show);
    show();
    box.parentElement.hidden = false;
  }

  // The exercises as links, each with a sign that says whether it is solved.
  function listOf(exercises) {
    const known = progress();
    const list = made("ul", { class: "g2h-exercise-list" });
    for (const { number, href, more } of exercises) {
      const solved = Boolean(known[number]?.solved);
      const link = made("a", { href }, number);
      const sign = made("span", { "aria-hidden": "true" }, solved ? "✔" : "○");
      const words = made("span", { class: "visually-hidden" }, solved ? ", solved" : ", open");
      const kinds = [solved && "g2h-solved", more && "g2h-more"].filter(Boolean);
      list.append(made("li", { class: kinds.join(" ") }, link, words, " ", sign));
    }
    return list;
  }

  function solvedOf(exercises) {
    const known = progress();
    const solved = exercises.filter(({ number }) => known[number]?.solved);
    return `${solved.length} of ${exercises.length}`;
  }

  function prepareLine(line) {
    const { exercises, all } = JSON.parse(line.querySelector("script").textContent);
    const text = made("p");
    const show = () => {
      const words = `Solved on this page: ${solvedOf(exercises)}. `;
      text.replaceChildren(words, made("a", { href: all }, "All chapters"));
      line.replaceChildren(text, listOf(exercises));
    };
    document.addEventListener("g2h-progress", show);
    show();
    line.hidden = false;
  }

  function preparePanel(panel) {
    const chapters = JSON.parse(panel.querySelector("script").textContent);
    const every = chapters.flatMap(({ exercises }) => exercises);
    const core = every.filter(({ more }) => !more);
    const further = every.filter(({ more }) => more);
    const told = made("p", { role: "status" });
    const table = made("div", { class: "g2h-progress-table" });
    const file = made("input", { type: "file", accept: ".json,application/json", hidden: "" });
    const buttons = ["Save as a file", "Add from a file", "Forget all"].map((words) =>
      made("button", { type: "button", class: "g2h-plain-button" }, words),
    );
    const show = () => {
      table.replaceChildren(
        ...chapters.map(({ title, href, exercises }) =>
          made("section", {}, made("p", {}, made("a", { href }, title)), listOf(exercises)),
        ),
      );
      told.textContent = keeps
        ? `Solved in this browser: ${solvedOf(core)} exercises of the chapters, and ` +
          `${solvedOf(further)} of the “More on …” pages (to the right of the vertical line).`
        : "This browser keeps nothing for this page: save your answers as a file before you leave.";
    };
    buttons[0].addEventListener("click", () => {
      const blob = new Blob([writeProgress(progress())], { type: "application/json" });
      const link = made("a", { href: URL.createObjectURL(blob), download: "gates2heads.json" });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
    buttons[1].addEventListener("click", () => file.click());
    file.addEventListener("change", async () => {
      try {
        const text = await file.files[0].text();
        keep(merged(progress(), readProgress(text)));
      } catch (error) {
        if (!(error instanceof Unreadable || error instanceof SyntaxError)) throw error;
        told.textContent = `${file.files[0].name} is not a file that was saved here. Nothing has changed.`;
      }
      file.value = "";
    });
    let sure = false;
    buttons[2].addEventListener("click", () => {
      if (sure) keep({});
      sure = !sure;
      buttons[2].textContent = sure ? "Forget all: press again to confirm" : "Forget all";
    });
    buttons[2].addEventListener("blur", () => {
      sure = false;
      buttons[2].textContent = "Forget all";
    });
    const row = made("p", { class: "g2h-progress-buttons" }, ...buttons, file);
    document.addEventListener("g2h-progress", show);
    show();
    panel.replaceChildren(told, table, row);
    panel.hidden = false;
  }

  document.addEventListener("DOMContentLoaded", () => {
    for (const form of document.querySelectorAll("form.g2h-answer")) prepare(form);
    for (const task of document.querySelectorAll(".g2h-task[data-exercise]")) prepareTask(task);
    for (const line of document.querySelectorAll(".g2h-page-progress")) prepareLine(line);
    for (const panel of document.querySelectorAll(".g2h-progress")) preparePanel(panel);
  });
  addEventListener("storage", (event) => {
    if (event.key === KEY) document.dispatchEvent(new CustomEvent("g2h-progress"));
  });
})();
