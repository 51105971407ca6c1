"""How much of new text was never counted? Chapter 3 begins with it.

    python -m studies.ch03.unseen_ngrams
    python -m studies.ch03.unseen_ngrams --table

N-grams of order 1 to 5 of the 29,000 training captions of Multi30k, English, in the 4,000
byte-pair-encoding (BPE) tokens of `language_models.py`. A model that trusts counts alone gives a
new caption the probability 0 as soon as one of its n-grams was never counted. Reported for the
1,000 test captions: how many have that probability, and what share of their tokens; and how many
different n-grams were counted, of how many possible ones. Nothing is sampled: there is one seed.
"""

import torch

from gates2heads.book.studies import Study
from gates2heads.data.batches.pairs import pad
from gates2heads.models.language.ngram import MaximumLikelihood
from studies.ch03.language_models import read

SETTINGS = [f"order {order}" for order in range(1, 6)]


def run(setting: str, seed: int) -> dict:
    """Count n-grams of one order, and look the test split up."""
    order = int(setting.split()[1])
    corpus = read("captions")
    test = corpus.tokens["test"]
    model = MaximumLikelihood(corpus.tokens["train"], len(corpus.tokenizer), order)
    tokens, mask = pad(test)
    zero = model.log_probs(tokens, mask=mask).isneginf()
    known = set(map(tuple, corpus.tokens["train"]))
    return {
        "captions": len(test),
        "captions_of_probability_zero": int(zero.any(dim=1).sum()),
        "tokens": int(mask.sum()),
        "tokens_of_probability_zero": int(zero[mask].sum()),
        "captions_seen_whole": sum(tuple(text) in known for text in test),
        "counted": sum(map(len, model.counts[-1].values())),
        "possible": len(corpus.tokenizer) ** order,
        "contexts": len(model.counts[-1]),
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    Study("ch03/unseen_ngrams", run, SETTINGS).main()
