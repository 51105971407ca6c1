"""Four ways to learn a language first: ELMo, GPT, BERT and ERNIE, one corpus, one budget.

    python -m studies.ch11.pretraining ernie bert gpt elmo --seeds 0

A setting is a kind of model. Each is trained on the same 1,616 sentences of facts in the same
batches, and its parameters are quantised to one byte each. With seed 0, these are also written,
with a card, to `src/gates2heads/models/weights/pretrained_KIND.safetensors`. Stored is, for each
reworded fact, whether the whole name is predicted correctly (`right`): for facts of the training
data, of the test data, and about territories that do not occur in training.
"""

from pathlib import Path

import torch
from torch import nn

from gates2heads.book.ch11.pretraining import SIZES, STEPS, fact_tokenizer, pretrain
from gates2heads.book.ch11.questions import fill_names, fill_tokens
from gates2heads.book.studies import Study, device_name
from gates2heads.data.corpora.cldr_facts import facts
from gates2heads.data.corpora.splits import SPLITS
from gates2heads.data.corpora.wordings import RELATIONS, STRANGERS, wordings
from gates2heads.models.pretraining.bert import BERT
from gates2heads.training.cards import save_model
from gates2heads.training.quantisation import dequantise, quantise

KINDS = ("elmo", "gpt", "bert", "ernie")
SHOWN = 7  # every so many sentences of the training data are evaluated, too
WEIGHTS = Path(__file__).parents[2] / "src/gates2heads/models/weights"


def asked(split: str) -> list:
    """The facts of a split on which models are evaluated."""
    return wordings(split)[:: SHOWN if split == "train" else 1]


def questions(model: nn.Module) -> dict:
    """How many names and tokens are right, of how many."""
    results = {}
    for split in ("train", "test", STRANGERS):
        filled = fill_names(model, asked(split))
        long = [one for one in filled if len(one.wanted) > 1]
        results[split] = {
            "facts": len(filled),
            "right": [one.is_right for one in filled],
            "long": [len(one.wanted) > 1 for one in filled],
            "long_right": sum(one.is_right for one in long),
            "long_no_name": sum(not one.is_name for one in long),
        }
        if isinstance(model, BERT):
            found = fill_tokens(model, asked(split))
            results[split] |= {"tokens": len(found), "tokens_right": sum(found)}
    return results


def known_names() -> list[str]:
    """All names that occur in a fact, for the view that masks whole names."""
    every = (fact for split in SPLITS for fact in facts(split, relations=RELATIONS))
    return sorted({name for fact in every for name in (fact.subject, fact.answer)})


def card(kind: str, model: nn.Module, seconds: float) -> dict:
    """What a reader of the weights should know."""
    return {
        "data": "1,616 sentences about the territories of Unicode CLDR, through Babel",
        "terms": "Names from Unicode CLDR, under the Unicode licence (unicode.org/license.txt).",
        "limits": "Knows currencies and languages of some 225 territories; no more.",
        "command": f"python -m studies.ch11.pretraining {kind} --seeds 0",
        "kind": kind,
        "seed": 0,
        "steps": STEPS,
        "settings": SIZES[kind],
        "names": known_names(),
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "seconds": round(seconds),
        "machine": {"device": device_name(), "threads": torch.get_num_threads()},
    }


def run(kind: str, seed: int) -> dict:
    """Train one model, quantise its parameters to one byte each, and evaluate it."""
    torch.set_num_threads(1)
    model, history = pretrain(kind, seed)
    model.load_state_dict(dequantise(quantise(model.state_dict())))
    if seed == 0:
        path = WEIGHTS / f"pretrained_{kind}.safetensors"
        description = card(kind, model, history.seconds)
        save_model(path, model, source=fact_tokenizer(), card=description, small=True)
    losses = [sum(history.loss[at : at + 100]) / 100 for at in range(0, STEPS, 100)]
    return {"steps": STEPS, "losses": losses, **questions(model)}


STUDY = Study("ch11/pretraining", run, KINDS)

if __name__ == "__main__":
    STUDY.main()
