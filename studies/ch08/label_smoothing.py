"""What does label smoothing do to samples and to empty translations? For chapter 8.

    GATES2HEADS_DATA=… python -m studies.ch08.label_smoothing --seeds 0
    python -m studies.ch08.label_smoothing --table

The translator of the book was trained with label smoothing, ε = 0.1. Two settings continue its
training for 60 batches of 1,500 tokens, with the same ε or without label smoothing; the setting
`released` is the translator as it is.

All values are measured on the first 200 validation captions. BLEU and the length relative to the
references are those of the greedy output (`greedy_bleu`, `greedy_length`) and of two samples for
each caption from the unmodified distribution (`sample_bleu`, `sample_length`). `beam_length` is the
length of the most probable hypothesis of a beam of 10, and `empty` the number of captions for which
the empty translation is more probable than that hypothesis.
"""

from functools import partial

import torch

from gates2heads.book.studies import Study
from gates2heads.data.batches.pairs import endless_token_batches, pad
from gates2heads.decoding.beam import beam
from gates2heads.decoding.translation import up_to_end
from gates2heads.metrics.bleu import Bleu
from gates2heads.training.checkpoints import shipped_weights
from gates2heads.training.loop import fit
from gates2heads.training.losses import sequence_loss
from gates2heads.training.recipes.runs import load
from studies.ch08.sampling import written

CAPTIONS, DRAWS, LONGEST, WIDTH = 200, 2, 64, 10
STEPS, TOKENS, RATE = 60, 1500, 2e-4
WAYS = {"released": None, "label smoothing": 0.1, "no label smoothing": 0.0}


def continue_training(trained, smoothing: float, seed: int) -> None:
    """A few more batches, each with this label smoothing."""
    torch.manual_seed(seed)
    pairs = [
        (trained.source.encode(read), trained.target.encode(wanted))
        for read, wanted in trained.task.pairs("train")
    ]
    fit(
        trained.model.train(),
        endless_token_batches(pairs, TOKENS, seed=seed),
        steps=STEPS,
        loss=partial(sequence_loss, label_smoothing=smoothing),
        learning_rate=RATE,
        description=f"label smoothing {smoothing}",
    )
    trained.model.eval()


@torch.no_grad()
def empty_and_best(trained, texts: list[str]) -> tuple[torch.Tensor, torch.Tensor, list[str]]:
    """Log-probabilities of the empty and of the best known translation, and the latter."""
    words, model = trained.target.vocabulary, trained.model
    tokens, mask = pad([trained.source.encode(text) for text in texts])
    bos = torch.full((len(texts),), words.bos)
    first, _ = model.step(model.start(tokens, mask=mask), bos)
    found = beam(
        model.step,
        model.start(tokens, mask=mask),
        bos=bos,
        eos=words.eos,
        max_length=LONGEST,
        width=WIDTH,
        pad=words.pad,
    )
    rows = [up_to_end(row, trained.target) for row in found.tokens[:, 0].tolist()]
    best = [trained.target.decode(row) for row in rows]
    return first[:, words.eos], found.log_prob[:, 0], best


def run(way: str, seed: int) -> dict:
    """Continue the training, if the setting says so, and measure."""
    trained = load(shipped_weights("translator"))
    if WAYS[way] is not None:
        continue_training(trained, WAYS[way], seed)
    texts, wanted = map(list, zip(*trained.task.pairs("validation")[:CAPTIONS], strict=True))
    bleu, references = Bleu(), [[text] for text in wanted]
    total = sum(len(text.split()) for text in wanted)

    def length(outputs: list[str]) -> float:
        return sum(len(text.split()) for text in outputs) / total

    plain, _ = written(trained, texts, None, 0)
    draws = [written(trained, texts, {}, DRAWS * seed + draw)[0] for draw in range(DRAWS)]
    empty, best, found = empty_and_best(trained, texts)
    return {
        "captions": len(texts),
        "draws": DRAWS,
        "steps": 0 if WAYS[way] is None else STEPS,
        "greedy_bleu": bleu.corpus(plain, references).score,
        "greedy_length": length(plain),
        "sample_bleu": sum(bleu.corpus(drawn, references).score for drawn in draws) / DRAWS,
        "sample_length": sum(map(length, draws)) / DRAWS,
        "beam_length": length(found),
        "empty": int((empty > best).sum()),
        "empty_log_prob": float(empty.mean()),
    }


if __name__ == "__main__":
    Study("ch08/label_smoothing", run, tuple(WAYS)).main()
