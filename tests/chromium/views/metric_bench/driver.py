"""Drive the metric bench, and compare what it shows with the library's scores."""

import pytest
from playwright.sync_api import Locator, Page, expect

from gates2heads.metrics.bleu import sentence_bleu
from gates2heads.metrics.chrf import sentence_chrf
from gates2heads.metrics.rouge import rouge_l, rouge_n
from gates2heads.metrics.sentences import TOKENIZERS
from gates2heads.metrics.smoothing import SMOOTHING

HOSTILE = [
    "",
    "   ",
    "<b>the</b> &amp; 👍🏽 dog.,",
    "كلب يركض",
    "狗在海滩上跑",
    "x" * 500,
    "\u202edog\u200b 1,000",
]


def drive_bench(page: Page, root: Locator, traits: dict) -> None:
    """Take every example, type, add and drop references, and move every control."""
    example, shown, tokenize, order, smooth = root.locator("select").all()
    hypothesis = root.get_by_role("textbox", name="hypothesis")
    for number, one in enumerate(traits["examples"], start=1):
        example.select_option(str(number))
        expect(hypothesis).to_have_value(one["hypothesis"])
        check_bench(root)
    for kind in range(5):
        shown.select_option(str(kind))
        check_bench(root)
    for control, count in ((tokenize, len(TOKENIZERS)), (smooth, len(SMOOTHING)), (order, 4)):
        for place in range(count):
            control.select_option(str(place))
            check_bench(root)
    root.get_by_role("checkbox").check()
    check_bench(root)
    example.select_option("1")
    shown.select_option("0")
    run = root.locator("button.g2h-run").first
    run.click()
    expect(run).to_have_attribute("aria-pressed", "true")
    expect(root.locator(".g2h-told")).to_contain_text("in the hypothesis")
    root.get_by_role("button", name="Store").click()
    hypothesis.press_sequentially(" again <i>")
    expect(example).to_have_value("0")
    check_bench(root)
    expect(root.locator(".g2h-change").first).to_contain_text("-")
    while root.get_by_role("button", name="Remove a reference").is_enabled():
        root.get_by_role("button", name="Remove a reference").click()
    for text in HOSTILE:
        hypothesis.fill(text)
        check_bench(root)
        root.get_by_label("reference 1").fill(text)
        check_bench(root)
    root.get_by_label("reference 1").fill("the dog runs")
    root.get_by_role("button", name="Add a reference").click()
    root.get_by_label("reference 2").fill("the dog and the dog run")
    hypothesis.fill("the dog the dog runs")
    check_bench(root)
    expect(root.locator(".g2h-live")).to_contain_text("5 of 5 unigrams")


def check_bench(root: Locator) -> None:
    """Every score as the library gives it for the texts and settings that the fields hold."""
    *references, hypothesis = [area.input_value() for area in root.locator("textarea").all()]
    chosen = [int(one.input_value()) for one in root.locator("select").all()]
    _, _, tokenize, order, smooth = chosen
    lowercase = root.get_by_role("checkbox").is_checked()
    bleu = sentence_bleu(
        hypothesis,
        references,
        tokenize=("13a", "none", "char", "rouge")[tokenize],
        smooth_method=("exp", "none", "floor", "add-k")[smooth],
        lowercase=lowercase,
        max_ngram_order=order + 1,
    )
    wanted = {
        "bleu": bleu.score,
        "chrf": sentence_chrf(hypothesis, references, lowercase=lowercase).score,
        "rouge1": rouge_n(hypothesis, references).f_measure,
        "rouge2": rouge_n(hypothesis, references, 2).f_measure,
        "rougel": rouge_l(hypothesis, references).f_measure,
    }
    told = root.evaluate("root => ({ ...root.dataset })")
    for name, value in wanted.items():
        assert float(told[name]) == pytest.approx(value, abs=1e-5), (name, hypothesis, references)
    cells = root.locator(".g2h-score").all_text_contents()
    shown = [
        wanted["bleu"],
        wanted["chrf"],
        *(100 * wanted[n] for n in ("rouge1", "rouge2", "rougel")),
    ]
    assert [float(cell) for cell in cells[:5]] == pytest.approx(shown, abs=0.0051)
