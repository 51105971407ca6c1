// The theme opens a part of the contents by a sign without words: say what it opens.
document.addEventListener("DOMContentLoaded", () => {
  for (const summary of document.querySelectorAll(".bd-sidebar-primary details > summary")) {
    const link = summary.closest("li")?.querySelector("a");
    summary.setAttribute("aria-label", `pages below ${link?.textContent.trim() ?? "this one"}`);
  }
  // Beside a wide column a formula that is a little wider is set smaller. On a phone, or where that
  // would not do, it scrolls, so the keyboard must reach it; no other is a stop.
  const [WIDE, SMALLEST] = [600, 0.72]; // pixels; a share of the usual size
  const wide = new ResizeObserver((seen) => {
    for (const { target } of seen) {
      target.style.fontSize = "";
      const share = target.clientWidth / target.scrollWidth;
      if (target.clientWidth >= WIDE && share < 1 && share >= SMALLEST)
        target.style.fontSize = `${Math.floor(1000 * share) / 10 - 0.5}%`;
      const named = { tabindex: "0", role: "group", "aria-label": "a formula wider than the page" };
      for (const [name, value] of Object.entries(named)) {
        if (target.scrollWidth > target.clientWidth) target.setAttribute(name, value);
        else target.removeAttribute(name);
      }
    }
  });
  const measure = () => {
    wide.disconnect();
    for (const formula of document.querySelectorAll("div.math")) wide.observe(formula);
  };
  measure();
  // A formula is wider in its own font, which arrives later.
  document.fonts.addEventListener("loadingdone", measure);
});
