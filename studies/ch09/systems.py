"""The translations of the test captions by nine systems, and their scores, for chapter 9.

    GATES2HEADS_DATA=… python -m studies.ch09.systems
    python -m studies.ch09.systems --table

All systems use the translator of the book: as it was released, with another search or sampling, or
with attention heads or rotary encoding switched off. Two systems cheat: they return a fluent
sentence for the wrong caption. The library stores the scores, the outputs of each system (our own
texts), and the n-gram counts of BLEU for each of the 1,000 test captions of 2016. It does not
contain the captions or their references.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache

import torch

from gates2heads.book.studies import Study
from gates2heads.book.written import Written, store_written
from gates2heads.data.batches.pairs import pad
from gates2heads.decoding.lengths import Power
from gates2heads.decoding.sampling import sample
from gates2heads.decoding.translation import up_to_end
from gates2heads.layers.attention.heads_off import heads_of, heads_off
from gates2heads.metrics.bleu import Bleu, corpus_bleu
from gates2heads.metrics.chrf import corpus_chrf
from gates2heads.metrics.exact_match import exact_match
from gates2heads.metrics.ngrams import count_ngrams
from gates2heads.metrics.rouge import rouge_l, rouge_n
from gates2heads.training.checkpoints import shipped_weights
from gates2heads.training.recipes.runs import load, search_of, write_all

NAME = "ch09/systems"
ONE_FOR_ALL = "A man in a blue shirt is standing in front of a building."
PIECES = "pieces"  # the translator's own tokens, as no score should be told


@cache
def translator():
    """The shipped model with its tokenizers."""
    return load(shipped_weights("translator"))


@cache
def captions() -> tuple[list[str], list[str]]:
    """What is read, and the references."""
    texts, wanted = map(list, zip(*translator().task.pairs("test"), strict=True))
    return texts, wanted


@cache
def searched(width: int, power: float | None = None, off: str = "") -> list[str]:
    """The outputs of a search for every caption, with a part of the model switched off or not."""
    model, task, source, target, card = translator()
    search = search_of(card["recipe"]) if power is None else {"length_rule": Power(power)}
    with _without(off):
        return write_all(model, task, source, target, captions()[0], **{**search, "width": width})


def _without(off: str):
    """The model without some heads, or without rotation, while the block runs."""
    model = translator().model
    if not off:
        return nullcontext()
    if off == "rotation":
        return _unturned(model)
    return heads_off(model, [head for head in heads_of(model) if head.layer.startswith(off)])


@contextmanager
def _unturned(model) -> Iterator[None]:
    turned = [one for one in model.modules() if getattr(one, "rotary", False)]
    try:
        for one in turned:
            one.rotary = False
        yield
    finally:
        for one in turned:
            one.rotary = True


def drawn() -> list[str]:
    """One sample for each caption, from the unmodified distribution of the model."""
    model, task, source, target, _ = translator()
    texts, words = captions()[0], target.vocabulary
    tokens, mask = pad([source.encode(text) for text in texts])
    with torch.no_grad():
        state = model.start(tokens, mask=mask)
    output = sample(
        model.step,
        state,
        bos=torch.full((len(texts),), words.bos),
        eos=words.eos,
        max_length=task.max_length,
        pad=words.pad,
        generator=torch.Generator().manual_seed(0),
    )
    return [target.decode(up_to_end(row, target)) for row in output.tokens.tolist()]


def next_caption() -> list[str]:
    """For each caption, the output of the released system for the next one."""
    texts = searched(5)
    return [*texts[1:], texts[0]]


SYSTEMS: dict[str, Callable[[], list[str]]] = {
    "beam": lambda: searched(5),
    "beam, no rule": lambda: searched(5, 0.0),
    "greedy": lambda: searched(1),
    "first decoder heads off": lambda: searched(1, off="decoder_layers.0.self_attn"),
    "first encoder heads off": lambda: searched(1, off="encoder_layers.0.self_attn"),
    "no rotation": lambda: searched(1, off="rotation"),
    "drawn": drawn,
    "next caption": next_caption,
    "one for all": lambda: [ONE_FOR_ALL] * len(captions()[0]),
}


def tokenised(texts: Sequence[str], wanted: Sequence[str]) -> dict[str, float]:
    """BLEU of the same texts, cut in several ways."""
    target, references = translator().target, [[text] for text in wanted]
    scores = {
        name: corpus_bleu(texts, references, tokenize=name).score
        for name in ("13a", "none", "char", "rouge")
    }
    scores["13a, lower case"] = corpus_bleu(texts, references, lowercase=True).score
    scores[PIECES] = corpus_bleu(
        [target.encode(text) for text in texts], [[target.encode(text)] for text in wanted]
    ).score
    return scores


def repeats(text: str) -> bool:
    """Whether a trigram occurs twice in a text."""
    return any(count > 1 for count in count_ngrams(text.split(), 3).values())


def mean(values: Sequence[float]) -> float:
    """In percent."""
    return 100 * sum(values) / len(values)


def run(system: str, seed: int) -> dict:
    """Translate with a system, store its texts and counts, and return its scores."""
    texts, wanted = SYSTEMS[system](), captions()[1]
    references = [[text] for text in wanted]
    store_written(NAME, {system: Written(texts, Bleu().statistics(texts, references))})
    whole = Bleu().corpus(texts, references)
    rouge = {
        f"rouge_{name}": [score(text, want) for text, want in zip(texts, wanted, strict=True)]
        for name, score in {
            "1": rouge_n,
            "2": lambda text, want: rouge_n(text, want, 2),
            "l": rouge_l,
        }.items()
    }
    return {
        "captions": len(texts),
        "bleu": whole.score,
        "brevity_penalty": whole.brevity_penalty,
        "length_ratio": whole.hypothesis_length / whole.reference_length,
        "chrf": corpus_chrf(texts, references).score,
        "chrf++": corpus_chrf(texts, references, word_order=2).score,
        **{name: mean([one.f_measure for one in some]) for name, some in rouge.items()},
        "rouge_1_recall": mean([one.recall for one in rouge["rouge_1"]]),
        "rouge_1_precision": mean([one.precision for one in rouge["rouge_1"]]),
        "exact": 100 * exact_match(texts, wanted),
        "repeats": mean([repeats(text) for text in texts]),
        "tokenised": tokenised(texts, wanted),
        "signature": whole.signature,
    }


if __name__ == "__main__":
    Study(NAME, run, tuple(SYSTEMS)).main()
