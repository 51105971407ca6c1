"""The command that takes the README's pictures."""

import sys

import pytest
from PIL import Image

from tests.chromium.sites import ROOT
from tools.book import find_browser, picture
from tools.serve import served

BUILT = ROOT / "_build" / "html"


@pytest.mark.browser
@pytest.mark.book
def test_both_pictures_show_the_answer(chromium, tmp_path):
    if not (BUILT / picture.PAGE).is_file():
        pytest.fail(f"{BUILT / picture.PAGE} is missing: run make book first", pytrace=False)
    greys = []
    with served(BUILT) as site:
        for scheme in picture.SCHEMES:
            path = tmp_path / "images" / f"{scheme}.png"
            picture.store(picture.take(chromium, site, scheme), path)
            assert path.stat().st_size <= 150_000
            with Image.open(path) as image:
                assert 1000 <= image.width <= 1250
                greys.append(image.convert("L").resize((1, 1)).getpixel((0, 0)))
    assert greys[0] > 200
    assert greys[1] < 80


def test_without_a_book_or_a_browser_one_sentence_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(picture, "BOOK", tmp_path)
    monkeypatch.setattr(find_browser, "find", lambda: sys.executable)
    with pytest.raises(SystemExit, match=r"no built book in .*: run make book first"):
        picture.main()
    monkeypatch.setattr(find_browser, "find", lambda: None)
    with pytest.raises(SystemExit, match="apt-get install chromium"):
        picture.main()
