"""ROUGE: overlap of a hypothesis with its reference, mainly recall.

ROUGE-N counts n-grams, ROUGE-L takes the longest common subsequence (LCS). All scores are for one
hypothesis; the score of a test set is their mean. Precision, recall and F lie between 0 and 1.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from gates2heads.accepts import accepts, choice, natural
from gates2heads.metrics.ngrams import clipped_matches, count_ngrams
from gates2heads.metrics.sentences import (
    TOKENIZERS,
    Sentence,
    check_sentence,
    choose_tokenizer,
    cut,
    read_pair,
)

__all__ = ["RougeScore", "common_subsequence", "rouge_l", "rouge_lsum", "rouge_n"]


class RougeScore(NamedTuple):
    """Precision, recall and their harmonic mean, each 0 to 1. The original ROUGE is the recall."""

    precision: float
    recall: float
    f_measure: float


@accepts(order=natural, pooling=choice(("best", "pooled")), tokenize=choice(TOKENIZERS))
def rouge_n(
    hypothesis: Sentence,
    references: Sequence[Sentence],
    order: int = 1,
    *,
    pooling: str = "best",
    tokenize: str | None = None,
) -> RougeScore:
    """Compare the n-grams of a hypothesis with those of its references.

    With several references, `pooled` adds matches and counts over all of them before it divides
    (eq. 15.42); `best` scores each reference and keeps the one with the highest F, as rouge-score
    does. With one reference the two are equal.

    Source: Lin 2004, section 2; eq. 15.42 of the notes. The precision of `pooled` is not in the
    source: the same matches over the n-grams of the hypothesis, counted once for each reference.

    Args:
        hypothesis: a string or a list of tokens.
        references: a list of such; a lone string is one reference.
        order: the n of n-gram.
        pooling: `best` or `pooled`.
        tokenize: `rouge` (default for strings), `none`, `13a` or `char`; None for token lists.
    Raises:
        TypeError, ValueError: see `read_pair`.
    """
    tokens, its_references = _read(hypothesis, references, tokenize)
    own_total = max(len(tokens) - order + 1, 0)
    ceilings = [count_ngrams(reference, order) for reference in its_references]
    matches = [clipped_matches(tokens, order, ceiling) for ceiling in ceilings]
    totals = [ceiling.total() for ceiling in ceilings]
    if pooling == "pooled":
        return _score(sum(matches), len(ceilings) * own_total, sum(totals))
    scores = [_score(match, own_total, total) for match, total in zip(matches, totals, strict=True)]
    return max(scores, key=lambda score: score.f_measure)


@accepts(tokenize=choice(TOKENIZERS))
def rouge_l(
    hypothesis: Sentence, references: Sequence[Sentence], *, tokenize: str | None = None
) -> RougeScore:
    """Compare by the longest common subsequence: word order matters, adjacency does not.

    Source: Lin 2004, section 3.1, with beta = 1; of several references the one with the highest F.

    Args:
        hypothesis: a string or a list of tokens.
        references: a list of such; a lone string is one reference.
        tokenize: as in `rouge_n`.
    Raises:
        TypeError, ValueError: see `read_pair`.
    """
    tokens, its_references = _read(hypothesis, references, tokenize)
    scores = []
    for reference in its_references:
        length = _lcs_table(reference, tokens)[-1][-1]
        scores.append(_score(length, len(tokens), len(reference)))
    return max(scores, key=lambda score: score.f_measure)


@accepts(tokenize=choice(TOKENIZERS))
def rouge_lsum(
    hypothesis: str, references: Sequence[str], *, tokenize: str | None = None
) -> RougeScore:
    r"""Compare two summaries sentence by sentence; sentences are separated by `\n`.

    Each sentence of the reference collects the tokens that lie on an LCS with any sentence of the
    hypothesis. A token counts at most as often as it occurs in both summaries.

    Source: Lin 2004, section 3.2, with the guard against double counting of ROUGE 1.5.5.

    Args:
        hypothesis: a string.
        references: a list of strings; a lone string is one reference.
        tokenize: as in `rouge_n`.
    Raises:
        TypeError: tokens are given instead of strings; otherwise see `rouge_n`.
    """
    hypothesis, references = read_pair(hypothesis, references)
    if not isinstance(hypothesis, str):
        raise TypeError("hypothesis must be a string with one sentence per line, got tokens")
    tokenizer = choose_tokenizer(tokenize, hypothesis, "rouge")
    summaries = [
        [cut(line, tokenizer) for line in text.split("\n")] for text in (hypothesis, *references)
    ]
    scores = [_summary_score(summaries[0], reference) for reference in summaries[1:]]
    return max(scores, key=lambda score: score.f_measure)


def common_subsequence(reference: Sequence, hypothesis: Sequence) -> list[int]:
    """Compute the indices in the reference of one longest common subsequence.

    Where several are equally long, backtracking prefers to drop a token of the reference, as in
    rouge-score.

    Args:
        reference: a list of tokens; a string is a sequence of characters.
        hypothesis: likewise.
    Returns:
        increasing indices into `reference`.
    Raises:
        TypeError: an argument is neither a string nor a list of tokens.
    """
    check_sentence(reference, "reference")
    check_sentence(hypothesis, "hypothesis")
    table = _lcs_table(reference, hypothesis)
    row, column, places = len(reference), len(hypothesis), []
    while row > 0 and column > 0:
        if reference[row - 1] == hypothesis[column - 1]:
            row, column = row - 1, column - 1
            places.append(row)
        elif table[row][column - 1] > table[row - 1][column]:
            column -= 1
        else:
            row -= 1
    return places[::-1]


def _lcs_table(reference: Sequence, hypothesis: Sequence) -> list[list[int]]:
    """Fill table[i][j], the length of the LCS of the first i and the first j tokens."""
    table = [[0] * (len(hypothesis) + 1)]
    for token in reference:
        above, row = table[-1], [0]
        for j, other in enumerate(hypothesis):
            row.append(above[j] + 1 if token == other else max(above[j + 1], row[j]))
        table.append(row)
    return table


def _summary_score(hypothesis: list[Sequence], reference: list[Sequence]) -> RougeScore:
    left = Counter(token for sentence in hypothesis for token in sentence)
    left_in_reference = Counter(token for sentence in reference for token in sentence)
    hypothesis_length, reference_length = left.total(), left_in_reference.total()
    hits = 0
    for sentence in reference:
        places = set().union(*(common_subsequence(sentence, other) for other in hypothesis))
        for token in (sentence[place] for place in places):
            if left[token] > 0 and left_in_reference[token] > 0:
                hits += 1
                left[token] -= 1
                left_in_reference[token] -= 1
    return _score(hits, hypothesis_length, reference_length)


def _score(matches: int, hypothesis_total: int, reference_total: int) -> RougeScore:
    if matches == 0:
        return RougeScore(0.0, 0.0, 0.0)
    precision, recall = matches / hypothesis_total, matches / reference_total
    return RougeScore(precision, recall, 2 * precision * recall / (precision + recall))


def _read(hypothesis, references, tokenize) -> tuple[Sequence, list[Sequence]]:
    hypothesis, references = read_pair(hypothesis, references)
    tokenizer = choose_tokenizer(tokenize, hypothesis, "rouge")
    return cut(hypothesis, tokenizer), [cut(reference, tokenizer) for reference in references]
