"""Chapter 9, a bug to find: BLEU, correct or with a bug."""

from collections import Counter
from collections.abc import Sequence

from gates2heads.accepts import accepts, flag
from gates2heads.grading.paper import bug_check
from gates2heads.metrics.bleu import Bleu
from gates2heads.metrics.ngrams import clipped_matches, count_ngrams, most_in_any
from gates2heads.metrics.sentences import cut, read_pair

FAULTS = {
    "a": "n-gram counts are not clipped",
    "b": "the brevity penalty is missing",
    "c": "counts are clipped at the sum over all references instead of the maximum",
    "d": "the precisions are combined by the arithmetic mean instead of the geometric mean",
}


@accepts(faulty=flag)
def scored(hypothesis: str, references: Sequence[str], *, faulty: bool = False) -> float:
    """BLEU of one sentence with unigrams and bigrams.

    Args:
        hypothesis: a string.
        references: one or more.
        faulty: score with the bug that the reader is to find.
    """
    hypothesis, references = read_pair(hypothesis, references)
    tokens, *others = (cut(text, "13a") for text in (hypothesis, *references))
    one = Bleu(max_ngram_order=2, smooth_method="none")
    total = one.statistics([hypothesis], [references])[0].tolist()
    for order in (1, 2):
        counts = [count_ngrams(other, order) for other in others]
        most = sum(counts, Counter()) if faulty else most_in_any(counts)
        total[1 + order] = clipped_matches(tokens, order, most)
    return one.from_statistics(total).score


check_fault = bug_check(
    "Exercise 9.7",
    FAULTS,
    {
        "a": "Then the repeated hypothesis would score too high with one reference as well.",
        "b": "Then the short hypothesis would score too high, but its two scores are equal.",
        "d": "Then the good hypothesis would have two different scores with one reference, too.",
    },
    closing=". With one reference, the sum and the maximum are equal.",
)
