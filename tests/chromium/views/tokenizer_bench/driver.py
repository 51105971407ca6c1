"""Drive the tokenizer bench, and compare its tokens with the library's."""

from playwright.sync_api import Locator, Page, expect

from gates2heads.browser.engine.describe import describe_tokenizer
from gates2heads.browser.engine.rebuild import shipped

HOSTILE = [
    "   ",
    "<img src=x onerror=alert(1)> &amp;",
    "👍🏽 日本語",
    "كلب يركض",
    "don't 12345 naïve\tcafé",
    "Donaudampfschifffahrtsgesellschaft",
    "x" * 400,
    "<eos>",
]


def check_status(root: Locator) -> None:
    """The characters are counted; the view says if a text does not fit into the field."""
    text, told = root.get_by_role("textbox"), root.locator(".g2h-live")
    text.fill("<eos>")
    expect(told).to_contain_text("5 characters")
    text.fill("x" * 399)
    expect(told).not_to_contain_text("full")
    text.fill("")
    text.page.keyboard.insert_text("xy" * 300)
    expect(text).to_have_value("xy" * 200)
    expect(told).to_contain_text("The field is full: it holds 400 characters")


def drive_tokenizer(page: Page, root: Locator, traits: dict) -> None:
    """Type, move the slider, type a number, step by one merge, and click words."""
    tokenizer = shipped("captions_ngram").source
    assert traits["tokenizer"] == describe_tokenizer(tokenizer)
    most = len(tokenizer.merges)
    text, slider = root.get_by_role("textbox"), root.locator("input[type=range]")
    number = root.locator("input[type=number]")
    fewer = root.get_by_role("button", name="One merge fewer")
    more = root.get_by_role("button", name="One merge more")

    def check(merges: int) -> None:
        expect(number).to_have_value(str(merges))
        expect(root).to_have_attribute("data-size", str(259 + merges))
        written = text.input_value()
        wanted = tokenizer.with_merges(merges).encode(written, eos=False) if written else []
        expect(root).to_have_attribute("data-tokens", " ".join(map(str, wanted)))
        boxes = root.locator(".g2h-token")
        assert boxes.evaluate_all("all => all.map((b) => Number(b.dataset.token))") == wanted
        assert fewer.is_disabled() == (merges == 0)
        assert more.is_disabled() == (merges == most)

    check(traits["merges"])
    for where, merges in (("max", most), ("min", 0)):
        slider.fill(slider.get_attribute(where))
        check(merges)
    expect(root.locator(".g2h-learnt")).to_contain_text("every token is a single byte")
    more.click()
    check(1)
    more.press("Enter")
    check(2)
    fewer.click()
    check(1)
    for typed, merges in (("99999", most), ("-3", 0), ("", 0), ("250", 250)):
        number.fill(typed)
        number.press("Enter")
        check(merges)
    for one in HOSTILE:
        text.fill(one)
        check(250)
    check_status(root)
    text.fill("")
    check(250)
    expect(root.locator(".g2h-live")).to_have_text("Type some text to see its tokens.")
    number.fill(str(most))
    number.press("Enter")
    text.fill("Two snowboarders standing")
    check(most)
    for box in (root.locator(".g2h-token").last, root.locator(".g2h-token").first):
        box.click()
        expect(box).to_have_attribute("aria-pressed", "true")
        check_history(root, tokenizer)
    for place, button in enumerate(root.locator(".g2h-show-me button").all()):
        button.click()
        state = traits["show_me"][place]["state"]
        expect(text).to_have_value(state["text"])
        check(state["merges"])
        expect(root.locator(".g2h-look")).to_have_text(traits["show_me"][place]["look"])


def check_history(root: Locator, tokenizer) -> None:
    """The last line of the chosen word has the tokens of its boxes."""
    boxes = root.locator(".g2h-token[aria-pressed=true] span").all_text_contents()
    rows = root.locator(".g2h-history tbody tr")
    assert rows.last.locator("td").inner_text() == " | ".join(boxes)
    assert rows.first.locator("th").inner_text() == "bytes"
    merges = [int(one) for one in rows.evaluate_all("all => all.map((r) => r.dataset.merge)")]
    assert merges == sorted(merges)
    assert merges[-1] <= len(tokenizer.merges)
