// The theme opens a part of the contents by a sign without words: say what it opens.
document.addEventListener("DOMContentLoaded", () => {
  for (const summary of document.querySelectorAll(".bd-sidebar-primary details > summary")) {
    const link = summary.closest("li")?.querySelector("a");
    summary.setAttribute("aria-label", `pages below ${link?.textContent.trim() ?? "this one"}`);
  }
  // Entries of a bibliography are no list items to a screen reader: their list is none either.
  for (const list of document.querySelectorAll('.citation-list[role="list"]'))
    list.removeAttribute("role");
  // A formula that is wider than its column scrolls, so the keyboard must reach it; no other is a
  // stop.
  const wide = new ResizeObserver((seen) => {
    for (const { target } of seen) {
      const named = { tabindex: "0", role: "group", "aria-label": "a formula wider than the page" };
      for (const [name, value] of Object.entries(named)) {
        if (target.scrollWidth > target.clientWidth) target.setAttribute(name, value);
        else target.removeAttribute(name);
      }
    }
  });
  for (const formula of document.querySelectorAll("div.math")) wide.observe(formula);
});
