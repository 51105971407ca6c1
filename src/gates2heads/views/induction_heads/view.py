"""Repeated words in models of attention alone: surprisal, attention, and heads switched off."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from traitlets import Bytes, Dict, Int, List, Unicode, validate

from gates2heads.accepts import accepts, instance, mapping, natural, string
from gates2heads.accepts.shown import shown
from gates2heads.browser.engine.export import Exported
from gates2heads.views.kit.live_view import FAR, LiveView, exported, packed_shares, words
from gates2heads.views.kit.view import PositionError, ShowMe, module, style
from gates2heads.watching.repeats import ObservedRepeats

DIGITS = 6  # of a stored number


@accepts(
    models=mapping("names to models"),
    recorded=instance(ObservedRepeats, "as `observe_repeats` gives"),
    title=string,
    label=string,
    hint=string,
    about=string,
    layer=natural(least=0),
    head=natural(least=0),
    word=natural(least=0),
)
class InductionHeads(LiveView):
    """Type words, some of them twice: see which are predicted, and what each head attends to.

    Words are coloured by surprisal. From the selected word, the attention weights of the selected
    head are bars and numbers on the words, and the most probable next words are listed. Two means
    are compared: the surprisal of words at their first occurrence, and that of repeats, words whose
    previous word occurred earlier and was followed by this same word. All heads are shown as small
    maps, and each can be switched off, see `heads_off`.

    Source: Olsson et al. 2022, "In-context Learning and Induction Heads", for the measures; Vig
    2019 for all heads as small pictures.

    Args:
        models: by their displayed names, from `export_model`: each an `AttentionOnly` with the same
            tokenizer. The first is shown first.
        recorded: what `observe_repeats` gave for the first model and the text shown first.
        title: above the view.
        label: the label of the field, above it.
        hint: a suggestion, in one line.
        about: a description of the models, in one line.
        layer, head: the selected head, counted from 0; the view shows both counted from 1.
        word: the selected token; `<bos>`, the start of the sequence, is 0.
        show_me: buttons that set the view to an instructive state. They begin with the first model
            and all heads on.

    Attributes:
        text: the words, synchronised with the view.
        model: the index of the shown model, from 0.
        off: pairs [layer, head] of the heads that are off, such as ["layers.1", 0]; those that the
            shown model does not have are ignored.

    Raises:
        TypeError: a model is not an `AttentionOnly`.
        ValueError: the recording is of another model than the first, or a position out of bounds.
    """

    _esm = module(__file__)
    _css = style(__file__)

    names = List(Unicode()).tag(sync=True)
    sizes = List(List(Int())).tag(sync=True)
    max_length = Int().tag(sync=True)
    vocabulary = List(Unicode()).tag(sync=True)
    recorded = Dict().tag(sync=True)
    weights = Bytes().tag(sync=True)
    label = Unicode().tag(sync=True)
    about = Unicode().tag(sync=True)
    text = Unicode().tag(sync=True)
    off = List(List()).tag(sync=True)
    model = Int(0).tag(sync=True)
    layer = Int(0).tag(sync=True)
    head = Int(0).tag(sync=True)
    word = Int(0).tag(sync=True)

    _positions = ("model", "layer", "head", "word")

    def __init__(
        self,
        models: Mapping[str, Exported],
        recorded: ObservedRepeats,
        *,
        title: str = "",
        label: str = "Type words of the list below, separated by spaces",
        hint: str = "",
        about: str = "",
        layer: int = 0,
        head: int = 0,
        word: int = 0,
        show_me: Sequence[ShowMe] = (),
    ):
        names = list(models)
        words.check("the names of models", names)
        described = [_described(name, model) for name, model in models.items()]
        shape = list(recorded.weights.shape)
        if not described or tuple(shape[:2]) != described[0][:2]:
            raise ValueError("recorded must be of the first of models")
        super().__init__(
            *models.values(),
            names=names,
            sizes=[[layers, heads] for layers, heads, _ in described],
            max_length=min(length for _, _, length in described),
            vocabulary=[word for word in recorded.vocabulary if not word.startswith("<")],
            recorded={**_payload(recorded), "shape": shape},
            weights=packed_shares(recorded.weights.double().numpy().clip(0, 1)),
            text=recorded.text,
            title=title,
            label=label,
            hint=hint,
            about=about,
        )
        self.show_me = list(show_me)
        self.layer, self.head, self.word = layer, head, word

    def _button(self, name: str, one: ShowMe) -> dict[str, Any]:
        button = super()._button(name, one)
        return {**button, "state": {"model": 0, "off": [], **button["state"]}}

    def _places(self, name: str, at: dict[str, int]) -> int:
        if name == "model":
            return len(self.names)
        if name == "word":
            return FAR
        layers, heads = self.sizes[at["model"]]
        return layers if name == "layer" else heads

    @validate("model", "layer", "head", "word")
    def _inside(self, proposal: dict[str, Any]) -> int:
        return self._checked(proposal)

    @validate("off")
    def _existing(self, proposal: dict[str, Any]) -> list[list]:
        layers, heads = (max(size) for size in zip(*self.sizes, strict=True))
        known = [[f"layers.{n}", head] for n in range(layers) for head in range(heads)]
        for pair in proposal["value"]:
            if list(pair) not in known:
                raise PositionError(
                    f"off must hold pairs such as ['layers.0', {heads - 1}], got {shown(pair)}"
                )
        return proposal["value"]

    def __repr__(self):
        return f"InductionHeads({', '.join(self.names)}; {len(self.text.split())} words)"


def _described(name: str, model: Any) -> tuple[int, int, int]:
    """Layers, heads of each and longest sequence of a model."""
    exported.check(f"models[{shown(name)}]", model)
    header = json.loads(model.header)
    description = header.get("model", {})
    if description.get("kind") != "AttentionOnly":
        got = shown(description.get("kind"))
        raise TypeError(f"models[{shown(name)}] must be an AttentionOnly, got {got}")
    names = [tensor["name"] for tensor in header["tensors"]]
    layers = {one.split(".")[1] for one in names if one.startswith("layers.")}
    return len(layers), description["settings"]["nhead"], description["settings"]["max_length"]


def _payload(recorded: ObservedRepeats) -> dict:
    """The recording in the shape in which a live answer comes."""
    vocabulary = recorded.vocabulary
    rows = zip(recorded.likeliest.tolist(), recorded.probs.tolist(), strict=True)
    return {
        "text": recorded.text,
        "tokens": list(recorded.tokens),
        "bits": [round(bits, DIGITS) for bits in recorded.bits.tolist()],
        "top": [
            [[vocabulary[one], round(prob, DIGITS)] for one, prob in zip(best, probs, strict=True)]
            for best, probs in rows
        ],
    }
