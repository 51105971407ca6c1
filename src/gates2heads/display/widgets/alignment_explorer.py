"""The alignment explorer: which source tokens does each output step look at?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from traitlets import Bytes, Dict, Int, observe, validate

from gates2heads.accepts.shown import shown
from gates2heads.checks.figures import check_shares, numbers, seen
from gates2heads.checks.values import MOST, check_count, check_list, check_texts
from gates2heads.display.widgets.view import View, module, style


@dataclass(frozen=True, eq=False, repr=False)
class Alignment:
    """What one model wrote for one sentence, and where it looked at each step.

    Args:
        source: S tokens read, as they are shown.
        target: T tokens written, as they are shown.
        weights: (T, S) attention weights; each row sums to 1. A tensor or anything array-like.

    Raises:
        TypeError: the tokens are not strings.
        ValueError: nothing to show, a shape that does not fit, or rows that are no weights.
    """

    source: Sequence[str]
    target: Sequence[str]
    weights: ArrayLike

    def __post_init__(self):
        for name in ("source", "target"):
            object.__setattr__(self, name, _tokens(getattr(self, name), name))
        shape = (len(self.target), len(self.source))
        object.__setattr__(self, "weights", _weights(self.weights, shape))

    def __repr__(self):
        return f"Alignment({len(self.source)} source × {len(self.target)} target tokens)"


class AlignmentExplorer(View):
    """Shows the weights over the source for each output step, sentence and score function.

    Source: the alignment matrices of Bahdanau et al. 2015, fig. 3; here one row at a time is drawn
    as bars and links, with the whole matrix beneath it.

    Args:
        alignments: for each score function one `Alignment` per sentence. All score functions show
            the same sentences in the same order; what they wrote may differ.
        titles: what the list of sentences shows, one per sentence; the source text if left out.
        sentence, score, step: where the picture starts, counted from 0.

    Attributes:
        sentence, score, step: the shown position, in step with the picture; may be linked.

    Raises:
        TypeError: not a mapping of lists of `Alignment`.
        ValueError: score functions that show different sentences, or a position out of bounds.
    """

    _esm = module("alignment_explorer.js")
    _css = style("alignment_explorer.css")

    catalogue = Dict().tag(sync=True)
    weights = Bytes().tag(sync=True)
    sentence = Int(0).tag(sync=True)
    score = Int(0).tag(sync=True)
    step = Int(0).tag(sync=True)

    def __init__(
        self,
        alignments: Mapping[str, Sequence[Alignment]],
        titles: Sequence[str] | None = None,
        *,
        sentence: int = 0,
        score: int = 0,
        step: int = 0,
        **kwargs: Any,
    ):
        _check_comparable(alignments)
        for name, place in (("sentence", sentence), ("score", score), ("step", step)):
            check_count(name, place, least=-MOST)
        by_score = list(alignments.values())
        sources = [alignment.source for alignment in by_score[0]]
        super().__init__(
            catalogue={
                "scores": list(alignments),
                "titles": _titles(titles, sources),
                "sources": sources,
                "targets": [[alignment.target for alignment in row] for row in by_score],
            },
            weights=b"".join(alignment.weights.tobytes() for row in by_score for alignment in row),
            sentence=sentence,
            score=score,
            step=step,
            **kwargs,
        )

    _positions = ("score", "sentence", "step")

    def _places(self, name: str, at: dict[str, int]) -> int:
        targets = self.catalogue["targets"]
        if name == "step":
            return len(targets[at["score"]][at["sentence"]])
        return len(targets) if name == "score" else len(targets[0])

    @validate("sentence", "score", "step")
    def _inside(self, proposal: dict[str, Any]) -> int:
        return self._checked(proposal)

    @observe("sentence", "score")
    def _stay_on_a_step(self, _change: Any) -> None:
        places = self._places("step", {"score": self.score, "sentence": self.sentence})
        self.step = min(self.step, places - 1)

    def __repr__(self):
        scores, sentences = len(self.catalogue["scores"]), len(self.catalogue["sources"])
        return (
            f"AlignmentExplorer({_count(scores, 'score function')} × "
            f"{_count(sentences, 'sentence')})"
        )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _tokens(tokens: Sequence[str], name: str) -> list[str]:
    if isinstance(tokens, str):
        raise TypeError(f"{name} must be a sequence of tokens, got one str: {shown(tokens)}")
    check_list(name, tokens, of="tokens")
    tokens = list(tokens)
    strangers = [token for token in tokens if not isinstance(token, str)]
    if strangers:
        raise TypeError(f"{name} must hold strings, got {type(strangers[0]).__name__}")
    if not tokens:
        raise ValueError(f"{name} must hold at least one token, got none")
    return [seen(token) for token in tokens]


def _weights(weights: ArrayLike, shape: tuple[int, int]) -> np.ndarray:
    weights = numbers(weights, "weights").astype("<f4")
    if weights.shape != shape:
        raise ValueError(
            f"weights must have the shape (target, source) = {shape}, got {weights.shape}"
        )
    check_shares("weights", weights)
    return weights


def _joined(tokens: list[str]) -> str:
    # Most being single characters, a special token such as <eos> does not make them words.
    characters = sum(len(token) == 1 for token in tokens)
    return ("" if 2 * characters > len(tokens) else " ").join(tokens)


def _titles(titles: Sequence[str] | None, sources: list[list[str]]) -> list[str]:
    if titles is None:
        return [_joined(source) for source in sources]
    check_texts("titles", titles)
    titles = [seen(title) for title in titles]
    if len(titles) != len(sources):
        raise ValueError(f"titles must name {len(sources)} sentences, got {len(titles)}")
    return titles


def _check_comparable(alignments: Mapping[str, Sequence[Alignment]]) -> None:
    if not isinstance(alignments, Mapping) or not alignments:
        raise TypeError(
            "alignments must map each score function's name to its alignments, "
            f"got {type(alignments).__name__}"
        )
    first, *_ = alignments
    for name, row in alignments.items():
        if not isinstance(name, str):
            raise TypeError(f"alignments must have names that are texts, got {shown(name)}")
        if (
            not isinstance(row, Sequence)
            or not row
            or not all(isinstance(alignment, Alignment) for alignment in row)
        ):
            raise TypeError(f"alignments[{shown(name)}] must be a list of at least one Alignment")
        if len(row) != len(alignments[first]):
            raise ValueError(
                f"alignments[{shown(name)}] must show the {len(alignments[first])} sentences of "
                f"{shown(first)}, got {len(row)}"
            )
        for place, (one, other) in enumerate(zip(alignments[first], row, strict=True)):
            if one.source != other.source:
                raise ValueError(
                    f"alignments[{shown(name)}][{place}] must have the source tokens of "
                    f"alignments[{shown(first)}][{place}], got others"
                )
