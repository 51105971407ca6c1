"""Exact match: the proportion of hypotheses that equal their reference."""

from collections.abc import Sequence

from gates2heads.accepts.shown import shown
from gates2heads.metrics.sentences import Sentence, check_same_length, check_sentence


def exact_match(hypotheses: Sequence[Sentence], references: Sequence[Sentence]) -> float:
    """Compute the proportion of hypotheses that equal their reference.

    Args:
        hypotheses: N strings, or N lists of tokens.
        references: N segments of the same kind, one for each hypothesis.
    Returns:
        the share, from 0 to 1. Nothing is normalised: case, accents and white space count.
    Raises:
        TypeError: an argument is not a list, or an entry is neither a string nor a list of tokens,
            or a string is compared with tokens.
        ValueError: the lengths differ, or there is nothing to compare.
    """
    check_same_length(hypotheses, references)
    hits = 0
    for i, (hypothesis, reference) in enumerate(zip(hypotheses, references, strict=True)):
        check_sentence(hypothesis, f"hypotheses[{i}]")
        check_sentence(reference, f"references[{i}]")
        if isinstance(hypothesis, str) != isinstance(reference, str):
            raise TypeError(f"references[{i}] must be of the same kind as hypotheses[{i}]")
        hits += tuple(hypothesis) == tuple(reference)
    return hits / len(hypotheses)


def parts_right(
    hypotheses: Sequence[str], references: Sequence[str], *, separator: str = " "
) -> float:
    """Compute the proportion of the references' parts that the hypotheses have at the same index.

    Args:
        hypotheses, references: N strings each.
        separator: the separator of the parts; a missing part counts as wrong.
    Returns:
        the proportion of all parts of all references, from 0 to 1.
    Raises:
        TypeError, ValueError: as in `exact_match`, or `separator` is empty.
    """
    check_same_length(hypotheses, references)
    if not isinstance(separator, str) or not separator:
        raise ValueError(
            f"separator must be a string of at least one character, got {shown(separator)}"
        )
    hits = total = 0
    for i, (hypothesis, reference) in enumerate(zip(hypotheses, references, strict=True)):
        if not isinstance(hypothesis, str) or not isinstance(reference, str):
            raise TypeError(f"hypotheses[{i}] and references[{i}] must be strings")
        wanted = reference.split(separator)
        hits += sum(a == b for a, b in zip(hypothesis.split(separator), wanted, strict=False))
        total += len(wanted)
    return hits / total
