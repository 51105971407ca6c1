"""The metric bench: a reference and a hypothesis to edit, and each score with its counts."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from traitlets import Bool, Dict, Int, List, Unicode, validate

from gates2heads.accepts import accepts, choice, flag, instance, listed, natural, string
from gates2heads.accepts.shown import shown as shortly
from gates2heads.metrics.sentences import TOKENIZERS
from gates2heads.metrics.smoothing import SMOOTHING
from gates2heads.views.kit.live_view import words
from gates2heads.views.kit.view import PositionError, ShowMe, View, module, style

CHARACTERS, REFERENCES = 500, 3  # the longest text, the most references
ORDERS = 4  # the longest n-gram
SHOWN = ("words", "pairs", "threes", "fours", "subsequence")


class Judged(NamedTuple):
    """A hypothesis beside its references, under a name."""

    name: str
    hypothesis: str
    references: Sequence[str]


@accepts(
    examples=listed("texts", instance(Judged), least=1),
    tokenize=choice(TOKENIZERS),
    smooth_method=choice(SMOOTHING),
    lowercase=flag,
    order=natural(most=ORDERS),
    shown=choice(SHOWN),
    title=string,
    hint=string,
    show_me=listed("ShowMe buttons", instance(ShowMe)),
)
class MetricBench(View):
    """BLEU, chrF, ROUGE, exact match and F1 of texts that the reader edits, computed in the page.

    The page has the metrics in JavaScript, with the library's defaults for single sentences.

    Args:
        examples: one or more to choose from; the view starts with the first.
        tokenize: the tokenizer of BLEU at first.
        smooth_method: how BLEU smooths at first.
        lowercase: whether BLEU and chrF compare in lower case at first.
        order: the longest n-gram that BLEU counts at first, 1 to 4.
        shown: what is drawn at first: "words", "pairs", "threes", "fours" or "subsequence".
        title: the heading of the view.
        hint: a suggestion, in one line.
        show_me: buttons that set the view to an instructive state.

    Attributes:
        hypothesis, references, tokenize, smooth, lowercase, order, shown: as the reader has set
            them.

    Raises:
        TypeError: a part of an example is not a text.
        ValueError: a text too long, or too many references.
    """

    _esm = module(__file__)
    _css = style(__file__)

    examples = List(Dict()).tag(sync=True)
    most = Dict().tag(sync=True)
    hypothesis = Unicode().tag(sync=True)
    references = List(Unicode()).tag(sync=True)
    tokenize = Unicode("13a").tag(sync=True)
    smooth = Unicode("exp").tag(sync=True)
    lowercase = Bool(False).tag(sync=True)
    order = Int(4).tag(sync=True)
    shown = Int(0).tag(sync=True)

    _positions = ("shown",)

    def __init__(
        self,
        examples: Sequence[Judged],
        *,
        tokenize: str = "13a",
        smooth_method: str = "exp",
        lowercase: bool = False,
        order: int = 4,
        shown: str = "words",
        title: str = "",
        hint: str = "",
        show_me: Sequence[ShowMe] = (),
    ):
        payload = _examples(examples)
        super().__init__(
            examples=payload,
            most={"characters": CHARACTERS, "references": REFERENCES},
            hypothesis=payload[0]["hypothesis"],
            references=payload[0]["references"],
            tokenize=tokenize,
            smooth=smooth_method,
            lowercase=lowercase,
            order=order,
            shown=SHOWN.index(shown),
            title=title,
            hint=hint,
            show_me=list(show_me),
        )

    def _places(self, name: str, at: dict[str, int]) -> int:
        return len(SHOWN)

    @validate("shown")
    def _inside(self, proposal: dict[str, Any]) -> int:
        return self._checked(proposal)

    def _limits(self) -> dict[str, tuple[int, int]]:
        return {"order": (1, ORDERS)}

    @validate("order")
    def _counted(self, proposal: dict[str, Any]) -> int:
        if not 1 <= proposal["value"] <= ORDERS:
            raise PositionError(f"order must be from 1 to {ORDERS}, got {proposal['value']}")
        return proposal["value"]

    @validate("tokenize", "smooth")
    def _known(self, proposal: dict[str, Any]) -> str:
        name, value = proposal["trait"].name, proposal["value"]
        known = TOKENIZERS if name == "tokenize" else SMOOTHING
        if value not in known:
            raise PositionError(f"{name} must be one of {', '.join(known)}, got {shortly(value)}")
        return value

    @validate("references")
    def _some(self, proposal: dict[str, Any]) -> list[str]:
        if not 1 <= len(proposal["value"]) <= REFERENCES:
            raise PositionError(
                f"references must hold 1 to {REFERENCES} texts, got {len(proposal['value'])}"
            )
        return proposal["value"]

    def __repr__(self):
        count = len(self.examples)
        return f"MetricBench({count} example{'' if count == 1 else 's'})"


def _examples(examples: Sequence[Judged]) -> list[dict]:
    """The examples as the page receives them."""
    payload = []
    for place, one in enumerate(examples):
        string.check(f"examples[{place}].name", one.name)
        words.check(f"examples[{place}].references", one.references)
        if not 1 <= len(one.references) <= REFERENCES:
            raise ValueError(
                f"examples[{place}].references must hold 1 to {REFERENCES} texts, "
                f"got {shortly(one.references)}"
            )
        string.check(f"examples[{place}].hypothesis", one.hypothesis)
        for each in (one.name, one.hypothesis, *one.references):
            if len(each) > CHARACTERS:
                raise ValueError(
                    f"each text of examples[{place}] must have at most {CHARACTERS} characters, "
                    f"got {len(each)}"
                )
        payload.append({**one._asdict(), "references": list(one.references)})
    return payload
