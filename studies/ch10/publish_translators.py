"""Copy the scores of the comparison to the files that the pages of the book read them, Colab's too.

    python -m studies.ch10.publish_translators

The rows of `studies/ch10/results/translators.json`, without translations and with BLEU as the only
validation score, go to `gates2heads/book/ch10/results/translators.json`. Nothing is trained.
"""

from gates2heads.book.studies import Study
from studies.ch10 import translators


def carried(row: dict) -> dict:
    """A row of the comparison without its long fields."""
    result = row["result"]
    return {
        **row,
        "result": {
            "parameters": result["parameters"],
            "perplexity": result["perplexity"],
            "bleu_greedy": result["test"]["width 1"]["bleu"],
            "bleu": result["test"]["width 5"]["bleu"],
            "chrf": result["test"]["width 5"]["chrf"],
            "chrf_greedy": result["test"]["width 1"]["chrf"],
            "perplexity_free_running": result["perplexity_free_running"],
            "bleu_validation": {step: one["bleu"] for step, one in result["validation"].items()},
        },
    }


def main() -> None:
    """Write all rows again."""
    carrying = Study("ch10/translators", translators.run, list(translators.RUNGS))
    for row in translators.study().rows():
        carrying.store(carried(row))


if __name__ == "__main__":
    main()
