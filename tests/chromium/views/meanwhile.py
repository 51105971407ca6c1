"""Act in the page when a view says something: a click from outside may be too late."""

from playwright.sync_api import Locator

# The observer runs before the page takes the next message of its worker.
_ARM = """(root, words) => {
  const state = root.querySelector(".g2h-state");
  const watch = new MutationObserver(() => {
    if (!state.textContent.includes(words)) return;
    watch.disconnect();
    (ACT)(root);
  });
  watch.observe(state, { childList: true, subtree: true, characterData: true });
}"""


def when_it_says(root: Locator, words: str, act: str) -> None:
    """Run `act`, a function of the view's root in JavaScript, as soon as its state says `words`."""
    root.evaluate(_ARM.replace("ACT", act), words)
