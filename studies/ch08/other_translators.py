"""Does beam search gain as much with the book's other translators? Section 8.9 states the result.

    GATES2HEADS_DATA=… python -m studies.ch08.other_translators
    python -m studies.ch08.other_translators --table

Each setting is one of the three released translators. It searches for every validation and test
caption with beam widths 1 and 5, as in `beam_widths`; width 1 is greedy search. `tuned` is the
exponent α of the length penalty with the highest BLEU on the validation captions.

The results are measured on the test captions: BLEU and the length ratio of greedy search
(`greedy`), and, for width 5 with α = 0, α = 1 and the chosen α, BLEU, the length ratio and the gain
over greedy search with the 95 % interval of a paired bootstrap (`alphas`).
"""

from gates2heads.book.studies import Study
from gates2heads.training.checkpoints import shipped_weights
from gates2heads.training.recipes.runs import load
from studies.ch08.beam_widths import ALPHAS, Judge, Searched, summary

TRANSLATORS = ("translator", "translator_distilled", "translator_to_german")
WIDTH = 5
KEPT = "bleu", "length_ratio", "over"


def searched(trained, split: str, alphas) -> dict:
    """The results of greedy search and of a beam, for each α."""
    texts, wanted = map(list, zip(*trained.task.pairs(split), strict=True))
    judge = Judge(trained, wanted)
    greedy = Searched(trained, texts, 1).chosen(0.0)
    plain = judge.statistics([tokens for tokens, _ in greedy])
    beams = Searched(trained, texts, WIDTH)
    result = {"captions": len(texts), "greedy": summary(judge, greedy, plain, {}), "alphas": {}}
    for alpha in alphas:
        chosen = beams.chosen(alpha)
        counts = judge.statistics([tokens for tokens, _ in chosen])
        result["alphas"][alpha] = summary(judge, chosen, counts, {1: plain})
    return result


def run(name: str, seed: int) -> dict:
    """Choose α on the validation captions, and measure on test; nothing is random."""
    trained = load(shipped_weights(name))
    validated = searched(trained, "validation", ALPHAS)["alphas"]
    tuned = max(validated, key=lambda alpha: validated[alpha]["bleu"])
    tested = searched(trained, "test", sorted({0.0, 1.0, tuned}))
    return {
        "captions": tested["captions"],
        "width": WIDTH,
        "tuned": tuned,
        "greedy": {key: tested["greedy"][key] for key in KEPT},
        "alphas": {
            f"{alpha:g}": {key: one[key] for key in KEPT} for alpha, one in tested["alphas"].items()
        },
    }


if __name__ == "__main__":
    Study("ch08/other_translators", run, TRANSLATORS).main()
