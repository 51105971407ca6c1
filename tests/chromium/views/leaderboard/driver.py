"""Drive the leaderboard, and compare what it shows with Python's numbers."""

from statistics import mean

import pytest
from playwright.sync_api import Locator, Page, expect

from gates2heads.metrics.bleu import sentence_bleu
from gates2heads.metrics.chrf import sentence_chrf
from gates2heads.views.leaderboard.view import AGAINST, COLUMNS, QUALITIES

HOSTILE = ["<b>A</b> dog &amp; 👍🏽.,", "كلب يركض", "狗在海滩上跑", "x" * 500, "\u202edog\u200b"]
KEYS = {
    "BLEU": ("bleu", "bleu_greedy"),
    "chrF": ("chrf", "chrf_greedy"),
    "perplexity": ("perplexity",) * 2,
    "perplexity, free-running": ("perplexity_free_running",) * 2,
    "parameters": ("parameters",) * 2,
    "training cost": ("cost",) * 2,
    "decoding cost": ("decoding", "decoding_greedy"),
}
SCALES = {"parameters": 1e-6}


def drive_board(page: Page, root: Locator, traits: dict) -> None:
    """Move every control, sort by every column, read every caption, and translate one."""
    quality, against, search, family, attention, *_ = root.locator("select").all()
    check_table(root, traits, 0)
    for chosen in (1, 0):
        search.select_option(str(chosen))
        for column in range(len(COLUMNS)):
            button = root.locator(".g2h-sort").nth(column)
            if root.locator("thead th[aria-sort]").nth(column).get_attribute("aria-sort") == "none":
                button.click()
            check_table(root, traits, chosen)
            button.click()
            check_table(root, traits, chosen)
    for place in range(len(QUALITIES)):
        quality.select_option(str(place))
        for cost in range(3):
            against.select_option(str(cost))
            check_picture(root, traits, QUALITIES[place], cost)
    families = list(dict.fromkeys(entry["family"] for entry in traits["entries"]))
    for place, name in enumerate(families, start=1):
        family.select_option(str(place))
        wanted = {entry["name"] for entry in traits["entries"] if entry["family"] == name}
        assert set(root.locator(".g2h-rung-name").all_text_contents()) == wanted
    family.select_option("0")
    for place, value in ((1, True), (2, False)):
        attention.select_option(str(place))
        wanted = {one["name"] for one in traits["entries"] if one["attention"] == value}
        assert set(root.locator(".g2h-rung-name").all_text_contents()) == wanted
    attention.select_option("0")
    drive_lengths(root, traits, against)
    drive_captions(root, traits)
    assert not root.locator("b, i").count()  # what is typed or told is text


def drive_lengths(root: Locator, traits: dict, against: Locator) -> None:
    """The lines by length: those that are known, and a sentence for the others."""
    against.select_option(str(len(AGAINST) - 1))
    lined = [place for place, one in enumerate(traits["entries"]) if one["lengths"]]
    drawn = root.locator(".g2h-picture [data-place]:has(polyline)")
    assert [int(one.get_attribute("data-place")) for one in drawn.all()] == lined
    for disabled in (root.locator("select").nth(0), root.locator("select").nth(2)):
        expect(disabled).to_be_disabled()  # BLEU and the beam, as the picture has them
        expect(disabled).to_have_value("0")
    gone = [one["name"] for one in traits["entries"] if not one["lengths"]]
    told = f"No line for {', '.join(gone)}" if gone else "One run of each model"
    expect(root.locator(".g2h-legend").first).to_contain_text(told)
    if lined:
        rung = root.locator(f".g2h-rung-name[data-place='{lined[0]}']")
        rung.press("Enter")
        expect(rung).to_have_attribute("aria-pressed", "true")
        expect(rung).to_be_focused()
        assert root.locator(".g2h-picture .g2h-range").count() == len(traits["bins"])
        rung.press("Enter")
        assert root.locator(".g2h-picture .g2h-range").count() == 0
    against.select_option("0")


def drive_captions(root: Locator, traits: dict) -> None:
    """Every caption with every seed; then the reader's own words."""
    which, seed = root.locator("select").all()[-2:]
    for number in range(len(traits["captions"])):
        which.select_option(str(number))
        for place in range(seed.locator("option").count()):
            seed.select_option(str(place))
            check_readings(root, traits, number)
    own = root.get_by_role("textbox")
    for text in [traits["captions"][-1]["reference"], *HOSTILE]:
        own.fill(text)
        check_readings(root, traits, len(traits["captions"]) - 1, own=text)
    expect(root.locator(".g2h-own-told")).to_contain_text("Yours: BLEU")
    which.select_option("0")
    expect(own).to_have_value("")
    own.fill("  ")
    assert not root.locator(".g2h-you").count()


def check_table(root: Locator, traits: dict, search: int) -> None:
    """Each number is the mean over the runs, the rows are in order, and words name the first."""
    by_name = {entry["name"]: entry for entry in traits["entries"]}
    sorts = [head.get_attribute("aria-sort") for head in root.locator("th[aria-sort]").all()]
    (column,) = (place for place, sort in enumerate(sorts) if sort != "none")
    rows = root.locator("tbody").first.locator("tr").all()
    shown, values = [], []
    for row in rows:
        values.append(None)
        entry = by_name[row.locator(".g2h-rung-name").inner_text()]
        cells = row.locator("td[data-mean]").all()
        for name, cell in zip(COLUMNS, cells, strict=True):
            told = entry["scores"].get(KEYS[name][search])
            if told is None:
                assert cell.inner_text() == "–"
                continue
            wanted = mean(told["values"]) * SCALES.get(name, 1)
            assert float(cell.get_attribute("data-mean")) == pytest.approx(wanted)
            varies = len(set(told["values"])) > 1
            assert ("±" in cell.inner_text()) == varies
            if name == COLUMNS[column]:
                shown.append(wanted)
                values[-1] = wanted
    assert shown == sorted(shown, reverse=sorts[column] == "descending")
    places = [row.locator("td").first.inner_text() for row in rows]
    ranked = sorted(
        (int(place), value) for place, value in zip(places, values, strict=True) if place != "–"
    )
    assert [place for place, _ in ranked] == [*range(1, len(ranked) + 1)]
    # a place is counted from the best, whichever end stands above; equal numbers stand as they come
    from_best = [value for _, value in ranked]
    assert from_best == sorted(from_best, reverse=COLUMNS[column] in ("BLEU", "chrF"))
    first = next(row for row, place in zip(rows, places, strict=True) if place != "–")
    name = first.locator(".g2h-rung-name").inner_text()
    expect(root.locator(".g2h-live").first).to_contain_text(f": {name}, ")


def check_picture(root: Locator, traits: dict, quality: str, cost: int) -> None:
    """A mark for each rung with both numbers; higher is better, whatever the measure."""
    needed = (KEYS[quality][0], ("parameters", "cost", "decoding")[cost])
    wanted = {
        place
        for place, one in enumerate(traits["entries"])
        if all(name in one["scores"] for name in needed)
    }
    drawn = root.locator(".g2h-picture [data-place]").all()
    assert {int(one.get_attribute("data-place")) for one in drawn} == wanted
    described = root.locator(".g2h-picture svg").get_attribute("aria-label")
    assert all(traits["entries"][place]["name"] in described for place in wanted)


def check_readings(root: Locator, traits: dict, number: int, own: str = "") -> None:
    """Each sentence has the library's scores, the best chrF first; none of this run is missing."""
    caption = traits["captions"][number]
    label = root.locator("select").last.locator("option:checked").inner_text()
    seed = int(label.removeprefix("seed "))
    wanted = {
        one["name"]: one["texts"][one["seeds"].index(seed) if one["ranked"] else 0][number]
        for one in traits["entries"]
        if not one["ranked"] or seed in one["seeds"]
    }
    if own:
        wanted["you"] = own
    rows = root.locator(".g2h-readings tbody tr").all()
    assert {row.locator("th").inner_text() for row in rows} == wanted.keys()
    order = []
    for row in rows:
        text = wanted[row.locator("th").inner_text()]
        bleu, chrf = (row.locator(f"[data-{name}]") for name in ("bleu", "chrf"))
        pairs = ((bleu, "bleu", sentence_bleu), (chrf, "chrf", sentence_chrf))
        for cell, name, score in pairs:
            right = score(text, caption["reference"]).score
            assert float(cell.get_attribute(f"data-{name}")) == pytest.approx(right, abs=1e-6)
        order.append(float(chrf.get_attribute("data-chrf")))
    assert order == sorted(order, reverse=True)
    missing = [one["name"] for one in traits["entries"] if one["name"] not in wanted]
    told = root.locator(".g2h-own-told").inner_text()
    assert all(name in told for name in missing)
