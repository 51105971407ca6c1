"""Chapter 12: dates to ISO 8601, by an encoder with a decoder, or by one stack."""

from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.accepts import accepts, any_seed, choice, listed, natural, positive
from gates2heads.book.ch12.exchanges import parameters
from gates2heads.data.batches.pairs import collate, endless_batches, pad
from gates2heads.data.corpora.dates import dates
from gates2heads.data.tokens.characters import CharacterTokenizer
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.models.language.decoder_only import GPT2, STD, DecoderOnly
from gates2heads.models.transformer.transformer import Transformer
from gates2heads.training.loop import History, fit
from gates2heads.training.schedules import warmup_cosine

KINDS = ("encoder-decoder", "prefix", "causal", "causal-all")
WEIGHTS = {"xavier": nn.init.xavier_uniform_, "small": partial(nn.init.normal_, std=STD)}
TRAIN, TEST = 20_000, 1_000
STEPS, BATCH, RATE = 1_000, 64, 2e-3
SIZES = {"d_model": 64, "nhead": 4}
LAYERS, HIDDEN = 2, 128  # of encoder and decoder each
LONGEST = 80  # tokens of a sequence

Pairs = Sequence[tuple[Sequence[int], Sequence[int]]]
PAIRS = listed("pairs of token numbers", least=1)


class DatePairs(NamedTuple):
    """The dates as token numbers; both sides share one vocabulary, and both end with `<eos>`."""

    tokenizer: CharacterTokenizer
    train: Pairs
    test: Pairs


@cache
def date_pairs() -> DatePairs:
    """Dates in eight languages, with their ISO forms."""
    splits = {split: dates(split, size) for split, size in (("train", TRAIN), ("test", TEST))}
    known = CharacterTokenizer.from_texts(
        text for pairs in splits.values() for pair in pairs for text in (pair.text, pair.iso)
    )
    encoded = {
        split: [(known.encode(pair.text), known.encode(pair.iso)) for pair in pairs]
        for split, pairs in splits.items()
    }
    return DatePairs(known, **encoded)


class Joined(NamedTuple):
    """B pairs, each as one sequence: `<bos>`, the source with its `<eos>`, the target."""

    tokens: Tensor  # (B, T) long
    prefix: Tensor  # (B,) long, how many tokens there are before the target
    mask: Tensor  # (B, T) bool, True = a real token

    def to(self, device: torch.device | str) -> "Joined":
        """The same sequences on another device."""
        return Joined(*(tensor.to(device) for tensor in self))


@accepts(pairs=PAIRS)
def join(pairs: Pairs) -> Joined:
    """Write each pair into one sequence; shorter ones are padded at the end."""
    tokens, mask = pad([[Vocabulary.bos, *source, *target] for source, target in pairs])
    return Joined(tokens, torch.tensor([1 + len(source) for source, _ in pairs]), mask)


def _joined_batches(pairs: Pairs, size: int, *, seed: int) -> Iterator[Joined]:
    """Yield batches indefinitely; the pairs are shuffled in each epoch."""
    draw = torch.Generator().manual_seed(seed)
    while True:
        for rows in torch.randperm(len(pairs), generator=draw).split(size):
            yield join([pairs[row] for row in rows.tolist()])


@accepts(kind=choice(KINDS))
def date_model(kind: str) -> nn.Module:
    """A model of the comparison; the stacks have as many parameters as encoder and decoder."""
    size = len(date_pairs().tokenizer.vocabulary)
    pair = Transformer(
        size,
        size,
        **SIZES,
        num_encoder_layers=LAYERS,
        num_decoder_layers=LAYERS,
        dim_feedforward=HIDDEN,
        dropout=0.0,
        activation="gelu",
        tie="all",
        positions="learned",
        max_length=LONGEST,
    )
    if kind == "encoder-decoder":
        return pair

    def stack(width: int) -> DecoderOnly:
        sizes = {**SIZES, "num_layers": 2 * LAYERS, "dim_feedforward": width}
        return DecoderOnly(size, **sizes, **GPT2, max_length=LONGEST)

    first, slope = parameters(stack(1)), parameters(stack(2)) - parameters(stack(1))
    return stack(round(1 + (parameters(pair) - first) / slope))


def date_logits(kind: str, model: nn.Module, joined: Joined) -> Tensor:
    """The logits (B, T − 1, V) of the tokens from the second on, for one of the stacks."""
    prefix = joined.prefix if kind == "prefix" else None
    return model.logits(joined.tokens[:, :-1], prefix=prefix)


def predicted(kind: str, joined: Joined) -> Tensor:
    """Which tokens from the second on count in the loss: (B, T − 1) bool.

    Those of the target; in "causal-all", as in pre-training, those of the source too.
    """
    real = joined.mask[:, 1:]
    if kind == "causal-all":
        return real
    positions = torch.arange(1, joined.tokens.shape[1], device=real.device)
    return real & (positions >= joined.prefix[:, None])


def _loss(kind: str, model: nn.Module, batch) -> Tensor:
    if kind == "encoder-decoder":
        logits, wanted, counted = model(batch), batch.target_out, batch.target_mask
    else:
        logits, wanted = date_logits(kind, model, batch), batch.tokens[:, 1:]
        counted = predicted(kind, batch)
    return F.cross_entropy(logits[counted], wanted[counted])


@torch.no_grad()
@accepts(kind=choice(KINDS), pairs=PAIRS)
def exactly_right(kind: str, model: nn.Module, pairs: Pairs) -> float:
    """The share of the dates that greedy decoding gets right.

    Greedy decoding outputs the reference exactly if every token of the reference is the most
    probable one after those before it. So one pass over the references is enough.
    """
    device, found = next(model.parameters()).device, []
    for start in range(0, len(pairs), 250):
        some = pairs[start : start + 250]
        if kind == "encoder-decoder":
            batch = collate(some).to(device)
            right = model(batch).argmax(-1) == batch.target_out
            counted = batch.target_mask
        else:
            joined = join(some).to(device)
            right = date_logits(kind, model, joined).argmax(-1) == joined.tokens[:, 1:]
            counted = predicted("causal", joined)
        found.append((right | ~counted).all(dim=1))
    return torch.cat(found).double().mean().item()


@accepts(
    kind=choice(KINDS),
    seed=any_seed,
    steps=natural,
    rate=positive,
    size=natural,
    weights=choice(("own", *WEIGHTS)),
)
def train_on_dates(
    kind: str,
    seed: int,
    *,
    steps: int = STEPS,
    rate: float = RATE,
    size: int = BATCH,
    weights: str = "own",
    progress: bool = True,
) -> tuple[nn.Module, History]:
    """Train one model; its evaluations are the share of the test dates that are exactly right.

    Args:
        kind: one of `KINDS`.
        seed: of the initialisation and of the order of the pairs.
        steps: how many batches.
        rate: the peak learning rate of a cosine schedule with 50 warm-up steps.
        size: pairs in a batch.
        weights: the initial weights. "own" are those of each architecture: Xavier in the layers of
            the encoder–decoder, the standard deviation 0.02 of GPT-2 in a stack. "xavier" and
            "small" draw all matrices in one of these two ways.
        progress: show the bar.
    """
    torch.manual_seed(seed)
    model, pairs = date_model(kind), date_pairs()
    if weights != "own":
        for parameter in model.parameters():
            if parameter.dim() > 1:
                WEIGHTS[weights](parameter)
    together = endless_batches if kind == "encoder-decoder" else _joined_batches
    history = fit(
        model,
        together(pairs.train, size, seed=seed),
        steps=steps,
        loss=lambda model, batch: _loss(kind, model, batch),
        learning_rate=rate,
        schedule=warmup_cosine(steps, warmup=min(50, steps // 2)),
        evaluate=lambda model: exactly_right(kind, model, pairs.test),
        evaluate_at=[steps * part // 8 for part in (2, 3, 4, 6, 8)],
        description=f"{kind}, seed {seed}",
        progress=progress,
    )
    return model.eval(), history
