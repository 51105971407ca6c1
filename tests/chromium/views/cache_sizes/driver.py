"""Drive the view of cache sizes, and compare what it shows with the library's formulas."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from gates2heads.models.costs import Configuration, decoding_step, kv_cache_bytes, stack_parameters

FORMATS = ("float32", "bf16", "int8", "int4")
SETTING = """root => Object.fromEntries([...root.querySelectorAll("input[type=range]")].map(
  (one) => [one.dataset.trait, one.getAttribute("aria-valuetext").replace(/[^0-9.]/g, "")]))"""


def drive_cache(page: Page, root: Locator, traits: dict) -> None:
    """Load every model, take every slider to its ends, choose every format, press Show me."""
    models = traits["models"]
    formats = root.locator("select")
    check_cache(root, models)
    for chip in root.locator(".g2h-chip").all():
        chip.click()
        expect(chip).to_have_attribute("aria-pressed", "true")
        check_cache(root, models)
        for place in range(len(FORMATS)):
            formats.select_option(str(place))
            check_cache(root, models)
    for name in ("heads", "kv_heads", "layers", "head_width", "length", "window", "batch"):
        slider = root.locator(f"[data-trait={name}]")
        for value in ("0", slider.get_attribute("max")):
            slider.fill(value)
            check_cache(root, models)
            expect(root.locator(f"[data-trait={name}]")).to_have_value(value)
        slider.press("ArrowLeft")
        check_cache(root, models)
    for name in ("bandwidth", "arithmetic"):
        for press in ("Home", "End", "ArrowLeft"):
            root.locator(f"[data-trait={name}]").press(press)
            check_cache(root, models)
    check_groups(root, models)
    for button in root.locator(".g2h-show-me button").all():
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
        expect(root.locator(".g2h-look")).not_to_be_empty()
        check_cache(root, models)


def check_groups(root: Locator, models: list[dict]) -> None:
    """Key-value heads that the query heads on the way do not allow come back behind them."""
    heads, groups = root.locator("[data-trait=heads]"), root.locator("[data-trait=kv_heads]")
    heads.fill("63")  # 64 query heads
    groups.fill("3")  # the fourth divisor
    for place, wanted in (("63", "8"), ("60", "1"), ("61", "2"), ("63", "8"), ("31", "8")):
        heads.fill(place)
        assert groups.get_attribute("aria-valuetext") == wanted
        check_cache(root, models)
    groups.press("End")
    assert groups.get_attribute("aria-valuetext") == "32"
    heads.press("ArrowRight")
    assert groups.get_attribute("aria-valuetext") == "33"
    heads.fill("0")
    expect(groups).to_be_disabled()
    check_cache(root, models)


def parameters_of(sizes: dict, models: list[dict]) -> tuple[int, int]:
    """Parameters of a setting and those that are only looked up, as the view is to find them."""
    shape = [sizes[name] for name in ("layers", "heads", "head_width")]
    layers, heads, width = shape
    alike = [
        one
        for one in models
        if one["parameters"] and [one[n] for n in ("layers", "heads", "head_width")] == shape
    ]
    alike.sort(key=lambda one: one["kv_heads"] != sizes["kv_heads"])
    own = stack_parameters(layers, heads, sizes["kv_heads"], width)
    if not alike:
        return own, 0
    near = alike[0]
    base = stack_parameters(layers, heads, near["kv_heads"], width)
    return near["parameters"] + own - base, near["looked_up"]


def check_cache(root: Locator, models: list[dict]) -> None:
    """Every number as the library gives it for what the controls say."""
    setting = {name: float(value or 0) for name, value in root.evaluate(SETTING).items()}
    bandwidth, arithmetic = setting.pop("bandwidth"), setting.pop("arithmetic")
    sizes = {name: int(value) for name, value in setting.items()}
    number_format = FORMATS[int(root.locator("select").input_value())]
    parameters, looked_up = parameters_of(sizes, models)
    model = Configuration(
        "",
        *(sizes[name] for name in ("layers", "heads", "kv_heads", "head_width", "length")),
        window=sizes["window"] or None,
        parameters=parameters,
        looked_up=looked_up,
    )
    step = decoding_step(
        model,
        sizes["length"],
        batch=sizes["batch"],
        number_format=number_format,
        bandwidth=bandwidth,
        arithmetic=arithmetic,
    )
    told = {name: float(value) for name, value in root.evaluate(DATASET).items() if name != "view"}
    one = kv_cache_bytes(
        model.layers, model.kv_heads, model.head_width, 1, number_format=number_format
    )
    wanted = {
        "cache": step.cache_bytes,
        "perToken": one,
        "parameters": parameters,
        "bytes": step.bytes_per_token,
        "macs": step.macs_per_token,
        "intensity": step.intensity,
        "seconds": step.least_seconds,
    }
    assert told == pytest.approx(wanted, rel=1e-12), sizes
    rows = root.locator("table tbody tr")
    for place, (name, time) in enumerate(
        {"Products": step.products, "Attention": step.attention}.items()
    ):
        limit, kind = (
            ("memory", "memory-bound")
            if time.memory >= time.arithmetic
            else ("arithmetic", "compute-bound")
        )
        line = root.locator(".g2h-sum > span").nth(place)
        expect(line).to_have_text(re.compile(f"^{name}: .*: {kind}\\.$"))
        expect(rows.last.locator("td").nth(2 + place)).to_contain_text(f"({limit})")
    assert rows.count() == (1 if sizes["batch"] == 1 else 2)
    assert root.locator(".g2h-row").count() == len(models) + 1


DATASET = "root => ({ ...root.dataset })"
