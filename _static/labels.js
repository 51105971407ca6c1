// The theme opens a part of the contents by a sign without words: say what it opens.
document.addEventListener("DOMContentLoaded", () => {
  for (const summary of document.querySelectorAll(".bd-sidebar-primary details > summary")) {
    const link = summary.closest("li")?.querySelector("a");
    summary.setAttribute("aria-label", `pages below ${link?.textContent.trim() ?? "this one"}`);
  }
  // Entries of a bibliography are no list items to a screen reader: their list is none either.
  for (const list of document.querySelectorAll('.citation-list[role="list"]')) list.removeAttribute("role");
});
