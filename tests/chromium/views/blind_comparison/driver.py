"""Drive a `BlindComparison`: judge all pairs, go back, and compare the result with Python's."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from gates2heads.metrics.judgements import agreement, sign_test

TOLD = {"A": "A is better", "B": "B is better", "tie": "Equally good"}


def drive_blind(page: Page, root: Locator, traits: dict) -> None:
    """Choose by mouse and keyboard; nothing names a system before the last choice is made."""
    pairs, systems = traits["pairs"], traits["systems"]
    root.scroll_into_view_if_needed()
    choices = [("A", "B", "B", "tie")[place % 4] for place in range(len(pairs))]
    for place, (pair, choice) in enumerate(zip(pairs, choices, strict=True)):
        check_pair(root, place, pair, len(pairs))
        for system in systems:
            assert system not in root.inner_text()
        button = root.get_by_role("button", name=TOLD[choice])
        if place % 2:
            button.focus()
            page.keyboard.press("Enter")
        else:
            button.click()
        expect(root.locator(".g2h-progress")).to_be_focused()
    check_result(root, pairs, choices, traits)
    root.get_by_role("button", name="Back").click()
    check_pair(root, len(pairs) - 1, pairs[-1], len(pairs))
    chosen = root.get_by_role("button", name=TOLD[choices[-1]])
    expect(chosen).to_have_attribute("aria-pressed", "true")
    root.get_by_role("button", name=TOLD["tie"]).click()
    check_result(root, pairs, [*choices[:-1], "tie"], traits)
    root.get_by_role("button", name="Start again").click()
    check_pair(root, 0, pairs[0], len(pairs))
    expect(root.get_by_role("button", name="Back")).to_be_disabled()
    expect(root.locator("[aria-pressed=true]")).to_have_count(0)


def check_pair(root: Locator, place: int, pair: dict, count: int) -> None:
    expect(root.locator(".g2h-progress")).to_contain_text(f"Pair {place + 1} of {count}")
    expect(root.locator(".g2h-source")).to_have_text(pair["source"])
    expect(root.locator(".g2h-meaning")).to_contain_text(pair["meaning"])
    sides = [pair["first"], pair["second"]]
    expect(root.locator(".g2h-outputs section > :last-child")).to_have_text(
        sides[::-1] if pair["swapped"] else sides
    )


def told(name: str, words: str) -> float:
    """The number that the result gives under a name."""
    return float(re.search(rf"{name} [=<] (−?[\d.]+\d)", words)[1].replace("−", "-"))


def check_result(root: Locator, pairs: list[dict], choices: list[str], traits: dict) -> None:
    reader = [
        "tie" if choice == "tie" else ("first", "second")[(choice == "B") != pair["swapped"]]
        for pair, choice in zip(pairs, choices, strict=True)
    ]
    first, second = reader.count("first"), reader.count("second")
    words = root.locator(".g2h-result").inner_text()
    if first + second:
        assert told("p", words) == pytest.approx(sign_test(first, second), abs=0.0051)
    labels = [(label, pair["metric"]) for label, pair in zip(reader, pairs, strict=True)]
    if judged := [both for both in labels if "tie" not in both]:
        agreed = agreement(*zip(*judged, strict=True))
        assert told("κ", words) == pytest.approx(agreed.kappa, abs=0.0051)
    else:
        assert "there is no κ" in words
    rows = root.locator(".g2h-result tbody tr")
    expect(rows).to_have_count(len(pairs))
    names = {"first": traits["systems"][0], "second": traits["systems"][1], "tie": "equally good"}
    for row, label in zip(rows.all(), reader, strict=True):
        assert row.locator("td").nth(1).inner_text() == names[label]
