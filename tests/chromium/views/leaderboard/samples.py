"""A leaderboard with made-up rungs, as a page without a kernel carries it.

    python -m tests.chromium.views.leaderboard.samples STATE.json

Also run by an interpreter with Colab's widget versions, so it uses only what both have.
"""

import json
import sys
from pathlib import Path

from ipywidgets.embed import embed_data

from gates2heads.views import Contender, Leaderboard

CAPTIONS = [
    ("Ein Hund läuft über den Strand.", "A dog runs across the beach."),
    ("Zwei <b>Kinder</b> & ein Ball.", "Two <b>children</b> & a ball."),
]
LINES = [(30.0, 24.0, 36.0), (28.5, 22.0, 33.0), (20.0, 14.0, 27.0)]


def contender(name, family, attention, bleu, *, lengths=(), ranked=True, seeds=(0, 1, 2)):
    """A rung whose other scores follow from its BLEU."""
    bleu = [bleu + 0.7 * place for place in range(len(seeds))]
    scores = {
        "bleu": bleu,
        "bleu_greedy": [one - 1.5 for one in bleu],
        "chrf": [one + 17 for one in bleu],
        "parameters": [1e5 * bleu[0]] * len(bleu),
    }
    if ranked:
        scores["chrf_greedy"] = [one + 16 for one in bleu]
        scores["perplexity"] = [300 / one for one in bleu]
        scores["perplexity_free_running"] = [9000 / one for one in bleu]
        scores["cost"] = [0.5 + bleu[0] / 50] * len(bleu)
        scores["decoding"] = [0.4 + bleu[0] / 40] * len(bleu)
        scores["decoding_greedy"] = [2.4 - bleu[0] / 40] * len(bleu)
    text = f"A dog {name} runs, runs on the beach."
    texts = [[f"{text} {seed}", f"Two <i>{name}</i> & the ball."] for seed in seeds]
    return Contender(name, family, attention, list(seeds), scores, texts, lengths, ranked)


def board() -> Leaderboard:
    """The view that the sample page shows."""
    return Leaderboard(
        [
            contender("plain <cell>", "recurrent", False, 9.0, seeds=(0,), lengths=LINES),
            contender("looking cell", "recurrent", True, 24.0),
            contender("window", "convolution", True, 30.2, seeds=(0, 1)),
            contender("heads", "Transformer", True, 30.0, lengths=LINES[::-1]),
            contender("long trained", "Transformer", True, 40.0, seeds=(7,), ranked=False),
        ],
        CAPTIONS,
        bins=["up to 7", "8–9", "10 or more"],
        title="Board <of> rungs",
        hint="Sort & read.",
    )


if __name__ == "__main__":
    data = embed_data([board()], drop_defaults=False)
    shown = [view["model_id"] for view in data["view_specs"]]
    saved = {"state": data["manager_state"], "shown": shown}
    Path(sys.argv[1]).write_text(json.dumps(saved), encoding="utf-8")
