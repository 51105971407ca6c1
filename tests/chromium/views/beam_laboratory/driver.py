"""Drive a beam laboratory, and compare its tree and its table with the library's searches."""

import json
from functools import cache

import pytest
from playwright.sync_api import Locator, Page, expect

from gates2heads.browser.engine.rebuild import shipped
from gates2heads.decoding.lengths import Power
from gates2heads.watching.searches import Compared, compare, watch
from gates2heads.watching.two_tables import BOS, EOS, START, STEPS, two_tables

OWN = "Zwei Kinder bauen eine Burg aus Sand."
WIDE, LONG = 3, 1.25  # what the sliders are moved to
NEAR = 5e-3  # two float32 passes, summed in another order, and what is shown is rounded
FACTS = """root => ({
  cells: [...root.querySelectorAll("button.g2h-cell")].map((cell) => ({ ...cell.dataset })),
  rows: [...root.querySelectorAll(".g2h-ranking tbody tr")].map((row) => ({
    name: row.dataset.name, cells: [...row.children].map((cell) => cell.textContent) })),
  parts: root.querySelector(".g2h-parts").dataset.parts.split(" ").map(Number),
  cost: root.querySelector(".g2h-cost").textContent,
  said: root.querySelector(".g2h-live").textContent,
})"""
# Plays until the second step and stops there, in one go: a click from outside may be too late.
WATCH_A_STEP = """async (root) => {
  const slider = root.querySelector("[data-trait=step]");
  const buttons = [...root.querySelectorAll("button")];
  const player = buttons.find((one) => one.textContent === "Step by step");
  player.click();
  const meanwhile = player.textContent;
  while (slider.value !== "2") await new Promise(requestAnimationFrame);
  player.click();
  return [meanwhile, slider.value, player.textContent];
}"""


def number(text: str) -> float:
    return float(text.replace("−", "-").replace(",", ""))


@cache
def library(text: str, width: int, alpha: float, prefix: tuple[int, ...] = ()) -> Compared:
    """What the library's model finds; the two tables if there is no text."""
    options = {"width": width, "length_rule": Power(alpha), "prefix": list(prefix)}
    if not text:
        start = {"bos": BOS, "eos": EOS, "max_length": STEPS}
        return compare(two_tables, START, **start, **options)
    one = shipped("translator")
    return watch(one.model, text, one.source, one.target, max_length=40, **options).compared


def settled(root: Locator, **asked) -> dict:
    """Wait until the page shows the answer to what is asked now; give what it shows."""
    fits = """([root, asked]) => root.dataset.state === "done"
      && !root.hasAttribute("data-stale")
      && Object.entries(JSON.parse(root.dataset.told)).every(([name, value]) =>
        !(name in asked) || JSON.stringify(value) === JSON.stringify(asked[name]))"""
    handle = root.element_handle()
    root.page.wait_for_function(fits, arg=[handle, asked], timeout=120_000)
    return root.evaluate(FACTS)


def same_as(told: dict, there: Compared, *, pointed: bool = False) -> None:
    """Tree, ranking and greedy path are the library's; `pointed`: the parts are of another."""
    nodes = [node for node in there.nodes if node.parent is not None]
    assert len(told["cells"]) == len(nodes)
    by_place = sorted(told["cells"], key=lambda cell: int(cell["place"]))
    ours = sorted((float(cell["logProb"]), cell["fate"]) for cell in by_place)
    theirs = sorted((node.log_prob, node.fate) for node in nodes)
    assert [prob for prob, _ in ours] == pytest.approx([prob for prob, _ in theirs], abs=NEAR)
    fates = [sorted(fate for _, fate in one) for one in (ours, theirs)]
    assert fates[0] == fates[1]
    best = sum("best" in cell for cell in told["cells"])
    assert best == len(there.ranking[0].tokens)
    ranking = [row["cells"] for row in told["rows"] if row["cells"][0][0].isdigit()]
    assert len(ranking) == len(there.ranking)
    for row, found in zip(ranking, there.ranking, strict=True):
        score, log_prob, length = (number(cell) for cell in row[2:5])
        assert (score, length) == (pytest.approx(found.score, abs=NEAR), len(found.tokens))
        assert log_prob == pytest.approx(found.log_prob, abs=2 * NEAR)
    (greedy,) = [row["cells"] for row in told["rows"] if row["name"].endswith("greedy")]
    assert number(greedy[3]) == pytest.approx(there.greedy.log_prob, abs=2 * NEAR)
    assert pointed or told["parts"] == pytest.approx(there.ranking[0].parts, abs=NEAR)
    assert f"Scored: {there.scored:,} candidates" in told["cost"]


def drive_beam(page: Page, root: Locator, traits: dict) -> None:
    """Type, move every slider, force and release, sample, and search the tables."""
    text, alpha = traits["examples"][0], traits["alpha"]
    expect(root.locator(".g2h-state")).not_to_have_text("")
    same_as(root.evaluate(FACTS), library(text, traits["width"], alpha))
    root.locator("input[type=text]").fill(OWN)
    same_as(settled(root, text=OWN), library(OWN, traits["width"], alpha))
    root.locator("[data-trait=width]").fill(str(WIDE))
    root.locator("[data-trait=alpha]").fill(str(LONG))
    same_as(settled(root, width=WIDE, alpha=LONG), library(OWN, WIDE, LONG))
    force(root, OWN)
    walk(page, root)
    sample(root)
    refuse(root)
    on_the_tables(root)
    show_me(root, traits)
    root.locator("input[type=radio]").first.check()
    root.locator("[data-place='0'].g2h-chip").click()
    settled(root, text=text)


def force(root: Locator, text: str) -> None:
    """Press a pruned candidate of the second step: the search goes that way; then release it."""
    tree = library(text, WIDE, LONG).nodes
    place = next(
        at for at, node in enumerate(tree) if node.length == 2 and node.fate == "pruned"
    )  # the page's nodes come in the same order
    prefix = (tree[tree[place].parent].token, tree[place].token)
    root.locator(f"button.g2h-cell[data-place='{place}']").click()
    told = settled(root, prefix=list(prefix))
    same_as(told, library(text, WIDE, LONG, prefix), pointed=True)
    assert sum("forced" in cell for cell in told["cells"]) == 2
    assert "Forced to begin with" in told["said"]
    (free,) = [row["cells"] for row in told["rows"] if row["name"] == "unconstrained beam"]
    best = library(text, WIDE, LONG).ranking[0]
    assert number(free[2]) == pytest.approx(best.score, abs=NEAR)
    focused = root.evaluate("root => root.contains(document.activeElement)")
    assert focused, "the keyboard goes on where the search was forced"
    root.get_by_role("button", name="Release").click()
    same_as(settled(root, prefix=[]), library(text, WIDE, LONG))


def walk(page: Page, root: Locator) -> None:
    """Arrows move over the candidates, each tells its parts; steps are shown one by one."""
    first = root.locator("button.g2h-cell[tabindex='0']")
    first.focus()
    page.keyboard.press("ArrowRight")
    cell = root.locator("button.g2h-cell:focus")
    assert "step 2" in cell.get_attribute("aria-label")
    parts = root.evaluate(FACTS)["parts"]
    assert len(parts) == 2
    assert sum(parts) == pytest.approx(float(cell.get_attribute("data-log-prob")), abs=1e-3)
    slider = root.locator("[data-trait=step]")
    last = int(slider.get_attribute("max"))
    slider.fill("2")
    shown = {cell["place"] for cell in root.evaluate(FACTS)["cells"]}
    slider.fill(str(last))
    assert shown < {cell["place"] for cell in root.evaluate(FACTS)["cells"]}
    assert root.evaluate(WATCH_A_STEP) == ["Stop", "2", "Step by step"]
    slider.fill(str(last))


def sample(root: Locator) -> None:
    """A narrow sample is greedy search; another seed of a wide one is another sample."""
    root.locator("[data-trait=top_k]").fill("1")
    root.get_by_role("button", name="Sample", exact=True).click()
    narrow = settled(root, sampling=asked(root))
    rows = {row["name"]: row["cells"] for row in narrow["rows"]}
    assert rows["sample, seed 1"][1:4] == rows["greedy"][1:4]
    root.locator("[data-trait=top_k]").fill("0")
    root.locator("[data-trait=temperature]").fill("1.5")
    seed = root.locator("input[type=number]")
    seed.fill("-5")
    seed.press("Tab")
    expect(root.locator(".g2h-more .g2h-refusal")).to_contain_text("0 is used")
    seed.fill("1")
    seed.press("Tab")
    expect(root.locator(".g2h-more .g2h-refusal")).to_be_hidden()
    written = set()
    for _ in range(3):
        root.get_by_role("button", name="Sample again").click()
        told = settled(root, sampling=asked(root))
        (row,) = [row["cells"] for row in told["rows"] if row["name"].startswith("sample")]
        written.add(row[1])
    assert len(written) > 1


def show_me(root: Locator, traits: dict) -> None:
    """Each button sets its state, is marked, and says what to look at, until something changes."""
    buttons = root.locator(".g2h-show-me button")
    expect(buttons).to_have_count(len(traits["show_me"]))
    for number, told in enumerate(traits["show_me"]):
        buttons.nth(number).click()
        state = told["state"]
        settled(root, **{name: state[name] for name in ("width", "alpha", "table", "prefix")})
        expect(buttons.nth(number)).to_have_attribute("aria-pressed", "true")
        expect(root.locator(".g2h-look")).to_have_text(told["look"])
    root.locator("[data-trait=width]").fill("4")
    expect(root.locator(".g2h-look")).to_have_text("")
    expect(root.locator(".g2h-show-me [aria-pressed=true]")).to_have_count(0)


def asked(root: Locator) -> dict:
    """The sampling that the controls ask for."""
    value = {
        name: json.loads(root.locator(f"[data-trait={name}]").input_value())
        for name in ("temperature", "top_k", "top_p")
    }
    seed = int(root.locator("input[type=number]").input_value())
    named = {"temperature": value["temperature"], "topK": value["top_k"]}
    return {**named, "topP": value["top_p"], "seed": seed}


def refuse(root: Locator) -> None:
    """What is too long or empty is refused in a sentence; the field keeps it, as text."""
    field = root.locator("input[type=text]")
    for text, state, words in (
        ("Hund " * 60, "refused", "tokens (maximum 40)."),
        ("", "empty", "The input is empty"),
    ):
        field.fill(text)
        expect(root).to_have_attribute("data-state", state, timeout=60_000)
        expect(root.locator(".g2h-refusal:not(.g2h-english *)").first).to_contain_text(words)
        assert field.input_value() == text
        expect(root).to_have_attribute("data-stale", "")  # the answer before is dimmed
    field.fill("<img src=x onerror=alert(1)>")
    settled(root, text="<img src=x onerror=alert(1)>")
    assert root.locator("img").count() == 0


def on_the_tables(root: Locator) -> None:
    """Greedy search finds 0.048, a beam of two 0.054, and what is forced through C as well."""
    root.locator("input[type=radio]").nth(1).check()
    for width, chance in ((1, "0.048"), (2, "0.054")):
        root.locator("[data-trait=width]").fill(str(width))
        told = settled(root, table=True, width=width)
        same_as(told, library("", width, LONG))
        assert told["rows"][0]["cells"][6] == chance
    exhaustive = told["rows"][-1]
    assert exhaustive["name"].startswith("exhaustive")
    assert exhaustive["cells"][6] == "0.054"
    assert "121 complete sequences" in told["cost"]
    root.locator("[data-trait=width]").fill("1")
    told = settled(root, table=True, width=1)
    place = next(
        cell["place"] for cell in told["cells"] if cell["logProb"] == "-1.8971"
    )  # A, C: log(0.5 · 0.3)
    root.locator(f"button.g2h-cell[data-place='{place}']").click()
    told = settled(root, prefix=[0, 2])
    same_as(told, library("", 1, LONG, (0, 2)), pointed=True)
    assert "0.054" in told["rows"][0]["cells"]
