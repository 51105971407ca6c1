"""Does one context vector lose more on long sentences than attention does? For section 4.8.

    python -m studies.ch04.caption_lengths
    python -m studies.ch04.caption_lengths --table

A setting is a model, and nothing is trained: the outputs are those that
`studies.ch10.translators` stored for the 1,000 test captions of Multi30k. `by_length` has, for
each range of source lengths in German words, `bleu` of the beam-search outputs with its 95 %
interval, and `gain`: this BLEU minus that of the GRU with one context vector, with the interval of
a paired bootstrap.

`output` and the output in `short` are of greedy decoding. The first is of a caption that was chosen
for its length. The other, for section 4.3, is of a caption that the GRU with one context vector
translates exactly as the reference does, with a different word order from the source. Needs the
folder GATES2HEADS_DATA, or downloads Multi30k.
"""

from functools import cache

import numpy as np

from gates2heads.book.studies import Study
from gates2heads.metrics.bleu import Bleu
from gates2heads.metrics.significance import paired_bootstrap
from studies.ch10.leaderboard import BINS, captions, inside, score
from studies.ch10.translators import read_written

CHOSEN = 5  # a long caption
SHORT = 882  # one whose translation has another order
REFERENCE = "captions-gru"
SETTINGS = ("captions-lstm", REFERENCE, "captions-bahdanau", "captions-luong")


@cache
def counts_of(setting: str, seed: int) -> np.ndarray:
    """The n-gram counts of each caption's output by beam search: (N, 10)."""
    outputs = [texts[1] for texts in read_written(setting, seed)]
    return Bleu().statistics(outputs, [[text] for text in captions()[1]])


def run(setting: str, seed: int) -> dict:
    """BLEU by the length of the source, and two outputs."""
    own, one_vector = counts_of(setting, seed), counts_of(REFERENCE, seed)
    entries = []
    for ends, here in zip(BINS, inside(), strict=True):
        found = paired_bootstrap(own[here], one_vector[here], score, seed=0)
        entries.append(
            {
                "words": list(ends),
                "captions": int(here.sum()),
                "bleu": found.score_a,
                "interval": list(found.interval_a),
                "gain": found.difference,
                "interval_of_gain": list(found.interval_difference),
            }
        )
    german, english = captions()
    return {
        "by_length": entries,
        "source": german[CHOSEN],
        "reference": english[CHOSEN],
        "output": read_written(setting, seed)[CHOSEN][0],
        "short": {
            "source": german[SHORT],
            "reference": english[SHORT],
            "output": read_written(setting, seed)[SHORT][0],
        },
    }


if __name__ == "__main__":
    Study("ch04/caption_lengths", run, SETTINGS).main()
