"""Export of a model of the library to the file that the engine loads in a page.

The file is a script, because a page that was opened from a folder may load scripts and nothing
else. It registers one entry, `globalThis.gates2heads_live[name] = {header, sha256, data}`: a header
in JSON, the bytes of all tensors, and a checksum over both.
"""

import base64
import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from gates2heads.accepts import accepts, flag, module, string
from gates2heads.accepts.shown import shown
from gates2heads.browser.engine.describe import describe_model, describe_tokenizer
from gates2heads.training.quantisation import SCALE, check_named, quantise

FORMAT = 2
REGISTRY = "gates2heads_live"
GREEDY = {"width": 1, "length_power": 1.0, "max_length": 128}
DTYPES = {torch.float32: "float32", torch.int8: "int8"}


class Exported(NamedTuple):
    """The exported model, in the forms that the engine loads."""

    name: str
    header: str  # JSON
    data: bytes  # the tensors, one after the other
    partner: "Exported | None" = None  # the model of the opposite direction, which a view may load

    @property
    def sha256(self) -> str:
        """The checksum over header and data, in hexadecimal."""
        return hashlib.sha256(self.header.encode() + self.data).hexdigest()

    def script(self) -> str:
        """The file: plain ASCII, also safe inside a page."""
        entry = {
            "header": self.header,
            "sha256": self.sha256,
            "data": base64.b64encode(self.data).decode(),
        }
        name, told = script_text(self.name), script_text(entry)
        return f"(globalThis.{REGISTRY} ??= {{}})[{name}] = {told};\n"


def script_text(value: Any) -> str:
    """Encode JSON for a script inside a page: without any `<`.

    `</script>` would end the script, and `<!--<script>` would hide its end.
    """
    return json.dumps(value).replace("<", "\\u003c")


@accepts(model=module, name=string, small=flag)
def export_model(
    model: nn.Module,
    *,
    name: str,
    source=None,
    target=None,
    decoding: Mapping | None = None,
    card: Mapping | None = None,
    tensors: Mapping[str, Tensor] | None = None,
    words: Mapping | None = None,
    small: bool = False,
) -> Exported:
    """Export a model with its tokenizers for the engine.

    Args:
        model: one of the kinds that `describe_model` knows.
        name: its name in the page.
        source, target: the tokenizers; one serves both sides, and a model of numbers needs none.
        decoding: width, length_power and max_length of the search; greedy and 128 if not given.
        card: information for users; must be JSON.
        tensors: the parameters by name, possibly from `quantise`; those of the model, in their own
            precision, if not given.
        words: how often each word occurred in training, from `pack` of `caption_words`; the page
            shows the counts beside the typed text. Left out if not given.
        small: quantise matrices to one byte per parameter, if they are not yet.

    Raises:
        TypeError, ValueError: the engine has no counterpart of the model or a tokenizer, or an
            argument is invalid.
    """
    for argument, given in (("decoding", decoding), ("card", card), ("words", words)):
        if not isinstance(given, Mapping | None):
            raise TypeError(f"{argument} must be a dict, got {shown(given)}")
    packed = model.state_dict() if tensors is None else tensors
    check_named(packed, "tensors")
    packed = dict(packed)
    if small and not any(key.endswith(SCALE) for key in packed):
        packed = quantise(packed)
    listed, data = pack(packed)
    described = [None if one is None else describe_tokenizer(one) for one in (source, target)]
    if target is source or source is None:
        described = [described[1], None]
    header = {
        "format": FORMAT,
        "name": name,
        "model": describe_model(model),
        "source": described[0],
        "target": described[1],  # null: that of the source
        "decoding": {**GREEDY, **(decoding or {})},
        "card": dict(card or {}),
        "tensors": listed,
        **({} if words is None else {"words": dict(words)}),
    }
    try:
        return Exported(name, json.dumps(header, separators=(",", ":"), allow_nan=False), data)
    except (TypeError, ValueError) as error:
        raise TypeError(f"card and words must hold what JSON can hold: {error}") from error


def pack(packed: Mapping[str, Tensor]) -> tuple[list[dict], bytes]:
    """Concatenated tensors, as little-endian numbers, and the offset of each.

    Those of four bytes come first, so that each begins at an aligned offset.

    Args:
        packed: float32 or int8 tensors by name; an int8 matrix (R, …) has its scales (R,) beside
            it, under its name with "/scale".

    Raises:
        TypeError, ValueError: a tensor is neither, or has no scales.
    """
    check_named(packed, "packed")
    for key, tensor in packed.items():
        if tensor.dtype not in DTYPES:
            raise TypeError(f"{key} must be float32 or int8 to be exported, got {tensor.dtype}")
        if tensor.dtype == torch.int8 and key + SCALE not in packed:
            raise ValueError(f"{key} must have its scales beside it, one for each row")
    order = sorted(packed, key=lambda key: (packed[key].dtype == torch.int8, key))
    places, parts, offset = {}, [], 0
    for key in order:
        array = packed[key].detach().cpu().contiguous().numpy()
        places[key] = offset
        parts.append(array.astype(array.dtype.newbyteorder("<")).tobytes())
        offset += len(parts[-1])
    listed = []
    for key in order:
        if key.endswith(SCALE):
            continue
        tensor = packed[key]
        place = {"name": key, "shape": list(tensor.shape), "dtype": DTYPES[tensor.dtype]}
        place["offset"] = places[key]
        if tensor.dtype == torch.int8:
            place["scale"] = places[key + SCALE]
        listed.append(place)
    return listed, b"".join(parts)
