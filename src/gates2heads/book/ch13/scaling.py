"""Chapter 13: language models of many sizes, trained on more or less text."""

import math
import random
from collections.abc import Sequence
from typing import NamedTuple

import torch

from gates2heads.accepts import accepts, any_seed, choice, instance, maybe, natural, positive
from gates2heads.book.ch12.exchanges import parameters
from gates2heads.book.ch12.python_text import (
    LENGTH,
    VOCABULARY,
    PythonText,
    bits_per_character,
    python_text,
)
from gates2heads.book.ch12.training import train_on_passages
from gates2heads.data.corpora.python.source import PACKAGES, sampled_modules
from gates2heads.data.corpora.splits import SPLITS
from gates2heads.data.tokens.bpe import BPETokenizer
from gates2heads.metrics.scaling_laws import ScalingLaw, fit_scaling_law
from gates2heads.models.language.decoder_only import LLAMA, DecoderOnly
from gates2heads.training.loop import History

HEAD_WIDTH, BATCH = 32, 4
TOKENS_A_STEP = BATCH * LENGTH
RATE, RATE_WIDTH = 2e-3, 96  # the rate falls with the square root of the width
MILLION = 10**6
SIZES = ((32, 2), (64, 3), (96, 3), (128, 4), (192, 4))  # width and layers
MILLIONS = (0.25, 0.5, 1, 2, 4)  # of tokens


def named(width: int, layers: int, millions: float) -> str:
    """The name of a run, such as "64x3 0.5M"."""
    return f"{width}x{layers} {millions:g}M"


GRID = {named(*size, millions): (*size, millions) for size in SIZES for millions in MILLIONS}
# The law is fitted to the runs with fewer tokens than the longest; it predicts the others.
FITTED = {name: run for name, run in GRID.items() if run[2] < MILLIONS[-1]}
LONGER = {named(*run): run for run in ((32, 2, 12),)}
PREDICTED = {name: run for name, run in GRID.items() if name not in FITTED} | LONGER
# Predicted by two laws. The second four cost the same computation.
LARGER = {
    named(*run): run
    for run in (
        *((256, 5, 4), (192, 4, 16), (256, 5, 16), (384, 6, 16)),
        *((128, 4, 23.8), (192, 4, 11.55), (256, 5, 5.6), (384, 6, 2.2)),
    )
}


@accepts(width=natural, layers=natural)
def scaled_model(width: int, layers: int) -> DecoderOnly:
    """A model of Llama's block, whose parts grow in proportion to its width.

    Args:
        width: D, a multiple of 32.
        layers: how many blocks there are.
    """
    return DecoderOnly(
        VOCABULARY,
        d_model=width,
        nhead=max(1, width // HEAD_WIDTH),
        num_layers=layers,
        dim_feedforward=round(8 * width / 3),
        max_length=LENGTH,
        **LLAMA,
    )


def block_parameters(model: DecoderOnly) -> int:
    """How many parameters a model has without its embedding."""
    return parameters(model) - model.token_table.weight.numel()


@accepts(width=natural)
def peak_rate(width: int) -> float:
    """The peak learning rate of a width: 0.002 at 96, and less by its square root."""
    return RATE * (RATE_WIDTH / width) ** 0.5


@accepts(width=natural, layers=natural, tokens=natural, seed=any_seed, rate=maybe(positive))
def train_scaled(
    width: int,
    layers: int,
    tokens: int,
    seed: int,
    *,
    rate: float | None = None,
    at: Sequence[int] = (),
    text: PythonText | None = None,
) -> tuple[DecoderOnly, History]:
    """Train a model on passages of the training text, which is several times as long.

    Args:
        width, layers: see `scaled_model`.
        tokens: how many tokens are read, in batches of 4 passages with 256 tokens each.
        seed: of the initialisation and of the sampled passages.
        rate: the peak learning rate of a cosine schedule; if not given, that of `peak_rate`.
        at: the numbers of tokens after which the test loss is measured on the way, in the
            history's `evaluations`.
        text: to sample the passages from; the whole training split if not given.
    """
    torch.manual_seed(seed)
    model, steps = scaled_model(width, layers), max(4, tokens // TOKENS_A_STEP)
    history = train_on_passages(
        model,
        (python_text("train") if text is None else text).tokens,
        seed,
        steps=steps,
        batch=BATCH,
        length=LENGTH,
        rate=peak_rate(width) if rate is None else rate,
        warmup=max(2, min(100, steps // 10)),
        evaluate=held_out_loss,
        evaluate_at=[one // TOKENS_A_STEP for one in at],
        description=f"width {width}, {layers} layers, {tokens:,} tokens, seed {seed}",
    )
    return model, history


def held_out_loss(model: DecoderOnly, text: PythonText | None = None) -> float:
    """The mean cross-entropy of the test modules, or of another text, in nats per token."""
    text = python_text("test") if text is None else text
    bits = bits_per_character(model, text)
    return bits * math.log(2) * text.characters / len(text.tokens)


@accepts(split=choice(SPLITS), tokenizer=instance(BPETokenizer), most=natural)
def sampled_text(split: str, tokenizer: BPETokenizer, most: int) -> PythonText:
    """A random sample of the modules that `python_text` reads, with at least `most` tokens.

    Args:
        split: "train", "validation" or "test".
        tokenizer: of a released model, so that none has to be trained.
        most: the number of tokens at which to stop.
    """
    numbers: list[int] = []
    characters = 0
    for module in sampled_modules(split, packages=PACKAGES, seed=13):
        numbers.extend(tokenizer.encode(module.text))
        characters += len(module.text) + 1
        if len(numbers) >= most:
            break
    return PythonText(torch.tensor(numbers), characters)


class Prediction(NamedTuple):
    """The loss of a run that was not trained yet, in nats per token."""

    loss: float
    low: float  # of the 95% bootstrap interval
    high: float


def law_of(runs: Sequence[dict], *, size: str = "parameters") -> ScalingLaw:
    """Fit a scaling law to the results of runs.

    Args:
        runs: results of `studies/ch13/scaling.py`.
        size: "parameters", or "block_parameters", which leaves out the embedding.
    """
    columns = ([float(one[name]) for one in runs] for name in (size, "tokens", "loss"))
    return fit_scaling_law(*(torch.tensor(one, dtype=torch.float64) for one in columns))


def resampled_laws(runs: Sequence[dict], *, times: int = 200, size: str = "parameters"):
    """Fit a law to each of `times` samples of the runs with replacement, where there is one."""
    chance, laws = random.Random(13), []
    for _ in range(times):
        some = chance.choices(runs, k=len(runs))
        try:
            laws.append(law_of(some, size=size))
        except ValueError:  # too few sizes were sampled
            continue
    return laws


class Profile(NamedTuple):
    """The best size of one budget of compute, from the measured losses of several sizes."""

    best: float  # the size with the lowest loss
    rise: float  # by which share the loss is higher at half and at twice this size


def profile_of(sizes: Sequence[float], losses: Sequence[float]) -> Profile:
    """Fit a parabola to the losses of one budget as a function of the logarithm of the size.

    Args:
        sizes: numbers of parameters, at least three.
        losses: one for each size, after training with the same budget.
    """
    x = torch.tensor(sizes, dtype=torch.float64).log()
    middle = x.mean()
    terms = torch.stack([(x - middle) ** 2, x - middle, torch.ones_like(x)], dim=1)
    goal = torch.tensor(losses, dtype=torch.float64)[:, None]
    bend, slope, level = torch.linalg.lstsq(terms, goal).solution.flatten().tolist()
    if bend <= 0:
        raise ValueError("these losses have no minimum between the sizes")
    lowest = level - slope**2 / (4 * bend)
    rise = bend * math.log(2) ** 2 / lowest
    return Profile(math.exp(middle.item() - slope / (2 * bend)), rise)


def bootstrap_interval(values: Sequence[float]) -> tuple[float, float]:
    """The ends of the 95% interval of values from bootstrap samples."""
    found = sorted(values)
    low, high = (found[round(share * (len(found) - 1))] for share in (0.025, 0.975))
    return low, high


def predict_loss(runs: Sequence[dict], parameters: float, tokens: float) -> Prediction:
    """Predict the loss of a larger run from smaller ones, with a bootstrap interval."""
    sampled = (law.loss(parameters, tokens) for law in resampled_laws(runs))
    return Prediction(law_of(runs).loss(parameters, tokens), *bootstrap_interval(list(sampled)))
