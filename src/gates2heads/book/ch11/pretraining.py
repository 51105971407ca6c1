"""Pre-training on the facts of CLDR: four models, one corpus, one budget."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache

import torch
from torch import Tensor, nn

from gates2heads.accepts import accepts, any_seed, choice, flag, instance, listed, natural
from gates2heads.accepts.values import distinct_seed
from gates2heads.data.batches.joined import (
    Joined,
    Markers,
    collate_joined,
    join,
    next_sentence_pairs,
)
from gates2heads.data.corpora.cldr_facts import Fact, facts
from gates2heads.data.corpora.splits import SPLITS
from gates2heads.data.corpora.wordings import RELATIONS, territory_code, wordings
from gates2heads.data.tokens.bilingual import BilingualTokenizer, bilingual_offsets
from gates2heads.data.tokens.spans import Span, token_spans
from gates2heads.models.pretraining.by_name import PRETRAINED, pretraining_model
from gates2heads.models.pretraining.masking import mask_tokens, span_units
from gates2heads.training.loop import fit
from gates2heads.training.pretraining_losses import (
    masked_loss,
    next_token_loss,
    pretraining_loss,
    two_way_loss,
)
from gates2heads.training.schedules import warmup_cosine

LONGEST = 64  # tokens of two sentences with their markers
STACK = {"d_model": 96, "nhead": 4, "num_layers": 2, "dropout": 0.0, "max_length": LONGEST}
SIZES = {
    "elmo": {"hidden_size": 96, "num_layers": 2, "dropout": 0.0},
    "gpt": STACK,
    "bert": STACK,
    "ernie": STACK,
}
SINGLES, PAIRS = 64, 32  # sequences a batch
STEPS, LEARNING_RATE, WARMUP = 5000, 2e-3, 200
FACTS = listed("facts", kind=instance(Fact), least=1)


class _Sentence(list):
    """The tokens of a sentence, with the spans of the names in it."""

    def __init__(self, tokens: Sequence[int], names: Sequence[Span]):
        super().__init__(tokens)
        self.names = list(names)


@dataclass(frozen=True)
class FactBatch:
    """B sequences of one or two sentences."""

    tokens: Tensor  # (B, L) long
    segments: Tensor  # (B, L) long, 0 or 1
    mask: Tensor  # (B, L) bool, True = a real token
    units: Tensor  # (B, L) long: names are one unit, see `span_units`
    follows: Tensor  # (B,) bool; empty where there is but one sentence

    def __len__(self) -> int:
        return len(self.tokens)

    def to(self, device: torch.device | str) -> "FactBatch":
        """The same batch on another device."""
        return FactBatch(*(getattr(self, field.name).to(device) for field in fields(self)))


@lru_cache(maxsize=1)
def fact_tokenizer() -> BilingualTokenizer:
    """A tokenizer with the tokens of all facts, held-out ones included."""
    every = [fact for split in SPLITS for fact in facts(split, relations=RELATIONS)]
    return BilingualTokenizer.from_texts([fact.text for fact in every])


def fact_markers() -> Markers:
    """The special tokens of `fact_tokenizer`, and [MASK] behind its last one."""
    return Markers.of(fact_tokenizer().vocabulary)


def check_size(name: str, model: nn.Module) -> None:
    """Reject a model with another vocabulary than that of the facts.

    Raises:
        ValueError: with a sentence that names the argument.
    """
    size = fact_markers().size
    if model.vocabulary_size != size:
        raise ValueError(
            f"{name} must know {size} tokens, as `untrained` builds it, got {model.vocabulary_size}"
        )


def _tell(fact: Fact) -> _Sentence:
    """A sentence as numbers, with the positions of its two names."""
    spans = sorted((fact.subject_span, fact.answer_span))
    tokens = fact_tokenizer().encode(fact.text, eos=False)
    return _Sentence(tokens, token_spans(spans, bilingual_offsets(fact.text)))


def _fact_batch(examples: Sequence[tuple]) -> FactBatch:
    """Make a batch of (sentence,) or of (first, second, follows)."""
    joined = [join(*example[:2], max_length=LONGEST) for example in examples]
    batch = collate_joined(joined)
    markers = fact_markers()
    spans = [_names(one, example) for one, example in zip(joined, examples, strict=True)]
    units = span_units(markers.ordinary(batch.tokens), spans)
    follows = torch.tensor([example[2] for example in examples if len(example) == 3]).bool()
    return FactBatch(batch.tokens, batch.segments, batch.mask, units, follows)


def _names(joined: Joined, example: tuple) -> list[Span]:
    """The positions of the names of one or two sentences in the joined sequence."""
    texts = range(len(joined.places))
    return [span for text in texts for span in joined.place(example[text].names, text)]


@accepts(sentences=FACTS, seed=any_seed(least=0))
def fact_batches(sentences: Sequence[Fact], *, seed: int) -> Iterator[FactBatch]:
    """Alternate single sentences and pairs indefinitely, shuffled in each epoch.

    One half of the pairs state two facts about one territory, each in either language; the other
    half state facts about two territories.

    Args:
        sentences: the training facts.
        seed: of the order and the pairs.
    """
    documents: dict[str, list[_Sentence]] = {}
    for fact in sentences:
        documents.setdefault(territory_code(fact), []).append(_tell(fact))
    yield from singles_and_pairs(documents, _fact_batch, random.Random(distinct_seed(seed)))


def singles_and_pairs(
    documents: Mapping[str, Sequence[Sequence[int]]],
    make: Callable[[Sequence[tuple]], FactBatch],
    draw: random.Random,
) -> Iterator[FactBatch]:
    """The batches of `fact_batches`, of sentences in any tokens.

    Args:
        documents: the sentences about each territory.
        make: a batch of examples (sentence,) or (first, second, follows).
        draw: the source of randomness of the order and the pairs.
    """
    singles = [(sentence,) for document in documents.values() for sentence in document]
    alone: list[FactBatch] = []
    paired: list[FactBatch] = []
    while True:
        if not alone:
            alone += _alike(singles, SINGLES, make, draw)
        if not paired:
            mixed = [draw.sample(document, len(document)) for document in documents.values()]
            pairs = next_sentence_pairs(mixed, seed=draw.randrange(2**31))
            paired += _alike(pairs, PAIRS, make, draw)
        yield alone.pop()
        yield paired.pop()


def _alike(
    examples: Sequence[tuple], size: int, make: Callable, draw: random.Random
) -> list[FactBatch]:
    """Batches of examples of similar length, which limits padding, in random order."""
    order = draw.sample(examples, len(examples))
    order.sort(key=lambda example: sum(map(len, example[:2])))  # keeps ties shuffled
    batches = [make(order[start : start + size]) for start in range(0, len(order), size)]
    return draw.sample(batches, len(batches))


@accepts(kind=choice(PRETRAINED), seed=any_seed)
def untrained(kind: str, seed: int) -> nn.Module:
    """A randomly initialised model.

    Args:
        kind: "elmo", "gpt", "bert" or "ernie".
        seed: of the initialisation.
    """
    torch.manual_seed(int(seed))
    return pretraining_model(kind, fact_markers().size, **SIZES[kind]).eval()


def _elmo_loss(model: nn.Module, batch: FactBatch) -> Tensor:
    """The loss of ELMo: predict the next and the previous token."""
    return two_way_loss(model, batch.tokens, mask=batch.mask)


def _gpt_loss(model: nn.Module, batch: FactBatch) -> Tensor:
    """The loss of GPT: predict the next token."""
    return next_token_loss(model, batch.tokens, mask=batch.mask)


def _bert_loss(model: nn.Module, batch: FactBatch) -> Tensor:
    """The loss of BERT: single tokens are masked."""
    return loss_of_masks(model, batch, markers=fact_markers())


def loss_of_masks(
    model: nn.Module, batch: FactBatch, *, markers: Markers, units: Tensor | None = None
) -> Tensor:
    """The loss of masked tokens and, for pairs, of whether both are about one territory.

    Args:
        model: a `BERT`.
        batch: B sequences of one or two sentences.
        markers: the special tokens of the tokenizer.
        units: (B, L) long, what is masked together; None masks single tokens.

    Returns:
        the loss, a scalar.
    """
    masked = mask_tokens(batch.tokens, markers=markers, units=units)
    if len(batch.follows):
        return pretraining_loss(
            model, masked, batch.follows, segments=batch.segments, mask=batch.mask
        )
    return masked_loss(model, masked, segments=batch.segments, mask=batch.mask)


def _ernie_loss(model: nn.Module, batch: FactBatch) -> Tensor:
    """The loss of ERNIE: a name is masked completely or not at all."""
    return loss_of_masks(model, batch, markers=fact_markers(), units=batch.units)


LOSSES = {"elmo": _elmo_loss, "gpt": _gpt_loss, "bert": _bert_loss, "ernie": _ernie_loss}


@accepts(kind=choice(PRETRAINED), seed=any_seed(least=0), steps=natural(least=2), progress=flag)
def pretrain(kind: str, seed: int, *, steps: int = STEPS, progress: bool = True) -> tuple:
    """Train one of the four on `wordings("train")`.

    Every kind is trained on the same sentences in the same batches; only the objective differs.

    Args:
        kind: "elmo", "gpt", "bert" or "ernie".
        seed: of the initialisation, the batches and the masks.
        steps: batches; every other one holds pairs.
        progress: show a bar.

    Returns:
        the model in evaluation mode, and its `History`.
    """
    model = untrained(kind, seed)
    history = fit(
        model,
        fact_batches(wordings("train"), seed=seed),
        steps=steps,
        loss=LOSSES[kind],
        learning_rate=LEARNING_RATE,
        schedule=warmup_cosine(steps, warmup=min(WARMUP, steps - 1)),
        weight_decay=0.01,
        description=f"{kind}, seed {seed}",
        progress=progress,
    )
    return model.eval(), history
