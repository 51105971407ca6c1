"""The first page's four pictures of views: where they lead, and which scheme they show."""

import pytest

from tools.book.picture import PARTS

pytestmark = [pytest.mark.book, pytest.mark.browser]
SHOWN = """() => [...document.querySelectorAll(".g2h-thumbnails a")].map((link) => {
  const [picture, box] = [link.querySelector("img"), link.getBoundingClientRect()];
  const replaced = /url\\("(.+)"\\)/.exec(getComputedStyle(picture).content)?.[1];
  const file = replaced ?? picture.currentSrc;
  return { to: link.pathname, alt: picture.alt, file, top: box.top };
})"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "rows"), [(1280, 1), (390, 2)])
def test_each_leads_to_its_chapter_and_follows_the_theme(chromium, address, scheme, width, rows):
    page = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.goto(f"{address}chapters/intro.html")
    found = page.evaluate(SHOWN)
    assert [one["to"].lstrip("/") for one in found] == [part.page for part in PARTS]
    for one, part in zip(found, PARTS, strict=True):
        assert one["file"].endswith(f"/{part.name}-{scheme}.png")
        assert page.request.get(one["file"]).ok
        assert len(one["alt"]) > 60
    assert len({one["top"] for one in found}) == rows
    page.close()
