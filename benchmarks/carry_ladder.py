"""Carry the ladder's scores to where the pages of the book read them, Colab's too.

    python benchmarks/carry_ladder.py

The rows of `benchmarks/results/ladder.json`, without translations and curves, go to
`gates2heads/training/results/ladder.json`. Nothing is trained.
"""

import ladder

from gates2heads.training.studies import Study


def carried(row: dict) -> dict:
    """A row of the ladder without what fills its file."""
    told = row["result"]
    return {
        **row,
        "result": {
            "parameters": told["parameters"],
            "perplexity": told["perplexity"],
            "bleu_greedy": told["test"]["width 1"]["bleu"],
            "bleu": told["test"]["width 5"]["bleu"],
            "chrf": told["test"]["width 5"]["chrf"],
            "chrf_greedy": told["test"]["width 1"]["chrf"],
            "perplexity_free_running": told["perplexity_free_running"],
        },
    }


def main() -> None:
    """Write all rows anew."""
    carrying = Study("ladder", ladder.run, list(ladder.RUNGS))
    for row in ladder.study().rows():
        carrying.store(carried(row))


if __name__ == "__main__":
    main()
