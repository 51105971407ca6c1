// The page of claims: choose a verdict, open the entry that a link leads to, or all of them.
document.addEventListener("DOMContentLoaded", () => {
  const entries = [...document.querySelectorAll(".g2h-entry")];
  if (entries.length === 0) return;
  const folded = entries.map((entry) => entry.querySelector("details"));
  const ORDER = ["", "stands", "budget", "narrowed", "refuted", "open", "untested"];
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
    textContent: "Open all entries",
    onclick: () => {
      const open = folded.some((one) => !one.open);
      for (const one of folded) one.open = open;
    },
  });
  for (const one of folded) {
    one.addEventListener("toggle", () => {
      const isOpen = folded.every((other) => other.open);
      opener.textContent = isOpen ? "Close all entries" : "Open all entries";
    });
  }
  chooser.append(opener);
  entries[0].closest("section").before(chooser);

  function isOf(entry, verdict) {
    return verdict === "" || entry.dataset.verdict === verdict;
  }

  function show(verdict) {
    for (const entry of entries) entry.hidden = !isOf(entry, verdict);
    for (const chapter of new Set(entries.map((entry) => entry.closest("section"))))
      chapter.hidden = !chapter.querySelector(".g2h-entry:not([hidden])");
  }

  // A link from a chapter shows its entry, whatever was chosen before.
  function follow() {
    const entry = entries.find((one) => `#${one.id}` === location.hash);
    if (!entry) return;
    chooser.querySelector("input").checked = true;
    show("");
    entry.querySelector("details").open = true;
    entry.scrollIntoView();
  }
  addEventListener("hashchange", follow);
  follow();
});
