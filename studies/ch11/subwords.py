"""Masked language modelling on subword tokens: what should be masked together? For section F.

    python -m studies.ch11.subwords --seeds 0
    python -m studies.ch11.subwords --table

The model, the sentences, the size of the batches and the number of steps are those of BERT in
`studies.ch11.pretraining`; only the tokens differ. A byte-pair encoding with 800 tokens, learned
from the 1,616 training sentences, splits rare words such as the names of territories. The settings
differ in what is masked together: single subword tokens, as in the first release of BERT; all
subword tokens of a word (whole-word masking); or of a name, as in ERNIE. Each row tells how many
names of held-out sentences are predicted right when the whole name is masked, when one of its words
is, and when one of its subword tokens is. Every run takes about a quarter of an hour on one thread.
"""

import random
from collections.abc import Iterator, Sequence
from functools import cache

import torch
from torch import Tensor

from gates2heads.book.ch11.pretraining import (
    LEARNING_RATE,
    LONGEST,
    STACK,
    STEPS,
    WARMUP,
    FactBatch,
    loss_of_masks,
    singles_and_pairs,
)
from gates2heads.book.ch11.questions import true_answers
from gates2heads.book.studies import Study
from gates2heads.data.batches.joined import Markers, collate_joined, join
from gates2heads.data.corpora.cldr_facts import Fact
from gates2heads.data.corpora.wordings import territory_code, wordings
from gates2heads.data.tokens.bilingual import bilingual_offsets, split_bilingual
from gates2heads.data.tokens.bpe import BPETokenizer
from gates2heads.data.tokens.spans import token_spans
from gates2heads.models.pretraining.bert import BERT
from gates2heads.models.pretraining.filling import fill_gaps
from gates2heads.models.pretraining.masking import span_units
from gates2heads.training.loop import fit
from gates2heads.training.schedules import warmup_cosine

VOCABULARY = 800
UNITS = {"subword tokens": "pieces", "whole words": "words", "whole names": "names"}
EXAMPLES = ("Greenland", "Danish Krone", "currency", "Ethiopian Birr", "official")
AT_ONCE = 64  # sentences


class Told(list):
    """The subword tokens of a sentence, with the spans (start, end) of its words and its names."""

    def __init__(self, pieces: Sequence[int], words: list, names: list, answer: tuple[int, int]):
        super().__init__(pieces)
        self.pieces, self.words, self.names, self.answer = [], words, names, answer


@cache
def tokenizer() -> BPETokenizer:
    """Learned from the training sentences, words and Chinese characters apart."""
    texts = [" ".join(split_bilingual(fact.text)) for fact in wordings("train")]
    return BPETokenizer.train(texts, VOCABULARY)


@cache
def markers() -> Markers:
    """The special tokens."""
    return Markers.of(tokenizer().vocabulary)


def tell(fact: Fact) -> Told:
    """A sentence as subword tokens."""
    split = [tokenizer().encode(word, eos=False) for word in split_bilingual(fact.text)]
    ends = [sum(map(len, split[: n + 1])) for n in range(len(split))]
    words = [(end - len(some), end) for end, some in zip(ends, split, strict=True)]
    offsets = bilingual_offsets(fact.text)

    def moved(span: tuple[int, int]) -> tuple[int, int]:
        ((first, last),) = token_spans([span], offsets)
        return words[first][0], words[last - 1][1]

    names = sorted(map(moved, (fact.subject_span, fact.answer_span)))
    pieces = [piece for some in split for piece in some]
    return Told(pieces, words, names, moved(fact.answer_span))


def batch_of(examples: Sequence[tuple], unit: str) -> FactBatch:
    """Make a batch of (sentence,) or of (first, second, follows)."""
    joined = [join(*example[:2], max_length=LONGEST) for example in examples]
    batch = collate_joined(joined)
    spans = [
        [s for n in range(len(one.places)) for s in one.place(getattr(example[n], unit), n)]
        for one, example in zip(joined, examples, strict=True)
    ]
    units = span_units(markers().ordinary(batch.tokens), spans)
    follows = torch.tensor([example[2] for example in examples if len(example) == 3]).bool()
    return FactBatch(batch.tokens, batch.segments, batch.mask, units, follows)


def batches(unit: str, seed: int) -> Iterator[FactBatch]:
    """Alternate single sentences and pairs, as `fact_batches` gives them."""
    documents: dict[str, list[Told]] = {}
    for fact in wordings("train"):
        documents.setdefault(territory_code(fact), []).append(tell(fact))
    return singles_and_pairs(documents, lambda some: batch_of(some, unit), random.Random(seed))


def loss_of(model: BERT, batch: FactBatch) -> Tensor:
    """Masked tokens; of pairs also whether they are about one territory."""
    return loss_of_masks(model, batch, markers=markers(), units=batch.units)


@torch.no_grad()
def filled(model: BERT, gaps: Sequence[tuple[Told, tuple[int, int]]]) -> list[list[int]]:
    """The most probable tokens in the one gap (start, end) of each sentence."""
    found = []
    for at in range(0, len(gaps), AT_ONCE):
        some = gaps[at : at + AT_ONCE]
        batch = collate_joined([join(example) for example, _ in some])
        hidden = torch.zeros_like(batch.mask)
        for row, (_, (start, end)) in enumerate(some):
            hidden[row, start + 1 : end + 1] = True  # behind [CLS]
        scores = fill_gaps(model, batch.tokens, hidden, markers=markers(), mask=batch.mask)
        scores[:, : markers().specials] = -torch.inf
        scores[:, markers().words :] = -torch.inf
        best = iter(scores.argmax(-1).tolist())
        found += [[next(best) for _ in range(end - start)] for _, (start, end) in some]
    return found


def judged(model: BERT) -> dict:
    """Of the held-out sentences: names, words and subword tokens predicted right."""
    facts = wordings("test")
    examples = [tell(fact) for fact in facts]
    names = filled(model, [(one, one.answer) for one in examples])
    right = [
        tuple(split_bilingual(tokenizer().decode(written)))
        in true_answers(territory_code(fact), fact.relation, fact.locale)
        for fact, written in zip(facts, names, strict=True)
    ]

    def inside(one: Told, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        return [span for span in spans if one.answer[0] <= span[0] < one.answer[1]]

    words = [(one, span) for one in examples for span in inside(one, one.words)]
    singles = [(one, (n, n + 1)) for one in examples for n in range(*one.answer)]
    counted = {
        name: [
            written == list(one[start:end])
            for (one, (start, end)), written in zip(gaps, filled(model, gaps), strict=True)
        ]
        for name, gaps in (("words", words), ("pieces", singles))
    }
    split = [end - start > 1 for _, (start, end) in words]
    return {
        "names": len(facts),
        "names_right": sum(right),
        "english": sum(fact.locale == "en" for fact in facts),
        "english_right": sum(ok for ok, f in zip(right, facts, strict=True) if f.locale == "en"),
        "words": len(words),
        "words_right": sum(counted["words"]),
        "split_words": sum(split),
        "split_words_right": sum(
            ok for ok, several in zip(counted["words"], split, strict=True) if several
        ),
        "pieces": len(singles),
        "pieces_right": sum(counted["pieces"]),
    }


def run(setting: str, seed: int) -> dict:
    """Train one model, and evaluate it."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    model = BERT(markers().size, **STACK)
    history = fit(
        model,
        batches(UNITS[setting], seed),
        steps=STEPS,
        loss=loss_of,
        learning_rate=LEARNING_RATE,
        schedule=warmup_cosine(STEPS, warmup=WARMUP),
        weight_decay=0.01,
        description=f"{setting}, seed {seed}",
        progress=False,
    )
    return {
        "steps": STEPS,
        "vocabulary": len(tokenizer()),
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "split": {text: tokenizer().pieces(text) for text in EXAMPLES},
        "last_loss": sum(history.loss[-100:]) / 100,
        **judged(model.eval()),
    }


STUDY = Study("ch11/subwords", run, tuple(UNITS))

if __name__ == "__main__":
    STUDY.main()
