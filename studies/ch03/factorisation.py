"""Permutations of five names: autoregressive or non-autoregressive generation. For chapter 3.

    python -m studies.ch03.factorisation --seeds 0 1 2
    python -m studies.ch03.factorisation --table

A sequence is a list of five names in random order. The settings are an autoregressive Transformer
and its non-autoregressive counterpart, with the same training. In 2,000 samples of each, `whole` is
the share of lists that contain every name once, and `repeated` and `missing` are the mean numbers
of repeated and missing names per list. `bits_per_list` is the mean surprisal of a new list, in
bits. Its lower bound is log2 5! bits, or 5 log2 5 bits for models whose positions are independent.
"""

import torch

from gates2heads.book.studies import Study
from gates2heads.data.batches.pairs import Batch
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.decoding.sampling import sample
from gates2heads.decoding.search import greedy
from gates2heads.models.language.base import NeuralLanguageModel
from gates2heads.models.language.neural import TransformerLanguageModel
from gates2heads.models.transformer.non_autoregressive import NonAutoregressiveLanguageModel
from gates2heads.training.loop import fit
from gates2heads.training.losses import sequence_loss

NAMES, FIRST = 5, 3
WAYS = {
    "one after the other": TransformerLanguageModel,
    "all at once": NonAutoregressiveLanguageModel,  # term: all at once, a stored key
}
SIZES = {"d_model": 32, "nhead": 2, "num_layers": 2, "dim_feedforward": 64, "dropout": 0.0}
STEPS, BATCH, RATE, DRAWS = 600, 64, 3e-3, 2000
SETTINGS = list(WAYS)


def drawn(count: int, generator: torch.Generator) -> Batch:
    """Some lists as a batch: targets (count, 6), `<eos>` last. No source is read."""
    order = torch.rand(count, NAMES, generator=generator).argsort(dim=1) + FIRST
    target_out = torch.cat([order, torch.full((count, 1), Vocabulary.eos)], dim=1)
    target_in = torch.cat([torch.full((count, 1), Vocabulary.bos), order], dim=1)
    real = torch.ones_like(target_out, dtype=torch.bool)
    source = torch.full((count, 1), Vocabulary.eos)
    return Batch(source, torch.ones_like(source, dtype=torch.bool), target_in, target_out, real)


def batches(seed: int):
    """Yield batches of lists indefinitely."""
    generator = torch.Generator().manual_seed(seed)
    while True:
        yield drawn(BATCH, generator)


def counted(tokens: torch.Tensor) -> dict[str, float]:
    """Of generated lists (N, T): the share that is complete, and how many names are wrong in each.

    A name that occurs three times is repeated twice.
    """
    names = torch.arange(FIRST, FIRST + NAMES)
    often = (tokens[:, :, None] == names).sum(dim=1)  # (N, 5)
    length = (tokens >= FIRST).sum(dim=1)
    whole = (often == 1).all(dim=1) & (length == NAMES)
    return {
        "whole": whole.double().mean().item(),
        "repeated": (often - 1).clamp(min=0).sum(dim=1).double().mean().item(),
        "missing": (often == 0).sum(dim=1).double().mean().item(),
    }


def build(way: str) -> NeuralLanguageModel:
    """One of the two models, as training finds it."""
    return WAYS[way](FIRST + NAMES, max_length=NAMES + 1, **SIZES)


def run(setting: str, seed: int) -> dict:
    """Train one model, and sample from it."""
    torch.manual_seed(seed)
    model = build(setting)
    fit(
        model, batches(seed), steps=STEPS, loss=sequence_loss, learning_rate=RATE,
        description=setting, progress=False,
    )  # fmt: skip
    model.eval()
    chance = torch.Generator().manual_seed(10_000 + seed)
    new = drawn(DRAWS, chance).target_out
    bos, eos, longest = torch.full((DRAWS,), Vocabulary.bos), Vocabulary.eos, NAMES + 1
    with torch.no_grad():
        bits = -model.log_probs(new).sum(dim=1).mean().item() / torch.tensor(2.0).log().item()
        state = model.start(DRAWS)
        lists = sample(model.step, state, bos=bos, eos=eos, max_length=longest, generator=chance)
        likeliest = greedy(model.step, state, bos=bos, eos=eos, max_length=longest)
    return {
        **counted(lists.tokens),
        **{f"{name}_greedy": value for name, value in counted(likeliest.tokens).items()},
        "bits_per_list": bits,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "examples": [row[: NAMES + 1].tolist() for row in lists.tokens[:3]],
    }


if __name__ == "__main__":
    Study("ch03/factorisation", run, SETTINGS).main()
