"""Drive an alignment explorer and compare its picture with the saved weights."""

from dataclasses import dataclass

import numpy as np
from playwright.sync_api import Locator, Page, expect

ROUNDING = 1e-6  # six decimals in the attributes
PIXELS = 0.02  # of a bar's full height: the screen's own rounding


@dataclass(frozen=True)
class Shown:
    """One sentence under one score function."""

    source: list[str]
    target: list[str]
    weights: np.ndarray  # (T, S)


def decode(traits: dict) -> list[list[Shown]]:
    """Read the payload as [score][sentence]."""
    catalogue, numbers = traits["catalogue"], np.frombuffer(traits["weights"], "<f4")
    sources, grid, at = catalogue["sources"], [], 0
    for targets in catalogue["targets"]:
        grid.append([])
        for source, target in zip(sources, targets, strict=True):
            size = len(source) * len(target)
            weights = numbers[at : at + size].reshape(len(target), len(source))
            grid[-1].append(Shown(source, target, weights))
            at += size
    assert at == numbers.size
    return grid


def visible(token: str) -> str:
    return token if token.strip() else "␣"


@dataclass
class Explorer:
    """The view on the page, and what it should show."""

    page: Page
    root: Locator
    grid: list[list[Shown]]

    def __post_init__(self):
        self.sentences, self.scores = self.root.locator("select").all()
        self.slider = self.root.locator("input[type=range]")
        self.picture = self.root.locator(".g2h-picture")

    def check(self, score: int, sentence: int, step: int, preview: int | None = None) -> None:
        """Compare every cell, bar, link, label and control; `preview` is drawn, not picked."""
        drawn = step if preview is None else preview
        expect(self.picture).to_have_attribute("data-step", str(drawn))
        there, shown = self.root.evaluate(PICTURE), self.grid[score][sentence]
        weights = shown.weights[drawn]
        assert (there["sentence"], there["score"], there["step"]) == (sentence, score, step)
        assert there["last"] == len(shown.target) - 1
        assert there["output"] == f"{step + 1} of {len(shown.target)}"
        assert there["source"] == [visible(token) for token in shown.source]
        assert there["target"] == [visible(token) for token in shown.target]
        assert there["labels"] == [
            f"{visible(token)}, position {place + 1}, weight "
            for place, token in enumerate(shown.source)
        ]
        for name, tolerance in TOLERANCES.items():
            np.testing.assert_allclose(there[name], weights, 0, tolerance, err_msg=name)
        assert there["flipped"] == (weights >= np.float32(0.65)).tolist()
        np.testing.assert_allclose(there["matrix"], shown.weights, 0, ROUNDING)
        np.testing.assert_allclose(there["opacities"], shown.weights, 0, ROUNDING)
        assert there["current"] == [step, step]
        assert there["drawn"] == [drawn, drawn]
        self.check_links(there)
        self.check_sentence(there["live"], shown, drawn)

    @staticmethod
    def check_links(there: dict) -> None:
        """Links run from the drawn step's token to the source tokens, in pixels."""
        ends, source, target = there["ends"], there["middles"], there["from"]
        assert all(abs(start - target) < 1 for start, _ in ends)
        assert all(abs(end - place) < 1 for (_, end), place in zip(ends, source, strict=True))

    @staticmethod
    def check_sentence(text: str, shown: Shown, step: int) -> None:
        weights, token = shown.weights[step], visible(shown.target[step])
        begin, _, looks = text.partition(": looks at ")
        assert begin == f'step {step + 1} writes "{token}"'
        most = int(weights.argmax())
        assert looks.startswith(f'"{visible(shown.source[most])}" ')
        assert shows(looks.split('" ')[1].split(",")[0], weights[most], 2)

    def pick(self, score: int, sentence: int) -> Shown:
        self.scores.select_option(index=score)
        self.sentences.select_option(index=sentence)
        return self.grid[score][sentence]

    def go(self, step: int) -> None:
        self.slider.fill(str(step))


def shows(text: str, value: float, decimals: int) -> bool:
    """Tell whether a text is the value at that many decimals, whichever way a tie was rounded."""
    exact = abs(float(text) - float(value)) <= 0.5 * 10**-decimals + 1e-9
    return exact and len(text.partition(".")[2]) == decimals


def drive_explorer(page: Page, root: Locator, traits: dict) -> None:
    """Drive every control of one explorer."""
    explorer = Explorer(page, root, decode(traits))
    root.scroll_into_view_if_needed()
    explorer.check(traits["score"], traits["sentence"], traits["step"])
    for score, sentences in enumerate(explorer.grid):
        for sentence, shown in enumerate(sentences):
            explorer.pick(score, sentence)
            last = len(shown.target) - 1
            every = range(last + 1) if sentence == score else {0, last // 2, last}
            for step in every:
                explorer.go(step)
                explorer.check(score, sentence, step)
    drive_clamping(explorer)
    drive_keys(explorer)
    drive_pointer(explorer)
    drive_focus(explorer)


def drive_clamping(explorer: Explorer) -> None:
    """A change of score function keeps the step, or moves it to the last one there is."""
    lengths = [len(sentences[0].target) for sentences in explorer.grid]
    long, short = int(np.argmax(lengths)), int(np.argmin(lengths))
    explorer.pick(long, 0)
    explorer.go(lengths[long] - 1)
    explorer.scores.select_option(index=short)
    explorer.check(short, 0, lengths[short] - 1)


def drive_keys(explorer: Explorer) -> None:
    """Arrows, Home and End on the picture; they stop at the ends."""
    last = len(explorer.pick(0, 0).target) - 1
    beyond = min(1, len(explorer.grid[0]) - 1)
    explorer.slider.focus()
    explorer.page.keyboard.press("Tab")
    expect(explorer.picture).to_be_focused()
    expect(explorer.root.locator(".g2h-scroll")).to_have_css("outline-style", "solid")
    for key, sentence, step in [
        ("Home", 0, 0),
        ("ArrowLeft", 0, 0),
        ("ArrowRight", 0, min(1, last)),
        ("End", 0, last),
        ("ArrowRight", 0, last),
        ("ArrowUp", 0, last),
        ("ArrowDown", beyond, min(last, len(explorer.grid[0][beyond].target) - 1)),
    ]:
        explorer.page.keyboard.press(key)
        explorer.check(0, sentence, step)


def drive_pointer(explorer: Explorer) -> None:
    """Hovering previews a step or shows a weight; pressing picks."""
    shown = explorer.pick(0, 0)
    last, far = len(shown.target) - 1, len(shown.source) - 1
    explorer.go(0)
    targets, cells = explorer.root.locator(".g2h-target"), explorer.root.locator(".g2h-source")
    targets.nth(last).hover()
    explorer.check(0, 0, 0, preview=last)
    explorer.sentences.hover()
    explorer.check(0, 0, 0)
    for place in {0, far // 2, far}:
        cells.nth(place).locator(".g2h-token").hover()
        value = cells.nth(place).locator(".g2h-value")
        expect(value).to_be_visible()
        assert shows(value.inner_text(), shown.weights[0, place], 3)
    targets.nth(last).click()
    explorer.check(0, 0, last)
    row = explorer.root.locator(".g2h-row").nth(last // 2)
    row.locator(".g2h-cell").nth(far).click()
    explorer.check(0, 0, last // 2)
    value = cells.nth(far).locator(".g2h-value")
    assert shows(value.inner_text(), shown.weights[last // 2, far], 3)
    explorer.sentences.hover()


def drive_focus(explorer: Explorer) -> None:
    """The source row is one tab stop; arrows walk along it as it is written."""
    shown = explorer.pick(0, 0)
    explorer.go(0)
    explorer.picture.focus()
    explorer.page.keyboard.press("Tab")
    onward = "ArrowLeft" if explorer.picture.get_attribute("dir") == "rtl" else "ArrowRight"
    cells = explorer.root.locator(".g2h-source")
    for place in range(min(3, len(shown.source))):
        cell = cells.nth(place)
        expect(cell).to_be_focused()
        value = cell.locator(".g2h-value")
        expect(value).to_be_visible()
        assert shows(value.inner_text(), shown.weights[0, place], 3)
        outline = cell.evaluate("node => getComputedStyle(node).outlineStyle")
        assert outline == "solid"
        explorer.page.keyboard.press(onward)
    explorer.check(0, 0, 0)


# What of the picture must equal the weights of the drawn step, and how closely.
TOLERANCES = {
    "weights": ROUNDING,
    "bars": PIXELS,
    "shades": ROUNDING,
    "linked": ROUNDING,
    "widths": ROUNDING,
    "values": 5.1e-4,
    "spoken": 5.1e-4,
}

PICTURE = """async (root) => {
  // Links follow once the browser has laid the sentence out.
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  await frame();
  await frame();
  const all = (selector, within = root) => [...within.querySelectorAll(selector)];
  const height = (node) => node.getBoundingClientRect().height;
  const middle = (node) => {
    const { left, width } = node.getBoundingClientRect();
    return left + width / 2;
  };
  const marked = (selector, mark) =>
    all(selector).findIndex((node) => node.classList.contains(mark));
  const cells = all(".g2h-source"), links = all(".g2h-links path");
  const part = (selector) => cells.map((cell) => cell.querySelector(selector));
  const alpha = (node) => {
    const parts = getComputedStyle(node).backgroundColor.match(/[\\d.e-]+(?=\\))/);
    return getComputedStyle(node).backgroundColor.includes("/") ? Number(parts[0]) : 1;
  };
  const shades = part(".g2h-shade").map(alpha);
  const [sentences, scores] = all("select");
  const slider = root.querySelector("input[type=range]");
  const left = root.querySelector(".g2h-links").getBoundingClientRect().left;
  return {
    sentence: sentences.selectedIndex, score: scores.selectedIndex,
    step: Number(slider.value), last: Number(slider.max),
    output: root.querySelector("output").textContent,
    live: root.querySelector(".g2h-live").textContent,
    source: part("bdi").map((node) => node.textContent),
    target: all(".g2h-target").map((node) => node.textContent),
    labels: cells.map((cell) => cell.getAttribute("aria-label").replace(/[\\d.]+$/, "")),
    spoken: cells.map((cell) => Number(cell.getAttribute("aria-label").match(/[\\d.]+$/)[0])),
    weights: cells.map((cell) => Number(cell.dataset.weight)),
    values: part(".g2h-value").map((node) => Number(node.textContent)),
    bars: part(".g2h-bar").map((node) => height(node) / node.parentElement.clientHeight),
    shades,
    flipped: part(".g2h-token").map((node) => node.classList.contains("g2h-strong")),
    linked: links.map((path) => Number(path.dataset.weight)),
    widths: links.map((path) => Number(path.getAttribute("stroke-width")) / 12),
    ends: links.map((path) => {
      const end = path.getTotalLength();
      return [path.getPointAtLength(0).x + left, path.getPointAtLength(end).x + left];
    }),
    middles: cells.map(middle),
    from: middle(root.querySelector(".g2h-target.g2h-shown")),
    matrix: all(".g2h-row").map((row) =>
      all(".g2h-cell", row).map((cell) => Number(cell.dataset.weight))),
    opacities: all(".g2h-row").map((row) =>
      all(".g2h-cell", row).map(alpha)),
    current: [marked(".g2h-target", "g2h-current"), marked(".g2h-row", "g2h-current")],
    drawn: [marked(".g2h-target", "g2h-shown"), marked(".g2h-row", "g2h-shown")],
  };
}"""
