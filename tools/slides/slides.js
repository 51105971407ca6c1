// Shows one slide at a time, in the size of the window, and the speaker's notes in a window beside it.

const [WIDTH, HEIGHT, SMALLEST] = [1280, 720, 0.6];
const slides = [...document.querySelectorAll(".slide")];
const byId = (name) => document.getElementById(name);
let at = 0;
let speaker = null;

/** The number in the address, from 1, or the first. */
const asked = () => Math.min(Math.max(Number(location.hash.slice(1)) || 1, 1), slides.length) - 1;

/** Letters of a slide that is too full become smaller, down to a limit. */
function fit(slide) {
  const body = slide.querySelector(".body");
  let share = 1;
  const over = () =>
    body.scrollHeight > body.clientHeight + 1 ||
    [body, ...body.querySelectorAll(".math, .highlight pre, .pst-scrollable-table-container")].some(
      (box) => box.scrollWidth > box.clientWidth + 1,
    );
  body.style.setProperty("--fit", share);
  while (share > SMALLEST && over()) {
    share -= 0.04;
    body.style.setProperty("--fit", share);
  }
}

function notes() {
  if (!speaker || speaker.closed) return;
  const page = speaker.document;
  const title = page.createElement("h1");
  const next = page.createElement("p");
  const text = page.createElement("div");
  title.textContent = `${at + 1}. ${slides[at].querySelector("h2").textContent}`;
  text.append(...slides[at].querySelector(".notes").cloneNode(true).childNodes);
  next.className = "next";
  next.textContent = slides[at + 1]
    ? `Next: ${slides[at + 1].querySelector("h2").textContent}`
    : "This is the last slide.";
  page.title = "Speaker's notes";
  page.body.replaceChildren(title, text, next);
}

function show(place) {
  at = Math.min(Math.max(place, 0), slides.length - 1);
  slides.forEach((slide, k) => slide.classList.toggle("current", k === at));
  byId("number").textContent = `${at + 1} / ${slides.length}`;
  byId("back").disabled = at === 0;
  byId("next").disabled = at === slides.length - 1;
  if (asked() !== at || !location.hash) history.replaceState(null, "", `#${at + 1}`);
  notes();
}

function go(step) {
  show(at + step);
  slides[at].querySelector("h2").focus({ preventScroll: true });
}

/** Opens the notes; the new window is blank and belongs to this page, also from a file. */
function openNotes() {
  speaker = open("", "notes", "width=640,height=720");
  if (!speaker) return;
  const page = speaker.document;
  page.documentElement.lang = "en";
  page.head.replaceChildren();
  for (const sheet of document.querySelectorAll("link[rel=stylesheet]")) {
    const copy = page.createElement("link");
    Object.assign(copy, { rel: "stylesheet", href: sheet.href });
    page.head.append(copy);
  }
  page.body.className = "speaker bd-article";
  page.onkeydown = (event) => key(event);
  notes();
}

const STEPS = { ArrowRight: 1, PageDown: 1, " ": 1, ArrowLeft: -1, PageUp: -1 };
// Inside a view the arrows and the space bar belong to its controls.
const OWN = ".g2h-widget, a, button, input, select, textarea, summary";

function key(event) {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const own = event.target.closest?.(OWN);
  if (own && !event.key.startsWith("Page")) return;
  if (event.key in STEPS) go(STEPS[event.key]);
  else if (event.key === "Home") go(-slides.length);
  else if (event.key === "End") go(slides.length);
  else if (event.key === "n") openNotes();
  else return;
  event.preventDefault();
}

const scale = () => {
  const share = Math.min(innerWidth / WIDTH, innerHeight / HEIGHT);
  document.documentElement.style.setProperty("--scale", share);
};

// Before a view hears of it: a presenter's remote control sends PageUp and PageDown.
document.addEventListener("keydown", key, true);
byId("back").addEventListener("click", () => show(at - 1));
byId("next").addEventListener("click", () => show(at + 1));
byId("speaker").addEventListener("click", openNotes);
addEventListener("hashchange", () => show(asked()));
addEventListener("resize", scale);
scale();
show(asked());
document.fonts.ready.then(() => {
  slides.forEach(fit);
  document.documentElement.dataset.ready = "yes";
});
