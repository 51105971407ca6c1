"""Temperature, top-k and top-p: quality against diversity, for chapter 8's page *Further*.

    GATES2HEADS_DATA=… python -m studies.ch08.sampling --seeds 0 1 2
    python -m studies.ch08.sampling --table

A setting is a decoding method, with which the translator of the book generates five translations of
each of the first 200 validation captions. The setting `greedy` does not sample. `bleu` is the mean
BLEU of the five; `self_bleu` is BLEU of each of the five against the other four (100 if all five
are equal). `distinct_pairs` is the share of distinct bigrams among the five, and `log_prob` the
mean log-probability under the unmodified model. `likelier_than_greedy` is the share of the 1,000
samples that are more probable than the greedy output.
"""

import torch

from gates2heads.book.studies import Study
from gates2heads.data.batches.pairs import pad
from gates2heads.decoding.sampling import sample
from gates2heads.decoding.search import greedy
from gates2heads.decoding.translation import up_to_end
from gates2heads.metrics.bleu import Bleu
from gates2heads.metrics.ngrams import count_ngrams
from gates2heads.training.checkpoints import shipped_weights
from gates2heads.training.recipes.runs import load

CAPTIONS, DRAWS, LONGEST = 200, 5, 64
WAYS = {
    "greedy": None,
    "temperature 0.5": {"temperature": 0.5},
    "temperature 0.7": {"temperature": 0.7},
    "unmodified": {},
    "top-k 5": {"top_k": 5},
    "top-p 0.5": {"top_p": 0.5},
    "top-p 0.8": {"top_p": 0.8},
    "top-p 0.95": {"top_p": 0.95},
}


def written(
    trained, texts: list[str], way: dict | None, seed: int
) -> tuple[list[str], list[float]]:
    """One translation for each text, and its log-probability."""
    words = trained.target.vocabulary
    tokens, mask = pad([trained.source.encode(text) for text in texts])
    with torch.no_grad():
        state = trained.model.start(tokens, mask=mask)
    bos = torch.full((len(texts),), words.bos)
    step, eos, pad_with = trained.model.step, words.eos, words.pad
    if way is None:
        output = greedy(step, state, bos=bos, eos=eos, max_length=LONGEST, pad=pad_with)
    else:
        chance = torch.Generator().manual_seed(seed)
        output = sample(
            step, state, bos=bos, eos=eos, max_length=LONGEST, pad=pad_with, generator=chance, **way
        )
    rows = [up_to_end(row, trained.target) for row in output.tokens.tolist()]
    return [trained.target.decode(row) for row in rows], output.log_prob.tolist()


def run(way: str, seed: int) -> dict:
    """Draw five times with seeds that follow from this one, and score."""
    trained = load(shipped_weights("translator"))
    texts, wanted = map(list, zip(*trained.task.pairs("validation")[:CAPTIONS], strict=True))
    _, known = written(trained, texts, None, 0)
    draws, log_probs = [], []
    for draw in range(DRAWS):
        drawn, chances = written(trained, texts, WAYS[way], DRAWS * seed + draw)
        draws.append(drawn)
        log_probs.append(chances)
    bleu, references = Bleu(), [[text] for text in wanted]
    others = [
        (drawn, [[other[n] for other in draws if other is not drawn] for n in range(CAPTIONS)])
        for drawn in draws
    ]
    pairs = [
        [pair for drawn in draws for pair in count_ngrams(drawn[n].split(), 2).elements()]
        for n in range(CAPTIONS)
    ]
    likelier = sum(
        chance > best + 1e-3 for some in log_probs for chance, best in zip(some, known, strict=True)
    )
    return {
        "captions": CAPTIONS,
        "draws": DRAWS,
        "bleu": sum(bleu.corpus(drawn, references).score for drawn in draws) / DRAWS,
        "self_bleu": sum(bleu.corpus(drawn, other).score for drawn, other in others) / DRAWS,
        "distinct_pairs": sum(len(set(some)) / max(1, len(some)) for some in pairs) / CAPTIONS,
        "log_prob": sum(map(sum, log_probs)) / (CAPTIONS * DRAWS),
        "likelier_than_greedy": likelier / (CAPTIONS * DRAWS),
        "distinct": sum(len({drawn[n] for drawn in draws}) for n in range(CAPTIONS)) / CAPTIONS,
    }


if __name__ == "__main__":
    Study("ch08/sampling", run, tuple(WAYS)).main()
