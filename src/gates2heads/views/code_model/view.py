"""Source code scored and continued by a small language model, with or without a KV cache."""

import json
from collections.abc import Sequence
from typing import Any

from traitlets import Bool, Bytes, Dict, Float, Int, List, Unicode, validate

from gates2heads.accepts import accepts, instance, string
from gates2heads.accepts.shown import shown
from gates2heads.browser.engine.export import Exported
from gates2heads.views.kit.live_view import (
    LiveView,
    exported,
    labels_of,
    single_precision,
    words,
)
from gates2heads.views.kit.view import module, style
from gates2heads.watching.next_token import Scored

LIMITS = {
    "temperature": (0.1, 3.0),
    "top_k": (0, 100),
    "top_p": (0.05, 1.0),
    "min_p": (0.0, 1.0),
    "steps": (1, 240),
    "samples": (1, 4),
    "seed": (0, 99),
}
DIGITS = 6  # of a stored probability


@accepts(
    model=exported,
    scored=instance(Scored, "as `score_tokens` gives"),
    examples=words(least=1),
    labels=words,
    title=string,
    label=string,
    hint=string,
    about=string,
)
class CodeModel(LiveView):
    """Type or paste source code: see the probability of each token, and let the model continue.

    Each token is shaded by its surprisal. The token that is pointed at, clicked or reached with the
    arrow keys is shown with the five most probable tokens at its position. The model continues the
    text token by token, with a KV cache or without, and the time of each token is drawn against its
    position. A text longer than the context is read from its last tokens; while the model
    continues, a full context slides on by a quarter of its length.

    Args:
        model: a `DecoderOnly`, exported.
        scored: what the model made of the first example, from `score_tokens`.
        examples: texts on buttons; the first is the recorded one.
        labels: the words on these buttons; the texts themselves if left out.
        title: above the view.
        label: what to type, above the field.
        hint: what to try, in a line.
        about: what the model is, in a line.
        traits: as for any widget, such as `show_me`. A button whose state sets a text lets the
            model read it; one that sets none continues the first example in the way that the state
            says. Either with `cache` False is continued with the cache and without, to compare
            their times.

    Attributes:
        text: what is read, in step with the view.
        temperature, top_k, top_p, min_p: how a distribution is narrowed before a token is drawn; a
            top_k of 0 keeps all tokens. See `gates2heads.decoding.sampling`.
        steps: the most tokens of one continuation.
        samples: how many continuations are drawn; if there are several, the reader chooses one.
        seed: of the draws of a continuation; *Undo* takes the next.
        cache: whether keys and values are kept from token to token.

    Raises:
        TypeError: the model is not a `DecoderOnly`.
        ValueError: the recording is of another text than the first example.
    """

    _esm = module(__file__)
    _css = style(__file__)

    recorded = Dict().tag(sync=True)
    next = Bytes().tag(sync=True)
    vocabulary = List(Unicode()).tag(sync=True)
    max_length = Int().tag(sync=True)
    examples = List(Unicode()).tag(sync=True)
    labels = List(Unicode()).tag(sync=True)
    label = Unicode().tag(sync=True)
    about = Unicode().tag(sync=True)
    text = Unicode().tag(sync=True)
    temperature = Float(1.0).tag(sync=True)
    top_k = Int(0).tag(sync=True)
    top_p = Float(1.0).tag(sync=True)
    min_p = Float(0.1).tag(sync=True)
    steps = Int(60).tag(sync=True)
    samples = Int(1).tag(sync=True)
    seed = Int(0).tag(sync=True)
    cache = Bool(True).tag(sync=True)

    def __init__(
        self,
        model: Exported,
        scored: Scored,
        examples: Sequence[str],
        *,
        labels: Sequence[str] | None = None,
        title: str = "",
        label: str = "Type or paste Python code",
        hint: str = "",
        about: str = "",
        **traits: Any,
    ):
        described = json.loads(model.header).get("model", {})
        if described.get("kind") != "DecoderOnly":
            raise TypeError(f"model must be a DecoderOnly, got {shown(described.get('kind'))}")
        if scored.text != examples[0]:
            raise ValueError("scored must be of the first example")
        super().__init__(
            model,
            recorded=_payload(scored),
            next=single_precision(scored.log_probs.numpy(), "log_probs").tobytes(),
            vocabulary=list(scored.vocabulary),
            max_length=described["settings"]["max_length"],
            examples=list(examples),
            labels=labels_of(examples, labels),
            text=examples[0],
            title=title,
            label=label,
            hint=hint,
            about=about,
            **traits,
        )

    def _limits(self) -> dict[str, tuple[float, float]]:
        return LIMITS

    @validate(*LIMITS)
    def _within(self, proposal: dict[str, Any]) -> float:
        return self._within_limits(proposal)

    def __repr__(self):
        return f"CodeModel({self.live[0]['name']}; {len(self.examples)} examples)"


def _payload(scored: Scored) -> dict:
    """The recorded example for the page."""
    words = scored.vocabulary
    places = zip(
        scored.tokens,
        scored.bits.tolist(),
        scored.likeliest.tolist(),
        scored.probs.tolist(),
        strict=True,
    )
    return {
        "unread": list(scored.unread),
        "tokens": [
            {
                "piece": piece,
                "bits": round(bits, DIGITS),
                "top": [
                    [words[one], round(prob, DIGITS)] for one, prob in zip(best, probs, strict=True)
                ],
            }
            for piece, bits, best, probs in places
        ],
    }
