"""*Show me* buttons without a browser: what the page is told, and what is refused."""

import pytest
from traitlets import Int, List, Unicode

from gates2heads.views import ShowMe
from gates2heads.views.kit.view import View

LOOK = "The number is three."


class Small(View):
    """A view with a number, a list and something that the page is not told."""

    _esm = "export default {}"

    number = Int(1).tag(sync=True)
    prefix = List(Int()).tag(sync=True)
    kept = Unicode()


def test_the_page_is_told_labels_sentences_and_states():
    view = Small(show_me=[ShowMe("Three", LOOK, {"number": 3, "prefix": []})])
    assert view.show_me == [{"label": "Three", "look": LOOK, "state": {"number": 3, "prefix": []}}]
    assert Small().show_me == []


@pytest.mark.parametrize(
    ("buttons", "message"),
    [
        ([3], r"show_me\[0\] must"),
        ([ShowMe("", LOOK, {})], r"show_me\[0\]\.label"),
        ([ShowMe("Three", "", {})], r"show_me\[0\]\.look"),
        ([ShowMe("Three", LOOK, [])], r"show_me\[0\]\.state must"),
        ([ShowMe("Three", LOOK, {"numbr": 3})], r"must set traits of Small, got 'numbr'"),
        ([ShowMe("Three", LOOK, {"kept": "x"})], r"must set traits of Small, got 'kept'"),
        ([ShowMe("Three", LOOK, {"number": "3"})], "must hold what number takes"),
        ([ShowMe("Three", LOOK, {"prefix": [1.5]})], "must hold what prefix takes"),
    ],
)
def test_a_button_that_cannot_work_is_refused(buttons, message):
    with pytest.raises((TypeError, ValueError), match=message):
        Small(show_me=buttons)
