"""Beam search on a live translator: its tree, its ranking, and the effect of a forced prefix."""

import math
from collections.abc import Sequence
from typing import Any

from traitlets import Bool, Dict, Float, Int, List, Unicode, validate

from gates2heads.accepts import accepts, instance, natural, number, string
from gates2heads.accepts.shown import shown
from gates2heads.browser.engine.export import Exported
from gates2heads.views.kit.german_view import GermanView
from gates2heads.views.kit.live_view import FAR, exported, words
from gates2heads.views.kit.view import PositionError, module, style
from gates2heads.watching.searches import Compared, Found, Watched
from gates2heads.watching.two_tables import AFTER_C, BOS, EOS, NAMES, STEPS, TABLE

# The range of each control.
BOUNDS = {
    "width": (1, 10),
    "alpha": (0.0, 2.0),
    "temperature": (0.1, 2.0),
    "top_k": (0, 50),
    "top_p": (0.05, 1.0),
    "seed": (0, 2**31 - 1),
    "step": (0, FAR),
}
_DIGITS = 4  # of a recorded log-probability
_TABLES = {
    "names": list(NAMES),
    "tables": [[list(row) for row in table] for table in (TABLE, AFTER_C)],
    "bos": BOS,
    "eos": EOS,
    "limit": STEPS,
    "source": "The probabilities are those of Zhang et al. 2023, section 10.8. We use the second "
    "table after every C at step 2; their example follows one such sequence.",
}


@accepts(
    model=exported,
    examples=words(least=1),
    recorded=instance(Watched, "as `watch` gives"),
    title=string,
    label=string,
    hint=string,
    width=natural(most=BOUNDS["width"][1]),
    alpha=number,
)
class BeamLaboratory(GermanView):
    """Type a sentence and see how beam search looks for its translation.

    The tree shows which prefixes were kept, which were pruned and which hypotheses are finished. A
    click on a candidate makes it a prefix with which every search must begin. Two tables of
    probabilities, on which greedy search misses the more probable sequence, can be searched in the
    same way. Finished hypotheses keep their slots, so that a beam width of 1 is greedy search.

    Source: Zhang et al. 2023, section 10.8, for the length penalty L^α and the two tables; Holtzman
    et al. 2020 for sampling from a nucleus.

    Args:
        model: the translator, from `export_model`.
        examples: sentences on buttons; the first is the recorded one.
        recorded: what `watch` found for the first example with this width and `Power(alpha)`.
        title: above the view.
        label: the label of the input field, above it.
        hint: a suggestion, in one line.
        width: of the beam, 1 to 10.
        alpha: the exponent of the length penalty, 0 to 2.

    Attributes:
        text, table, width, alpha, prefix: what is searched, synchronised with the view; with
            `table` it is the two tables, and `prefix` holds the tokens that are forced.
        sampling, temperature, top_k, top_p, seed: whether and how is sampled; top_k 0 keeps all.
        step: how many steps of the tree are shown; 0 is all.

    Raises:
        TypeError: a part of `recorded` is invalid.
        ValueError: `recorded` is of another text than the first example, or alpha is out of bounds.
    """

    _esm = module(__file__)
    _css = style(__file__, "german.css")

    examples = List(Unicode()).tag(sync=True)
    recorded = Dict().tag(sync=True)
    tables = Dict(_TABLES).tag(sync=True)
    limit = Int(40).tag(sync=True)
    label = Unicode().tag(sync=True)
    text = Unicode().tag(sync=True)
    table = Bool(False).tag(sync=True)
    width = Int(5).tag(sync=True)
    alpha = Float(0.75).tag(sync=True)
    prefix = List(Int()).tag(sync=True)
    sampling = Bool(False).tag(sync=True)
    temperature = Float(1.0).tag(sync=True)
    top_k = Int(0).tag(sync=True)
    top_p = Float(1.0).tag(sync=True)
    seed = Int(1).tag(sync=True)
    step = Int(0).tag(sync=True)

    def __init__(
        self,
        model: Exported,
        examples: Sequence[str],
        recorded: Watched,
        *,
        title: str = "",
        label: str = "Type a German sentence",
        hint: str = "Click any candidate in the tree to force the search through it.",
        width: int = 5,
        alpha: float = 0.75,
        **traits: Any,
    ):
        _check_recorded(recorded)
        if recorded.text != examples[0]:
            raise ValueError(
                f"recorded must be of the first example, {shown(examples[0])}, got a search of "
                f"{shown(recorded.text)}"
            )
        super().__init__(
            model,
            examples=list(examples),
            recorded={**_recording(recorded), "width": width, "alpha": float(alpha)},
            limit=recorded.limit,
            title=title,
            label=label,
            hint=hint,
            text=examples[0],
            width=width,
            alpha=float(alpha),
            **traits,
        )

    @validate(*BOUNDS)
    def _inside(self, proposal: dict[str, Any]) -> float:
        name, value = proposal["trait"].name, proposal["value"]
        least, most = BOUNDS[name]
        if not least <= value <= most:
            raise PositionError(f"{name} must be from {least} to {most}, got {value}")
        return value

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Accept a state from the browser; values of a linked control are moved into bounds."""
        if not isinstance(sync_data, dict):
            raise TypeError(f"sync_data must map traits to values, got {shown(sync_data)}")
        inside = {
            name: _number_inside(name, sync_data[name]) for name in BOUNDS if name in sync_data
        }
        super().set_state({**sync_data, **inside})

    def __repr__(self):
        return f"BeamLaboratory({self.live[0]['name']}, {len(self.examples)} examples)"


def _check_recorded(recorded: Any) -> None:
    """Reject values that `watch` never returns."""
    instance(Compared).check("recorded.compared", recorded.compared)
    string.check("recorded.text", recorded.text)
    words.check("recorded.source", recorded.source)
    natural.check("the number of tokens in recorded.source", len(recorded.source))
    words.check("recorded.words", recorded.words)
    natural.check("recorded.limit", recorded.limit)
    most = max((node.token for node in recorded.compared.nodes[1:]), default=0)
    if most >= len(recorded.words):
        raise ValueError(
            f"recorded must have a word for each token, got {len(recorded.words)} words and token "
            f"{most}"
        )


def _number_inside(name: str, asked: Any) -> float:
    """The nearest valid value of a control, of its type."""
    least, most = BOUNDS[name]
    if isinstance(asked, float) and math.isnan(asked):  # it would pass both comparisons
        raise TypeError(f"sync_data must hold a number for {name}, got {shown(asked)}")
    try:
        return type(least)(min(max(float(asked), least), most))
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"sync_data must hold a number for {name}, got {shown(asked)}") from error


def _recording(recorded: Watched) -> dict[str, Any]:
    """The data for the page, in the format of a live answer."""
    compared, words = recorded.compared, recorded.words
    return {
        "text": recorded.text,
        "source": list(recorded.source),
        "size": len(words),
        "free": {
            "nodes": _nodes(compared, words),
            "ranking": [_found(found, words) for found in compared.ranking],
            "greedy": _found(compared.greedy, words),
            "scored": compared.scored,
            "steps": compared.steps,
        },
    }


def _nodes(compared: Compared, words: list[str]) -> list[dict[str, Any]]:
    return [
        {
            **node._asdict(),
            "piece": "" if node.parent is None else words[node.token],
            "log_prob": round(node.log_prob, _DIGITS),
            "score": round(node.score, _DIGITS),
        }
        for node in compared.nodes
    ]


def _found(found: Found, words: list[str]) -> dict[str, Any]:
    return {
        **found._asdict(),
        "pieces": [words[token] for token in found.tokens],
        "parts": [round(part, _DIGITS) for part in found.parts],
        "log_prob": round(found.log_prob, _DIGITS),
        "score": round(found.score, _DIGITS),
    }
