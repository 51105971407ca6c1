"""A mixture of experts in place of each feed-forward sublayer. Chapter 12, Further.

    python -m studies.ch12.experts dense experts unbalanced wide --seeds 0 1 2
    python -m studies.ch12.experts "dense, four times the steps" --seeds 0
    python -m studies.ch12.experts --table

"dense" is a small model with Llama's block. "experts" has four feed-forward sublayers of the same
size in each layer, of which a token uses one, and the balance loss of Fedus et al. 2022 with their
factor 0.01; "unbalanced" has no balance loss. "wide" is dense, with as many parameters as
"experts" but for the routers. `load` is the share of the test tokens that each expert of each layer
receives, `largest` the largest of them; `test` is the cross-entropy of the test split in bits per
character. A setting that ends with "four times the steps" tries a result with a longer training.
"""

import torch

from gates2heads.book.ch12.exchanges import parameters
from gates2heads.book.ch12.experts import balance_loss, mixtures, with_experts
from gates2heads.book.ch12.python_text import (
    VOCABULARY,
    bits_per_character,
    consecutive,
    python_text,
)
from gates2heads.book.ch12.training import surprisal, train_on_passages
from gates2heads.book.studies import Study
from gates2heads.models.language.decoder_only import LLAMA, DecoderOnly

EXPERTS, FACTOR = 4, 0.01
MODELS = ("dense", "experts", "unbalanced", "wide")
LONGER = ", four times the steps"
SETTINGS = (*MODELS, *(model + LONGER for model in MODELS))
LENGTH, HIDDEN = 128, 172
SIZES = {"d_model": 64, "nhead": 2, "num_layers": 2, "max_length": LENGTH}
STEPS, BATCH, RATE, WARMUP = 400, 16, 3e-3, 50
TESTED = 2**17  # tokens of the test split that are scored
ASKED = 8  # batches of test passages whose tokens are counted for the load


def made(setting: str) -> DecoderOnly:
    """A model of the comparison: one of `MODELS`."""
    hidden = EXPERTS * HIDDEN if setting == "wide" else HIDDEN
    model = DecoderOnly(VOCABULARY, **SIZES, **LLAMA, dim_feedforward=hidden)
    return with_experts(model, EXPERTS) if setting in ("experts", "unbalanced") else model


def balanced(model, passage):
    """The cross-entropy of a batch, with the balance loss."""
    return surprisal(model, passage) + FACTOR * balance_loss(model)


def loss_of(setting: str):
    """The training loss of a setting."""
    return balanced if setting == "experts" else surprisal


@torch.no_grad()
def loads(model: DecoderOnly) -> list[list[float]]:
    """The share of test tokens of each expert, layer by layer."""
    device, found = next(model.parameters()).device, []
    for number, batch in enumerate(consecutive(python_text("test").tokens, LENGTH)):
        if number == ASKED:
            break
        model.logits(batch[:, :-1].to(device))
        found.append(torch.stack([mixture.load for mixture in mixtures(model)]))
    return torch.stack(found).mean(dim=0).tolist()


def run(setting: str, seed: int) -> dict:
    """Train and test one model."""
    name = setting.removesuffix(LONGER)
    steps = STEPS if name == setting else 4 * STEPS
    torch.manual_seed(seed)
    model = made(name)
    history = train_on_passages(
        model,
        python_text("train").tokens,
        seed,
        steps=steps,
        batch=BATCH,
        length=LENGTH,
        rate=RATE,
        warmup=WARMUP,
        description=f"{setting}, seed {seed}",
        loss=loss_of(name),
    )
    result = {
        "parameters": parameters(model),
        "test": bits_per_character(model, python_text("test"), length=LENGTH, most=TESTED),
        "training_seconds": history.seconds,
    }
    if mixtures(model):
        load = loads(model)
        result |= {"load": load, "largest": max(max(layer) for layer in load)}
    return result


if __name__ == "__main__":
    Study("ch12/experts", run, SETTINGS).main()
