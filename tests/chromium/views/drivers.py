"""Drive the views in a page and compare what they show with Python's numbers."""

from collections.abc import Callable, Iterator

import numpy as np
from playwright.sync_api import Locator, Page, expect

from tests.chromium.samples.saved_views import SavedView
from tests.chromium.views.attention_explorer.driver import drive_attention, drive_pooling
from tests.chromium.views.beam_laboratory.driver import drive_beam
from tests.chromium.views.blind_comparison.driver import drive_blind
from tests.chromium.views.cache_sizes.driver import drive_cache
from tests.chromium.views.code_model.driver import drive_code
from tests.chromium.views.embedding_map.driver import drive_words
from tests.chromium.views.fill_the_mask.driver import drive_fill
from tests.chromium.views.find_the_answer.driver import drive_answer
from tests.chromium.views.gate_explorer.driver import drive_gates
from tests.chromium.views.head_explorer.driver import drive_heads
from tests.chromium.views.induction_heads.driver import drive_induction
from tests.chromium.views.leaderboard.driver import drive_board
from tests.chromium.views.metric_bench.driver import drive_bench
from tests.chromium.views.model_walk.driver import drive_walk
from tests.chromium.views.next_token.driver import drive_next_token
from tests.chromium.views.predict.driver import answer_all, drive_predict
from tests.chromium.views.scaling_explorer.driver import drive_scaling
from tests.chromium.views.tokenizer_bench.driver import drive_tokenizer
from tests.chromium.views.translate.driver import drive_translate
from tests.chromium.views.unroller.driver import drive_unroller

# A browser gives no text of what it has not laid out: every section of the page is laid out here.
LAID_OUT = ".bd-article > section > section { content-visibility: visible !important; }"


def ready_views(page: Page, views: list[SavedView]) -> list[Locator]:
    """Wait until all of our views are on the page, unfold them, give their roots in order."""
    page.add_style_tag(content=LAID_OUT)
    ours = [view for view in views if view.is_ours]
    roots = page.locator(".g2h-view")
    expect(roots).to_have_count(len(ours))
    roots.locator("details.g2h-more").evaluate_all("all => all.forEach((one) => (one.open = true))")
    return roots.all()


def drive(page: Page, views: list[SavedView]) -> None:
    """Drive every control of every shown widget; a widget without a driver is an error."""
    strangers = {view.kind for view in views} - DRIVERS.keys() - CONTROLS
    assert not strangers, f"no driver for {', '.join(sorted(strangers))}: write one"
    ours = [view for view in views if view.is_ours]
    for view, root in zip(ours, ready_views(page, views), strict=True):
        DRIVERS[view.kind](page, root, view.traits)


def drive_frames(page: Page, root: Locator, traits: dict) -> None:
    """Show every frame by the slider, then use each other control."""
    frames, labels = traits["frames"], traits["labels"]
    last = len(frames) - 1
    slider = root.locator("input[type=range]")
    shown = root.locator(".g2h-frame")
    drawn = page.evaluate(DRAWN, frames)

    def check(index: int) -> None:
        expect(shown).to_have_attribute("data-index", str(index))
        assert shown.inner_html() == drawn[index]
        assert root.locator("output").inner_text() == labels[index]
        assert labels[index] in shown.get_attribute("aria-label")
        assert shown.get_attribute("aria-label").endswith(traits["alts"][index])
        assert slider.input_value() == str(index)
        assert slider.get_attribute("aria-valuetext") == labels[index]
        assert root.get_by_label("previous frame").is_disabled() == (index == 0)
        assert root.get_by_label("next frame").is_disabled() == (index == last)

    check(traits["index"])
    for index in range(last, -1, -1):
        slider.fill(str(index))
        check(index)
    if last == 0:
        return
    root.get_by_label("next frame").click()
    check(1)
    root.get_by_label("previous frame").click()
    check(0)
    for key, index in [("End", last), ("ArrowLeft", last - 1), ("Home", 0), ("ArrowRight", 1)]:
        slider.press(key)
        check(index)
    play_to_the_end(root, check, last)


def play_to_the_end(root: Locator, check: Callable, last: int) -> None:
    """Play and pause by button and space; playback ends at the last frame and starts over."""
    slider, play = root.locator("input[type=range]"), root.locator(".g2h-play")
    shown = root.locator(".g2h-frame")
    slider.fill(str(last - 1))
    slider.press(" ")
    expect(shown).to_have_attribute("data-index", str(last))
    expect(play).to_have_text("Play")
    check(last)
    # In one go: on a busy machine the frames would be over before a second click came.
    press = "button.click(); const told = button.textContent; button.click(); return told;"
    assert play.evaluate(f"(button) => {{ {press} }}") == "Pause"
    expect(play).to_have_text("Play")
    paused = int(shown.get_attribute("data-index"))
    assert paused < last
    check(paused)


def check_phone(page: Page, roots: list[Locator]) -> None:
    """Nothing scrolls the page sideways, and every control lies on the screen."""
    width = page.viewport_size["width"]
    for root in roots:
        for control in root.locator(":is(select, input, .g2h-buttons button):visible").all():
            box = control.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
    assert page.evaluate("document.scrollingElement.scrollWidth") <= width, page.evaluate(WIDE)


def check_contrast(page: Page, roots: list[Locator]) -> None:
    """In both themes every text stands out at 4.5 : 1 or more; the themes differ."""
    inks = {}
    for theme in ("light", "dark"):
        page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
        for number, root in enumerate(roots):
            inks[number, theme] = root.evaluate("node => getComputedStyle(node).color")
            for _ in every_state(root):
                for text, ratio in root.evaluate(CONTRASTS):
                    assert ratio >= 4.5, f"{text!r} at {ratio:.2f} : 1 in the {theme} theme"
    for number in range(len(roots)):
        assert inks[number, "light"] != inks[number, "dark"]


def every_state(root: Locator) -> Iterator[None]:
    """Take a view through what it can show: questions to their answers, a slider along its way."""
    if "g2h-predict" in root.get_attribute("class"):
        yield from answer_all(root)
        return
    yield
    for slider in root.locator("input[type=range]").all():
        least, most = (float(slider.get_attribute(name)) for name in ("min", "max"))
        for place in range(int(min(most - least, 12)) + 1):
            slider.evaluate(MOVED, least + place)
            yield


def repaint_times(page: Page, root: Locator, moves: int = 60) -> list[float]:
    """Measure from slider to repaint, in milliseconds, sorted.

    A move costs the work of the `input` event, plus the next frame from the start of its
    animation callbacks to the first task after it: style, layout and paint. The wait for the
    screen's next refresh between the two belongs to the screen and is left out; so is the
    rasterising that other threads do.
    """
    root.scroll_into_view_if_needed()
    times = root.evaluate(REPAINT, moves)
    return sorted(np.array(times).tolist())


DRIVERS = {
    "AttentionExplorer": drive_attention,
    "BeamLaboratory": drive_beam,
    "BlindComparison": drive_blind,
    "CacheSizes": drive_cache,
    "ScalingExplorer": drive_scaling,
    "CodeModel": drive_code,
    "EmbeddingMap": drive_words,
    "FillTheMask": drive_fill,
    "FindTheAnswer": drive_answer,
    "FrameViewer": drive_frames,
    "GateExplorer": drive_gates,
    "HeadExplorer": drive_heads,
    "InductionHeads": drive_induction,
    "Leaderboard": drive_board,
    "MetricBench": drive_bench,
    "ModelWalk": drive_walk,
    "NextToken": drive_next_token,
    "Pooling": drive_pooling,
    "Predict": drive_predict,
    "TokenizerBench": drive_tokenizer,
    "Translate": drive_translate,
    "Unroller": drive_unroller,
}
# Controls of ipywidgets itself: what they are linked to is tested where the link is made.
CONTROLS = {"IntSliderModel", "DropdownModel", "PlayModel"}

# What sticks out of the page and is not scrolled or clipped by a box of its own.
WIDE = """() => {
  const boxed = (node) => node && node !== document.body
    && (getComputedStyle(node).overflowX !== "visible" || boxed(node.parentElement));
  return "the page scrolls sideways because of " + [...document.querySelectorAll("body *")]
    .filter((node) => node.getBoundingClientRect().right > innerWidth + 1)
    .filter((node) => !boxed(node.parentElement) && !node.firstElementChild)
    .map((node) => `<${node.localName}> ${node.textContent.trim().slice(0, 60)}`).join("; ");
}"""

DRAWN = """frames => frames.map(frame => {
  const node = document.createElement("div");
  node.innerHTML = frame;
  return node.innerHTML;
})"""

MOVED = """(slider, value) => {
  slider.value = value;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
}"""

REPAINT = """async (root, moves) => {
  const slider = root.querySelector("input[type=range]");
  const places = Number(slider.max) + 1;
  const frame = () => new Promise((done) => requestAnimationFrame((_) => {
    const begin = performance.now();
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => { port1.close(); done(performance.now() - begin); };
    port2.postMessage(null);
  }));
  const times = [];
  for (let move = 0; move < moves; move++) {
    await frame();
    slider.value = (Number(slider.value) + 1) % places;
    const begin = performance.now();
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    const handled = performance.now() - begin;
    times.push(handled + (await frame()));
  }
  return times;
}"""

# Each text with its contrast to what is painted behind it, by WCAG 2's formula.
CONTRASTS = """root => {
  const parse = (text) => {
    const [r, g, b, a = 1] = text.match(/[\\d.e-]+(?=[\\s,)\\/]|$)/g).map(Number);
    const full = text.startsWith("color(srgb") ? 255 : 1; // the one counts to 1, rgb() to 255
    return { rgb: [r * full, g * full, b * full], a };
  };
  const over = (top, alpha, under) => top.map((c, i) => c * alpha + under[i] * (1 - alpha));
  const behind = (node) => {
    if (!node) return [255, 255, 255];
    const { rgb, a } = parse(getComputedStyle(node).backgroundColor);
    let colour = a === 1 ? rgb : over(rgb, a, behind(node.parentElement));
    const shade = node.querySelector(":scope > .g2h-shade");
    if (shade) {
      const { rgb, a } = parse(getComputedStyle(shade).backgroundColor);
      colour = over(rgb, a, colour);
    }
    return colour;
  };
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((c) => c / 255).map((c) =>
      c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const texts = [...root.querySelectorAll("*")].filter((node) =>
    node.checkVisibility() && !node.closest("svg, option, :disabled")
    && [...node.childNodes].some((c) => c.nodeType === 3 && c.textContent.trim()));
  return texts.map((node) => {
    const ink = luminance(parse(getComputedStyle(node).color).rgb);
    const paper = luminance(behind(node));
    const ratio = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
    return [node.textContent.trim(), ratio];
  });
}"""
