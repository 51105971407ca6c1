"""A view of gaps with three small random models, as a page without a kernel carries it.

    python -m tests.chromium.views.fill_the_mask.samples STATE.json

Writes the state, and beside it a folder `live` with the engine and the models. Also run by an
interpreter with Colab's widget versions, so it uses only what both have.
"""

import sys
from functools import cache
from pathlib import Path

import torch
from torch import nn

from gates2heads.browser.engine.export import Exported, export_model
from gates2heads.browser.live.models import key
from gates2heads.data.batches.joined import Markers
from gates2heads.data.tokens.bilingual import BilingualTokenizer, split_bilingual
from gates2heads.models.pretraining.by_name import pretraining_model
from gates2heads.views import FillTheMask, MaskExample
from gates2heads.watching.filling import find_names, observe_gaps, observe_line
from tests.chromium.samples.live_state import write

EXAMPLES = [
    MaskExample("In Switzerland, people pay with the Swiss Franc.", [7, 8], "a name of two words"),
    MaskExample("法国的货币是欧元。", [6], "<b>half</b> a name"),
    MaskExample("The Euro is the currency of <i>France</i>.", []),
]
KNOWN = [one.text for one in EXAMPLES[:2]] + ["The Euro is currency of France 瑞士 法郎"]
NAMES = ["Switzerland", "Swiss Franc", "法国", "欧元", "Euro", "France"]
KINDS = {"BERT": "bert", "ERNIE <b>": "ernie", "GPT": "gpt"}
SIZES = {"d_model": 12, "nhead": 2, "num_layers": 2, "max_length": 48}


@cache
def tokenizer() -> BilingualTokenizer:
    """Knows what stands in the examples, without the marks of <i>."""
    return BilingualTokenizer.from_texts(KNOWN)


@cache
def models() -> dict[str, nn.Module]:
    """The models by name, each with weights of its own."""
    made = {}
    for seed, (name, kind) in enumerate(KINDS.items()):
        torch.manual_seed(seed)
        size = Markers.of(tokenizer().vocabulary).size
        made[name] = pretraining_model(kind, size, **SIZES).eval()
        with torch.no_grad():
            for parameter in made[name].parameters():
                parameter.add_(torch.randn_like(parameter) / 3)
    return made


def exported() -> dict[str, Exported]:
    """The models as the page reads them."""
    return {
        name: export_model(
            model, name=f"random_{KINDS[name]}", source=tokenizer(), card={"names": NAMES}
        )
        for name, model in models().items()
    }


def view() -> FillTheMask:
    """The view that the samples show."""
    first = EXAMPLES[0]
    bert, ernie, gpt = models().values()
    recorded = [observe_gaps(one, first.text, first.hidden, tokenizer()) for one in (bert, ernie)]
    recorded.append(observe_line(gpt, first.text, first.hidden[0], tokenizer()))
    return FillTheMask(
        exported(),
        EXAMPLES,
        recorded,
        spans=find_names(split_bilingual(first.text), NAMES),
        title="Fill <the> mask",
        hint="Hide one & see.",
        about="a few weights & <none> more",
    )


if __name__ == "__main__":
    path = Path(sys.argv[1])
    write(path, view())
    for model in exported().values():
        (path.with_name("live") / f"{key(model)}.js").write_text(model.script(), encoding="utf-8")
