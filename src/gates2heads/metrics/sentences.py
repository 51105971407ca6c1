"""Segments: the texts that a metric compares, checked and tokenized.

A segment is one string, or a list of tokens (strings or vocabulary ids). Every metric checks its
hypotheses and references with this module, so that all of them accept the same arguments and raise
the same messages.
"""

import re
from collections.abc import Callable, Sequence

from gates2heads.accepts import accepts, choice, flag
from gates2heads.accepts.shown import shown

__all__ = ["TOKENIZERS", "Sentence", "cut", "read_pair", "read_pairs"]

Sentence = str | Sequence[str] | Sequence[int]
Pair = tuple[Sentence, list[Sentence]]

# Every ASCII mark except the apostrophe, the comma, the dash and the full stop.
_MARK = re.compile(r"([!-&(-+/:-@\[-`{-~])")
_STOP_AFTER_NON_DIGIT = re.compile(r"([^0-9])([.,])")
_STOP_BEFORE_NON_DIGIT = re.compile(r"([.,])([^0-9])")
_DASH_AFTER_DIGIT = re.compile(r"([0-9])-")
_LETTERS_AND_DIGITS = re.compile(r"[a-z0-9]+")


def _tokenize_none(text: str) -> list[str]:
    """Split at white space only."""
    return text.split()


def _tokenize_char(text: str) -> list[str]:
    """Split into single characters; white space is dropped."""
    return list("".join(text.split()))


def _tokenize_13a(text: str) -> list[str]:
    """Separate words and punctuation marks, as in the WMT scorer mteval-v13a.

    A comma or full stop inside a number stays there, as does a dash or apostrophe inside a word.

    Source: NIST mteval-v13a.pl, as sacreBLEU's `13a` (Post 2018). Departs from it in nothing.
    """
    text = text.rstrip().replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    if "&" in text:
        text = text.replace("&quot;", '"').replace("&amp;", "&")
        text = text.replace("&lt;", "<").replace("&gt;", ">")
    text = _MARK.sub(r" \1 ", f" {text} ")
    if "." in text or "," in text:
        text = _STOP_AFTER_NON_DIGIT.sub(r"\1 \2 ", text)
        text = _STOP_BEFORE_NON_DIGIT.sub(r" \1 \2", text)
    if "-" in text:
        text = _DASH_AFTER_DIGIT.sub(r"\1 - ", text)
    return text.split()


def _tokenize_rouge(text: str) -> list[str]:
    """Keep the sequences of ASCII letters and digits, in lower case.

    Source: Lin 2004, as rouge-score without its stemmer. Departs from it in nothing. It drops every
    other script: use `char` for Chinese.
    """
    return _LETTERS_AND_DIGITS.findall(text.lower())


TOKENIZERS: dict[str, Callable[[str], list[str]]] = {
    "none": _tokenize_none,
    "13a": _tokenize_13a,
    "char": _tokenize_char,
    "rouge": _tokenize_rouge,
}


def choose_tokenizer(tokenize: str | None, sample: Sentence, default: str) -> str:
    """The tokenizer to use: the caller's, else `default` for strings and `none` for tokens.

    Raises:
        ValueError: the segments are tokens already.
    """
    if isinstance(sample, str):
        return tokenize or default
    if tokenize not in (None, "none"):
        raise ValueError(f"tokenize must be None for segments cut already, got {shown(tokenize)}")
    return "none"


@accepts(tokenize=choice(TOKENIZERS), lowercase=flag)
def cut(segment: Sentence, tokenize: str, *, lowercase: bool = False) -> Sequence:
    """Split a string by the named tokenizer; leave a list of tokens unchanged.

    Raises:
        TypeError: see `check_sentence`.
    """
    check_sentence(segment, "segment")
    if isinstance(segment, str):
        return TOKENIZERS[tokenize](segment.lower() if lowercase else segment)
    if lowercase:
        return [token.lower() if isinstance(token, str) else token for token in segment]
    return segment


def check_sentence(segment: Sentence, name: str) -> None:
    """Reject anything but a string or a list of tokens.

    Raises:
        TypeError: with a message that names the argument.
    """
    if isinstance(segment, str):
        return
    if not isinstance(segment, list | tuple):
        kind = type(segment).__name__
        raise TypeError(f"{name} must be a string or a list of tokens, got {kind}")
    strange = set(map(type, segment)) - {str, int}
    if strange:
        kind = sorted(kind.__name__ for kind in strange)[0]
        raise TypeError(f"{name} must hold tokens that are str or int, got a {kind}")


def read_pair(hypothesis, references, names=("hypothesis", "references")) -> Pair:
    """Check one hypothesis and its references.

    Args:
        hypothesis: a string, or a list of tokens.
        references: a list of references of the same kind as the hypothesis; a lone string is read
            as one reference.
        names: the names of the two arguments in a message.
    Returns:
        the hypothesis and the list of its references.
    Raises:
        TypeError: something is neither a string nor a list of tokens, or the two kinds are mixed.
        ValueError: there is no reference.
    """
    check_sentence(hypothesis, names[0])
    if isinstance(references, str):
        references = [references]
    if not isinstance(references, list | tuple):
        raise TypeError(f"{names[1]} must be a list of references, got {type(references).__name__}")
    if not references:
        raise ValueError(f"{names[1]} must hold at least one reference, got none")
    for reference in references:
        check_sentence(reference, f"each reference of {names[1]}")
        if isinstance(reference, str) != isinstance(hypothesis, str):
            wanted = "a string" if isinstance(hypothesis, str) else "a list of tokens"
            raise TypeError(
                f"each reference of {names[1]} must be {wanted}, as {names[0]} is, "
                f"got {type(reference).__name__}"
            )
    return hypothesis, list(references)


def read_pairs(hypotheses, references) -> list[Pair]:
    """Check a whole test set: the hypotheses, and for each of them the list of its references.

    Args:
        hypotheses: N segments, all strings or all lists of tokens.
        references: N lists of references; their number may differ from sentence to sentence.
    Returns:
        N pairs (hypothesis, its references).
    Raises:
        TypeError: an argument is not a list, or a segment is of the wrong kind.
        ValueError: the two lists differ in length or are empty, or a hypothesis has no reference.
    """
    check_same_length(hypotheses, references)
    first_is_text = isinstance(hypotheses[0], str)
    pairs = []
    for i, (hypothesis, its_references) in enumerate(zip(hypotheses, references, strict=True)):
        names = (f"hypotheses[{i}]", f"references[{i}]")
        pairs.append(read_pair(hypothesis, its_references, names))
        if isinstance(hypothesis, str) != first_is_text:
            raise TypeError(
                f"{names[0]} must be of the same kind as hypotheses[0]: string or tokens"
            )
    return pairs


def check_same_length(hypotheses, references) -> None:
    """Reject two test sets that cannot be paired one to one.

    Raises:
        TypeError: an argument is not a list or tuple.
        ValueError: they are empty, or their lengths differ.
    """
    for name, value in (("hypotheses", hypotheses), ("references", references)):
        if not isinstance(value, list | tuple):
            kind = type(value).__name__
            raise TypeError(f"{name} must be a list with one entry a sentence, got {kind}")
    if len(hypotheses) != len(references):
        raise ValueError(
            f"references must have one entry for each of the {len(hypotheses)} hypotheses, "
            f"got {len(references)}"
        )
    if not hypotheses:
        raise ValueError("hypotheses must hold at least one sentence, got none")
