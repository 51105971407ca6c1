"""A sentence with masked tokens: what two models fill in, and how a third one continues."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from traitlets import Dict, Int, List, Unicode, validate

from gates2heads.accepts import accepts, instance, listed, mapping, natural, string
from gates2heads.accepts.shown import shown
from gates2heads.browser.engine.export import Exported
from gates2heads.data.tokens.bilingual import MASK
from gates2heads.views.kit.live_view import (
    FAR,
    LiveView,
    labels_of,
    single_precision,
    words,
)
from gates2heads.views.kit.view import PositionError, ShowMe, module, style

TOP = 5  # tokens shown for each mask


class MaskExample(NamedTuple):
    """A sentence to choose, and which of its tokens are masked at first."""

    text: str
    hidden: Sequence[int]  # positions, counted from 0
    label: str = ""  # on the button; the text itself if left out


@accepts(
    models=mapping("names to models"),
    examples=listed("examples", instance(MaskExample), least=1),
    recorded=listed("recordings"),
    spans=listed("pairs (start, end)"),
    title=string,
    label=string,
    hint=string,
    about=string,
)
class FillTheMask(LiveView):
    """Type a sentence, mask its words or a whole name, and compare what three models predict.

    Bidirectional models fill in each mask independently; for the chosen mask, the five most
    probable tokens are shown. A left-to-right model continues the sentence from the first mask. A
    typed [MASK] is a mask. In a newly typed sentence, the last name is masked at first.

    Args:
        models: by their displayed names, from `export_model`: each a `BERT` or a
            `GPT` with a `BilingualTokenizer`; names that can be masked whole are in the card of
            the first, under "names".
        examples: sentences to choose from; the first is the recorded one.
        recorded: the result of each model for the first example, in their order: `observe_gaps`
            of a `BERT`, `observe_line` of a `GPT`.
        spans: (start, end) of the names in the first example, from `find_names`.
        title: above the view.
        label: the label of the input field, above it.
        hint: a suggestion, in one line.
        about: a description of the models, in one line.
        show_me: buttons that set the view to an instructive state.

    Attributes:
        text: the sentence, synchronised with the view.
        hidden: masked positions, counted from 0; those beyond the sentence are left out.
        gap: which of the masks is shown in full, counted from 0.

    Raises:
        TypeError, ValueError: anything but a recording of the first example.
    """

    _esm = module(__file__)
    _css = style(__file__, "answers.css")

    names = List(Unicode()).tag(sync=True)
    examples = List(Unicode()).tag(sync=True)
    gaps = List(List(Int())).tag(sync=True)
    labels = List(Unicode()).tag(sync=True)
    recorded = List(Dict()).tag(sync=True)
    label = Unicode().tag(sync=True)
    about = Unicode().tag(sync=True)
    text = Unicode().tag(sync=True)
    hidden = List(Int()).tag(sync=True)
    gap = Int(0).tag(sync=True)

    _positions = ("gap",)

    def __init__(
        self,
        models: Mapping[str, Exported],
        examples: Sequence[MaskExample],
        recorded: Sequence[Any],
        *,
        spans: Sequence[tuple[int, int]] = (),
        title: str = "",
        label: str = "Type a sentence of up to 40 words, in English or Chinese",
        hint: str = "",
        about: str = "",
        show_me: Sequence[ShowMe] = (),
    ):
        words.check("the names of models", list(models))
        names = list(models)
        for index, example in enumerate(examples):
            _check_example(f"examples[{index}]", example)
        texts = [one.text for one in examples]
        super().__init__(
            *models.values(),
            names=names,
            examples=texts,
            gaps=[sorted({int(place) for place in one.hidden}) for one in examples],
            labels=labels_of(texts, [one.label or one.text for one in examples]),
            recorded=_recordings(recorded, names, examples[0], spans),
            text=texts[0],
            hidden=sorted({int(place) for place in examples[0].hidden}),
            title=title,
            label=label,
            hint=hint,
            about=about,
            show_me=list(show_me),
        )

    def _places(self, name: str, at: dict[str, int]) -> int:
        return FAR

    @validate("gap")
    def _inside(self, proposal: dict[str, Any]) -> int:
        return self._checked(proposal)

    @validate("hidden")
    def _hides(self, proposal: dict[str, Any]) -> list[int]:
        if any(place < 0 for place in proposal["value"]):
            raise PositionError(
                f"hidden must hold positions from 0, got {shown(proposal['value'])}"
            )
        return proposal["value"]

    def __repr__(self):
        return f"FillTheMask({', '.join(self.names)}, {len(self.examples)} examples)"


def _check_example(name: str, example: MaskExample) -> None:
    string.check(f"{name}.text", example.text)
    string.check(f"{name}.label", example.label)
    listed("positions", natural(least=0, most=FAR)).check(f"{name}.hidden", example.hidden)


def _recordings(
    recorded: Sequence[Any],
    names: Sequence[str],
    first: MaskExample,
    spans: Sequence[tuple[int, int]],
) -> list[dict]:
    """The recorded answers for the page, in the format of live ones."""
    if len(recorded) != len(names):
        raise ValueError(f"recorded must hold {len(names)} recordings, got {len(recorded)}")
    filled = next((one for one in recorded if hasattr(one, "hidden")), None)
    if filled is None:
        raise TypeError("recorded must hold what `observe_gaps` gives at least once, got none")
    words.check("recorded.tokens", filled.tokens)
    if list(filled.hidden) != sorted(set(first.hidden)):
        raise ValueError(f"recorded must be of the first example, got masks {shown(filled.hidden)}")
    tokens = list(filled.tokens)
    shared = {
        "tokens": tokens,
        "known": [token in filled.vocabulary for token in tokens],
        "names": _spans(spans, len(tokens)),
    }
    return [shared | _recording(number, one, tokens) for number, one in enumerate(recorded)]


def _recording(number: int, one: Any, tokens: list[str]) -> dict:
    """One recording: filled-in masks, or a continuation."""
    if hasattr(one, "hidden"):
        if list(one.tokens) != tokens:
            raise ValueError(f"recorded[{number}] must be of the first example, as the others are")
        shares = np.exp(single_precision(one.log_probs, f"recorded[{number}].log_probs"))
        if shares.shape != (len(one.hidden), len(one.vocabulary)):
            wanted = (len(one.hidden), len(one.vocabulary))
            raise ValueError(
                f"recorded[{number}].log_probs must have shape {wanted}, got {shares.shape}"
            )
        rows = zip(one.hidden, shares, strict=True)
        return {"gaps": [_gap(place, row, tokens[place], one.vocabulary) for place, row in rows]}
    if not all(hasattr(one, part) for part in ("written", "log_probs", "finished")):
        raise TypeError(
            f"recorded[{number}] must be what `observe_gaps` or `observe_line` gives, "
            f"got {shown(one)}"
        )
    if list(one.tokens) != tokens[: len(one.tokens)]:
        raise ValueError(f"recorded[{number}] must be of the first example, as the others are")
    words.check(f"recorded[{number}].written", one.written)
    shares = np.exp(single_precision(one.log_probs, f"recorded[{number}].log_probs"))
    pairs = zip(one.written, shares.tolist(), strict=False)  # the end has a probability, too
    written = [{"token": token, "share": share} for token, share in pairs]
    return {"written": written, "finished": bool(one.finished)}


def _gap(place: int, shares: np.ndarray, was: str, vocabulary: Sequence[str]) -> dict:
    is_known = was in vocabulary and was != MASK
    order = np.argsort(-shares, kind="stable")[:TOP].tolist()
    return {
        "place": int(place),
        "best": [{"token": vocabulary[at], "share": float(shares[at])} for at in order],
        "was": float(shares[list(vocabulary).index(was)]) if is_known else None,
    }


def _spans(spans: Sequence[tuple[int, int]], length: int) -> list[list[int]]:
    for span in spans:
        if not isinstance(span, list | tuple) or len(span) != 2:
            raise TypeError(f"spans must hold pairs (start, end), got {shown(span)}")
        for place in span:
            natural(least=0, most=length).check("each position of spans", place)
    return [[int(start), int(end)] for start, end in spans]
