"""Widgets with made-up contents, and the saved state in which a page would carry them.

    python widget_samples.py STATE.json

Also run by an interpreter with Colab's widget versions, so it uses only what both have.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import ipywidgets
import numpy as np
from ipywidgets.embed import embed_data

from gates2heads.display.widgets import (
    Alignment,
    AlignmentExplorer,
    FrameViewer,
    Guess,
    Judged,
    MetricBench,
    Pooling,
    Predict,
    Question,
    predict,
)

DATES = [
    ("le 3 février 1974", "1974-02-03"),
    ("Donnerstag, 14. September 2051", "2051-09-14"),
    ("٢٣ أغسطس ١٩٨٨", "1988-08-23"),
    ("2007年11月30日星期五", "2007-11-30"),
    ("7 <b>&amp;", "2007"),
]
END = "<eos>"


def attention(source: Sequence, target: Sequence, sharpness: float, seed: int) -> np.ndarray:
    """Weights (T, S) that drift along the source, with noise; rows sum to 1."""
    random = np.random.default_rng(seed)
    along = np.linspace(len(source) - 1, 0, len(target))[:, None] - np.arange(len(source))
    scores = -sharpness * along**2 + 1.5 * random.standard_normal((len(target), len(source)))
    weights = np.exp(scores - scores.max(1, keepdims=True))
    return weights / weights.sum(1, keepdims=True)


def explorer(**position: int) -> AlignmentExplorer:
    """Five sentences under two score functions, which write targets of different lengths."""
    additive = [
        Alignment(
            [*source, END], [*target, END], attention([*source, END], [*target, END], 0.7, place)
        )
        for place, (source, target) in enumerate(DATES)
    ]
    dot = [
        Alignment([*source, END], list(target[:-3]), attention([*source, END], target[:-3], 0.1, 9))
        for source, target in DATES
    ]
    return AlignmentExplorer({"additive": additive, "dot product": dot}, **position)


def words() -> AlignmentExplorer:
    """One sentence of words under one score function, with a title."""
    source, target = "the cat sat on the mat .", "le chat est assis ."
    source, target = source.split(), target.split()
    most = np.array([0.52, 0.58, 0.64, 0.66, 0.72])  # around where the ink of a token turns over
    weights = np.zeros((len(target), len(source)))
    weights[:, 0], weights[:, -1] = most, 1 - most
    return AlignmentExplorer({"general": [Alignment(source, target, weights)]}, ["cat"])


def viewer(**position: int) -> FrameViewer:
    """Seven frames in the page's ink, each with its own number in it."""
    frames = [
        '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="320" height="120" '
        f'viewBox="0 0 320 120"><circle cx="{40 + 40 * place}" cy="60" r="20" fill="none" '
        f'stroke="currentColor"/><text x="8" y="20" fill="currentColor">{place}</text></svg>'
        for place in range(7)
    ]
    labels = [f"after {place * 10} updates" for place in range(7)]
    alts = [f"A circle, {place} steps to the right." for place in range(7)]
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
        result='<svg xmlns="http://www.w3.org/2000/svg" width="200" height="40" '
        'viewBox="0 0 200 40"><text x="8" y="20" fill="currentColor">six</text></svg>',
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


def linked() -> ipywidgets.VBox:
    """A slider and a viewer that the browser keeps together; the slider reaches too far."""
    slider = ipywidgets.IntSlider(max=9)
    picture = viewer()
    ipywidgets.jslink((slider, "value"), (picture, "index"))
    return ipywidgets.VBox([slider, picture])


def saved() -> dict:
    """The state and the views of all samples, as a page without a kernel carries them."""
    # A default may well be dropped from the state, but anywidget makes the view's code one.
    data = embed_data(
        [explorer(), viewer(), words(), prediction(), quiz(), pooling(), bench(), linked()],
        drop_defaults=False,
    )
    shown = [view["model_id"] for view in data["view_specs"]]
    return {"state": data["manager_state"], "shown": shown}


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(saved()), encoding="utf-8")
