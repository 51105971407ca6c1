"""A view of answers with two small random models, as a page without a kernel carries it.

    python -m tests.chromium.views.find_the_answer.samples STATE.json

Writes the state, and beside it a folder `live` with the engine and the models. Also run by an
interpreter with Colab's widget versions, so it uses only what both have.
"""

import sys
from functools import cache
from pathlib import Path

import torch

from gates2heads.browser.engine.export import Exported, export_model
from gates2heads.browser.live.models import key
from gates2heads.data.batches.joined import Markers
from gates2heads.data.tokens.bilingual import BilingualTokenizer
from gates2heads.models.pretraining.answers import AnswerHead
from gates2heads.models.pretraining.bert import BERT
from gates2heads.models.pretraining.fine_tuned import FineTuned
from gates2heads.views import FindTheAnswer, PassageExample
from gates2heads.watching.answers import observe_answer
from tests.chromium.samples.live_state import write

FIRST = "In Switzerland, people pay with the Swiss Franc. The Euro is the currency of France."
EXAMPLES = [
    PassageExample("the currency of France", FIRST, "two facts"),
    PassageExample("法国的货币", "法国的货币是欧元。", "<b>Chinese</b>"),
    PassageExample("the <i>currency</i>", "The Euro is <i>it</i>."),
]
KNOWN = [text for one in EXAMPLES[:2] for text in (one.question, one.passage)]
NAMES = {"ERNIE <b>": "first", "random": "second"}
SIZES = {"d_model": 12, "nhead": 2, "num_layers": 2, "max_length": 48}


@cache
def tokenizer() -> BilingualTokenizer:
    """Knows what stands in the examples, without the marks of <i>."""
    return BilingualTokenizer.from_texts(KNOWN)


@cache
def models() -> dict[str, FineTuned]:
    """The models by name, each with weights of its own."""
    made = {}
    for seed, name in enumerate(NAMES):
        torch.manual_seed(seed)
        encoder = BERT(Markers.of(tokenizer().vocabulary).size, **SIZES)
        made[name] = FineTuned(encoder, AnswerHead(SIZES["d_model"])).eval()
        with torch.no_grad():
            for parameter in made[name].parameters():
                parameter.add_(torch.randn_like(parameter) / 3)
    return made


def exported() -> dict[str, Exported]:
    """The models as the page reads them."""
    return {
        name: export_model(model, name=f"random_{NAMES[name]}", source=tokenizer())
        for name, model in models().items()
    }


def view() -> FindTheAnswer:
    """The view that the samples show."""
    first = EXAMPLES[0]
    recorded = [
        observe_answer(model, first.question, first.passage, tokenizer())
        for model in models().values()
    ]
    return FindTheAnswer(
        exported(),
        EXAMPLES,
        recorded,
        title="Find <the> answer",
        hint="Ask & see.",
        about="a few weights & <none> more",
    )


if __name__ == "__main__":
    path = Path(sys.argv[1])
    write(path, view())
    for model in exported().values():
        (path.with_name("live") / f"{key(model)}.js").write_text(model.script(), encoding="utf-8")
