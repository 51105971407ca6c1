// A box whose content is wider or higher than itself is a stop of the tabulator, so that a keyboard
// can scroll it. The theme measures every box of a page at once, again after each change, and a long
// page cannot react meanwhile; `_ext/local_assets.py` takes that out. Here a box is measured when it
// comes near the window.
document.addEventListener("DOMContentLoaded", () => {
  const BOXES =
    "pre, figure.g2h-figure, .cell_output > .output:not(.g2h-figure), .pst-scrollable-table-container";
  const main = document.querySelector("#main-content");
  if (!main) return;
  const scrolls = (box) => box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight;
  const near = new IntersectionObserver(
    (seen) => {
      const boxes = seen.filter((one) => one.isIntersecting).map((one) => one.target);
      const found = boxes.map(scrolls); // all are read before one is changed
      boxes.forEach((box, place) => {
        if (found[place]) box.tabIndex = 0;
        else box.removeAttribute("tabindex");
      });
    },
    { rootMargin: "100%" },
  );
  const watch = (boxes) => boxes.forEach((box) => near.observe(box));
  watch(main.querySelectorAll(BOXES));
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) {
      for (const node of addedNodes) {
        if (node instanceof Element)
          watch([node, ...node.querySelectorAll(BOXES)].filter((one) => one.matches(BOXES)));
      }
    }
  }).observe(main, { subtree: true, childList: true });
  let later;
  addEventListener("resize", () => {
    clearTimeout(later);
    later = setTimeout(() => {
      near.disconnect();
      watch(main.querySelectorAll(BOXES));
    }, 300);
  });
});
