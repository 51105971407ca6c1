"""What do translators with one context vector write? Three captions for section 4.8.

    python -m studies.ch04.sample_translations
    python -m studies.ch04.sample_translations --table

Nothing is trained: the outputs are those that `studies.ch10.translators` stored for the test set,
by greedy decoding. The three captions of Multi30k (test 2016) were chosen for their lengths. Needs
the folder GATES2HEADS_DATA, or downloads Multi30k.
"""

import gzip
import json
from pathlib import Path

from gates2heads.book.studies import Study
from gates2heads.data.corpora.multi30k import multi30k

STORED = Path(__file__).parents[1] / "ch10" / "results" / "translators"
CHOSEN = (8, 18, 5)  # short, of middle length, long
SETTINGS = ("captions-lstm", "captions-gru")


def run(setting: str, seed: int) -> dict:
    """The source, the reference and the output of one model for each of the captions."""
    with gzip.open(STORED / f"{setting}-{seed}.json.gz", "rt", encoding="utf-8") as file:
        outputs = json.load(file)
    test = multi30k("test")
    return {
        "captions": [
            {
                "source": test[number].german,
                "reference": test[number].english,
                "output": outputs[number][0],
            }
            for number in CHOSEN
        ]
    }


if __name__ == "__main__":
    Study("ch04/sample_translations", run, SETTINGS).main()
