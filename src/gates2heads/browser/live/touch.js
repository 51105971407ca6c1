// When a reader means a view: only then is its model loaded.

/**
 * Calls `start` once, when the reader touches the view (pointer, finger, keyboard) or scrolls so
 * that it is in sight. A page that opens with the view in sight loads nothing yet.
 *
 * Gives a function that ends the wait.
 */
export function onFirstTouch(root, start) {
  const wait = new AbortController();
  const { signal } = wait;
  const end = () => {
    wait.abort();
    sight.disconnect();
  };
  const once = () => {
    end();
    start();
  };
  const sight = new IntersectionObserver(([entry]) => entry.isIntersecting && once(), {
    threshold: 0.5,
  });
  for (const type of ["pointerenter", "pointerdown", "focusin"]) {
    root.addEventListener(type, once, { signal });
  }
  const scrolled = () => sight.observe(root);
  document.addEventListener("scroll", scrolled, {
    capture: true,
    once: true,
    passive: true,
    signal,
  });
  return end;
}
