"""Every head of a translator at work: what it attends to, and the translation without it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from traitlets import Bool, Bytes, Dict, Int, List, Unicode, validate

from gates2heads.accepts import accepts, instance, listed, natural, number, string
from gates2heads.accepts.shown import shown
from gates2heads.browser.engine.export import Exported
from gates2heads.figures.arguments import check_shares
from gates2heads.views.kit.german_view import GermanView
from gates2heads.views.kit.live_view import (
    FAR,
    exported,
    packed_shares,
    single_precision,
    words,
)
from gates2heads.views.kit.view import ShowMe, module, style
from gates2heads.watching.head_changes import HeadTranslation, ObservedChange

BLOCKS = ("encoder", "decoder", "cross")
DIGITS = 6  # of a stored log-probability


@accepts(
    model=exported,
    examples=words(least=1),
    written=string,
    title=string,
    label=string,
    hint=string,
    about=string,
    stored=listed("changes", instance(ObservedChange, "from `observe_change`")),
    block=natural(least=0),
    layer=natural(least=0),
    token=natural(least=0),
)
class HeadExplorer(GermanView):
    """Type German: see what each head attends to, switch heads off, move the words.

    All heads of the chosen layer are side by side. A head that is off adds nothing to the output of
    its layer, see `heads_off`. The translation of the complete model stays visible, with its
    probability under the changed model.

    Source: Vig 2019 for lines between the tokens of a head and for all heads as small pictures;
    Michel et al. 2019 for switching heads off; Voita et al. 2019 for asking what each is for.

    Args:
        model: a `Transformer` with its tokenizers, from `export_model`.
        examples: sentences to click; the first is the recorded one.
        recorded: the output of the same model for the first example, from `observe_heads`: `source`
            (S) and `target` (T) tokens, `log_prob`, and weights `encoder` (layers, H, S, S),
            `decoder` (layers, H, T, T) and `cross` (layers, H, T, S).
        written: the recorded translation as a text.
        title: the title of the view.
        label: the label of the input field, above it.
        hint: a suggestion, in one line.
        about: a description of the model, in one line.
        show_me: buttons that set the view to an instructive state.
        stored: the results of some changes, from `observe_change` with the same model. The page
            shows these without loading the model, as it does the recorded one.
        block, layer, token: what is shown first, counted from 0; block 0 is the encoder's
            self-attention, 1 the decoder's, 2 cross-attention.

    Attributes:
        text: the input, synchronised with the view.
        off: pairs [layer, head] of the heads that are off, as `heads_off` takes them.
        order: the order of the words, counted from 0; empty for the order typed.
        positions: whether the encoder has positional encodings.

    Raises:
        TypeError: the recording or a stored change is invalid.
        ValueError: weights or judgements that do not fit the tokens, or a position out of bounds.
    """

    _esm = module(__file__)
    _css = style(__file__, "german.css")

    examples = List(Unicode()).tag(sync=True)
    recorded = Dict().tag(sync=True)
    weights = Bytes().tag(sync=True)
    stored = List(Dict()).tag(sync=True)
    stored_weights = Bytes().tag(sync=True)
    label = Unicode().tag(sync=True)
    about = Unicode().tag(sync=True)
    text = Unicode().tag(sync=True)
    off = List(List()).tag(sync=True)
    order = List(Int()).tag(sync=True)
    positions = Bool(True).tag(sync=True)
    block = Int(0).tag(sync=True)
    layer = Int(0).tag(sync=True)
    token = Int(0).tag(sync=True)

    _positions = ("block", "layer", "token")

    def __init__(
        self,
        model: Exported,
        examples: Sequence[str],
        recorded: Any,
        written: str,
        *,
        title: str = "",
        label: str = "Type a German sentence of up to 40 tokens",
        hint: str = "",
        about: str = "",
        show_me: Sequence[ShowMe] = (),
        stored: Sequence[ObservedChange] = (),
        block: int = 0,
        layer: int = 0,
        token: int = 0,
    ):
        maps = _maps(recorded, "recorded")
        first = examples[0]
        changes = [_change(one, f"stored[{at}]", first) for at, one in enumerate(stored)]
        super().__init__(
            model,
            examples=list(examples),
            recorded=_recording(written, recorded, maps),
            weights=_packed(maps),
            stored=[told for told, _ in changes],
            stored_weights=b"".join(packed for _, packed in changes),
            text=first,
            also=[one.base.text for one in stored],
            title=title,
            label=label,
            hint=hint,
            about=about,
            show_me=list(show_me),
        )
        self.block, self.layer, self.token = block, layer, token

    def _places(self, name: str, at: dict[str, int]) -> int:
        if name == "block":
            return len(BLOCKS)
        if name == "layer":
            return self.recorded["shapes"][at["block"]][0]
        return FAR

    @validate("block", "layer", "token")
    def _inside(self, proposal: dict[str, Any]) -> int:
        return self._checked(proposal)

    def __repr__(self):
        return f"HeadExplorer({self.live[0]['name']}, {len(self.examples)} examples)"


def _recording(written: str, recorded: Any, maps: Sequence[np.ndarray]) -> dict[str, Any]:
    """The data of one translation for the page, without its weights."""
    return {
        "written": written,
        "source": list(recorded.source),
        "target": list(recorded.target),
        "logProb": float(recorded.log_prob),
        "finished": recorded.target[-1] == "<eos>",
        "shapes": [list(map_.shape) for map_ in maps],
    }


def _packed(maps: Sequence[np.ndarray]) -> bytes:
    return b"".join(packed_shares(map_) for map_ in maps)


def _change(one: ObservedChange, name: str, first: str) -> tuple[dict[str, Any], bytes]:
    """The data of one change for the page, and its weights; the first example is recorded."""
    if len(one.judged) != len(one.base.seen.target):
        raise ValueError(
            f"{name}.judged must have one number for each of the {len(one.base.seen.target)} "
            f"tokens of its base, got {len(one.judged)}"
        )
    told = {
        "text": one.base.text,
        "off": [list(head) for head in one.off],
        "order": list(one.order),
        "positions": one.positions,
        "judged": [round(float(log_prob), DIGITS) for log_prob in one.judged],
    }
    weights = b""
    for part in ("base", "now", "unshuffled"):
        translation: HeadTranslation | None = getattr(one, part)
        if translation is None or (part == "base" and translation.text == first):
            told[part] = None
            continue
        maps = _maps(translation.seen, f"{name}.{part}")
        told[part] = _recording(translation.written, translation.seen, maps)
        told[part]["text"] = translation.text
        weights += _packed(maps)
    return told, weights


def _maps(recorded: Any, called: str) -> list[np.ndarray]:
    """The weights of the three blocks, checked against the tokens and each other."""
    wanted = ("source", "target", "log_prob", *BLOCKS)
    if not all(hasattr(recorded, part) for part in wanted):
        raise TypeError(f"{called} must be what `observe_heads` gives, got {shown(recorded)}")
    for side in ("source", "target"):
        words.check(f"{called}.{side}", getattr(recorded, side))
    number.check(f"{called}.log_prob", recorded.log_prob)
    read, written = len(recorded.source), len(recorded.target)
    sides = {"encoder": (read, read), "decoder": (written, written), "cross": (written, read)}
    maps = []
    for block, size in sides.items():
        name = f"{called}.{block}"
        map_ = single_precision(getattr(recorded, block), name)
        if map_.ndim != 4 or map_.shape[2:] != size or not map_.size:
            raise ValueError(
                f"{name} must be (layers, heads, {size[0]}, {size[1]}), got {map_.shape}"
            )
        check_shares(name, map_)
        maps.append(map_)
    return maps
