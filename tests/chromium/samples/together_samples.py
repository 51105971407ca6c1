"""Widgets with made-up contents, and the saved state in which a page would carry them.

    python -m tests.chromium.samples.together_samples STATE.json

Also run by an interpreter with Colab's widget versions, so it uses only what both have.
"""

import json
import sys
from pathlib import Path

import ipywidgets
from ipywidgets.embed import embed_data
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from gates2heads.views import (
    FrameViewer,
    Guess,
    Judged,
    MetricBench,
    Pooling,
    Predict,
    Question,
    predict,
)

# Runs a script in a page that inserts it as HTML.
ATTACK = '<svg><img src=x onerror="attacked = 1"></svg>'


def drawing(words: str, place: float = 0.0) -> Figure:
    """A circle that stands farther to the right the greater the place, and some words."""
    figure = Figure(figsize=(3.2, 1.2))
    figure.patches.append(Circle((0.1 + 0.12 * place, 0.4), 0.1, transform=figure.transFigure))
    figure.text(0.05, 0.8, words)
    return figure


def viewer(**position: int) -> FrameViewer:
    """Seven frames in the page's ink, each with its own number in it."""
    labels = [f"after {place * 10} updates" for place in range(7)]
    alts = [f"A circle, {place} steps to the right." for place in range(7)]
    frames = [drawing(str(place), place) for place in range(7)]
    return FrameViewer(
        frames, labels, alts=alts, title="A walk <right>", interval_ms=50, **position
    )


def prediction() -> Predict:
    """One question, with marks and something like HTML in its words, and a drawing."""
    return predict(
        "How many weights has a row of `softmax(scores)` over five *real* tokens & <eos>?",
        options=[
            ("Five: <b>real</b> tokens only.", "The end is a token too.", False),
            ("Six.", "One for each position that `mask` leaves *open*.", True),
            ("As many as the longest row of the batch.", "Padding has none.", False),
        ],
        result=drawing("six"),
        alt="The word six.",
    )


def quiz() -> Predict:
    """Options and a guess together, and a table that opens when both are answered."""
    one = Question(
        "Two and two?", [("Four", "By counting.", True), ("Five", "One too many.", False)]
    )
    other = Guess(
        "What share of the dates is right?", 72.5, 0, 100, 0.5, "Half of it is the year.", "%", 5
    )
    table = [("model", "share"), ("no attention", "72.5 %"), ("attention", "99 %")]
    said = "Attention *helps*: `99 %` of <i>them</i>."
    return Predict([one, other], result=table, alt=said, title="Quiz")


def attack() -> Predict:
    """A question, a reason and a result that a page must not take for HTML."""
    return predict(
        f"Is {ATTACK} a text?",
        options=[("Yes", f"It is: {ATTACK}", True), ("No", "It is.", False)],
        result=f"A text, and nothing more: {ATTACK}",
        title=f"Words {ATTACK}",
    )


def pooling() -> Pooling:
    """Five slots on a line, one of them forbidden."""
    keys, values = [0.0, 1.0, 2.5, 3.0, 5.0], [1.0, -2.0, 0.5, 3.0, 0.0]
    allowed = [True, True, False, True, True]
    return Pooling(keys, values, query=1.2, width=0.8, allowed=allowed, title="By <hand>")


def bench() -> MetricBench:
    """Texts to be scored, with one, two and three references."""
    two = Judged("two <b>", "A man rides.", ["A man rides a bike.", "He rides a bike &amp; falls."])
    three = Judged("three", "the dog runs.", ["The dog runs.", "A dog is running.", "It runs."])
    one = Judged("by hand", "the dog the dog runs", ["the dog runs on the beach"])
    return MetricBench([one, two, three], title="Bench <of> metrics", hint="Type & see.")


def samples() -> list[ipywidgets.DOMWidget]:
    """All samples, in the order in which the page shows them."""
    return [viewer(), prediction(), quiz(), attack(), pooling(), bench(), viewer()]


def saved(widgets: list[ipywidgets.DOMWidget]) -> dict:
    """The state and the views of some widgets, as a page without a kernel carries them."""
    # A default may well be dropped from the state, but anywidget makes the view's code one.
    data = embed_data(widgets, drop_defaults=False)
    shown = [view["model_id"] for view in data["view_specs"]]
    return {"state": data["manager_state"], "shown": shown}


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(saved(samples())), encoding="utf-8")
