// The page of claims: choose a verdict, open the entry that a link leads to, or all of them.
document.addEventListener("DOMContentLoaded", () => {
  const entries = [...document.querySelectorAll(".g2h-entry")];
  if (entries.length === 0) return;
  const [UNFOLD, FOLD] = ["Unfold the evidence", "Fold the evidence"];
  const folded = entries.map((entry) => entry.querySelector("details"));
  const ORDER = ["", "open", "refuted", "narrowed", "budget", "stands", "untested"];
  const verdicts = new Map([["", "all"]]); // a verdict to its words
  for (const entry of entries) {
    const [words] = entry.querySelector("summary").textContent.split(":");
    verdicts.set(entry.dataset.verdict, words.toLowerCase());
  }

  const chooser = document.createElement("fieldset");
  chooser.className = "g2h-claims-chooser";
  chooser.append(Object.assign(document.createElement("legend"), { textContent: "Show" }));
  for (const verdict of ORDER.filter((one) => verdicts.has(one))) {
    const found = entries.filter((entry) => isOf(entry, verdict)).length;
    const label = document.createElement("label");
    const choice = Object.assign(document.createElement("input"), {
      type: "radio",
      name: "g2h-verdict",
      checked: verdict === "",
      onchange: () => show(verdict),
    });
    label.append(choice, ` ${verdicts.get(verdict)} (${found})`);
    chooser.append(label, " ");
  }
  const opener = Object.assign(document.createElement("button"), {
    type: "button",
    className: "g2h-plain-button",
    textContent: UNFOLD,
    onclick: () => {
      const seen = shown();
      const open = seen.some((one) => !one.open);
      for (const one of seen) one.open = open;
    },
  });
  for (const one of folded) one.addEventListener("toggle", relabel);
  const told = document.createElement("output"); // a screen reader says what it shows
  chooser.append(opener, " ", told);
  entries[0].closest("section").before(chooser);

  function shown() {
    return folded.filter((one) => !one.closest("[hidden]"));
  }

  function relabel() {
    opener.textContent = shown().every((one) => one.open) ? FOLD : UNFOLD;
  }

  function isOf(entry, verdict) {
    return verdict === "" || entry.dataset.verdict === verdict;
  }

  function show(verdict) {
    for (const entry of entries) entry.hidden = !isOf(entry, verdict);
    for (const chapter of new Set(entries.map((entry) => entry.closest("section"))))
      chapter.hidden = !chapter.querySelector(".g2h-entry:not([hidden])");
    told.textContent = `${shown().length} of ${entries.length} claims are shown.`;
    relabel();
  }

  // A link shows what it leads to: an entry or a chapter that was not chosen, or a folded study.
  function follow(address) {
    const target = document.getElementById(decodeURIComponent(address.slice(1)));
    if (!target) return;
    if (target.closest("[hidden]")) {
      chooser.querySelector("input").checked = true;
      show("");
    }
    const fold = target.matches("details") ? target : target.querySelector(":scope > details");
    if (fold) fold.open = true;
    reach(target, 10);
  }

  /** Scrolls to a target, and again while what was hidden gets its height. */
  function reach(target, frames) {
    target.scrollIntoView();
    if (frames) requestAnimationFrame(() => reach(target, frames - 1));
  }
  addEventListener("hashchange", () => follow(location.hash));
  // The same link once more changes no address.
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link && link.hash === location.hash) follow(link.hash);
  });
  follow(location.hash);
});
