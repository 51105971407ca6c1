"""Chapter 9, when it breaks: a BLEU, sound or with a fault."""

from collections import Counter
from collections.abc import Sequence

from gates2heads.accepts import accepts, flag
from gates2heads.grading.verdict import check, chosen_fault
from gates2heads.metrics.bleu import Bleu
from gates2heads.metrics.ngrams import clipped_matches, count_ngrams, most_in_any
from gates2heads.metrics.sentences import cut, read_pair

FAULTS = {
    "a": "n-grams are not clipped at all",
    "b": "the brevity penalty is left out",
    "c": "the ceiling of an n-gram is its count in all references together",
    "d": "the precisions are averaged, and not multiplied",
}


@accepts(faulty=flag)
def scored(hypothesis: str, references: Sequence[str], *, faulty: bool = False) -> float:
    """BLEU of one sentence with words and pairs alone.

    Args:
        hypothesis: a string.
        references: one or more.
        faulty: score with the fault, which the reader is to find.
    """
    hypothesis, references = read_pair(hypothesis, references)
    tokens, *others = (cut(text, "13a") for text in (hypothesis, *references))
    one = Bleu(max_ngram_order=2, smooth_method="none")
    total = one.statistics([hypothesis], [references])[0].tolist()
    for order in (1, 2):
        counts = [count_ngrams(other, order) for other in others]
        ceiling = sum(counts, Counter()) if faulty else most_in_any(counts)
        total[1 + order] = clipped_matches(tokens, order, ceiling)
    return one.from_statistics(total).score


@check("Exercise 9.6")
def check_fault(letter) -> str:
    """Check the reader's diagnosis of the faulty BLEU: one letter of `FAULTS`."""
    contradiction = {
        "a": "Then what says everything twice would be wrong beside one reference, too.",
        "b": "Then the short hypothesis would be wrong, and it is right.",
        "d": "Then the good hypothesis would be wrong, with one reference and with three.",
    }
    fault = chosen_fault(letter, FAULTS, contradiction)
    return f"{fault}. With one reference the two ceilings are the same."
