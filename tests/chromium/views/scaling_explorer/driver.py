"""Drive the view of a scaling law, and compare what it shows with the library's law."""

import pytest
from playwright.sync_api import Locator, Page, expect

from gates2heads.metrics.scaling_laws import FLOPS, ScalingLaw

STEP = 0.05
SLIDERS = ("compute", "parameters")


def drive_scaling(page: Page, root: Locator, traits: dict) -> None:
    """Take both sliders through their ranges, press the button of the optimum and Show me."""
    check_scaling(root, traits)
    for name in SLIDERS:
        slider = root.locator(f"[data-trait={name}]")
        most = int(slider.get_attribute("max"))
        for value in (0, most // 3, most):
            slider.fill(str(value))
            check_scaling(root, traits)
        slider.press("ArrowLeft")
        check_scaling(root, traits)
    budget = root.locator("[data-trait=compute]")
    for value in (0, int(budget.get_attribute("max")) // 2):
        budget.fill(str(value))
        root.get_by_role("button", name="Best size for this budget").click()
        told = check_scaling(root, traits)
        assert told["loss"] == pytest.approx(told["bestLoss"], rel=1e-3)
    warning = root.locator(".g2h-warning")
    budget.press("End")
    expect(warning).to_contain_text("extrapolation")
    budget.press("Home")
    root.locator("[data-trait=parameters]").press("Home")
    expect(warning).to_be_empty()
    for button in root.locator(".g2h-show-me button").all():
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
        expect(root.locator(".g2h-look")).not_to_be_empty()
        check_scaling(root, traits)
    assert root.locator(".g2h-chart svg").count() == 2
    first = root.locator(".g2h-chart").first
    assert first.locator(".g2h-run").count() == len(traits["runs"])


def check_scaling(root: Locator, traits: dict) -> dict[str, float]:
    """Every number as the library's law gives it for what the sliders say."""
    law = ScalingLaw(**traits["law"])
    compute, parameters = (
        10 ** (traits["bounds"][name][0] + STEP * position)
        for name, position in zip(SLIDERS, positions(root), strict=True)
    )
    told = {name: float(value) for name, value in root.evaluate(DATASET).items() if name != "view"}
    # A slider has steps, the view's own values may lie between them.
    assert told["tokens"] == pytest.approx(compute / FLOPS / parameters, rel=0.13)
    size = law.optimum(compute)[0]
    assert told["bestParameters"] == pytest.approx(size, rel=0.07)
    exact = FLOPS * told["bestParameters"] * told["bestTokens"]
    assert exact == pytest.approx(compute, rel=0.06)
    best = law.loss(told["bestParameters"], told["bestTokens"])
    assert told["bestLoss"] == pytest.approx(best, rel=1e-12)
    own = law.loss(exact / FLOPS / told["tokens"], told["tokens"])
    assert told["loss"] == pytest.approx(own, rel=1e-9)
    assert told["loss"] >= told["bestLoss"] * (1 - 1e-12)
    return told


def positions(root: Locator) -> list[int]:
    """Where the sliders are."""
    return [int(root.locator(f"[data-trait={name}]").input_value()) for name in SLIDERS]


DATASET = "root => ({ ...root.dataset })"
