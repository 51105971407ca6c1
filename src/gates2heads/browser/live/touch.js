// When a reader uses a view: only then is its model loaded.

const CONTROL = "button, input, select, textarea, [role=button], [data-word]";

/**
 * Calls `use(target)` whenever the reader clicks a control inside `root`, or types or moves
 * something there. Pointing, scrolling and the keyboard's focus are not use, and neither is a click
 * on plain text or on what unfolds. It is heard before the control itself does what it does.
 */
export function onUse(root, use, signal) {
  const heard = ({ target }) => target.closest(CONTROL) && use(target);
  for (const type of ["click", "input"]) {
    root.addEventListener(type, heard, { capture: true, signal });
  }
}
