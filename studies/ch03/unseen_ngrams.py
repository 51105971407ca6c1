"""How many n-grams of new text were never counted? Chapter 3 begins with this question.

    python -m studies.ch03.unseen_ngrams
    python -m studies.ch03.unseen_ngrams --table

A setting is an order from 1 to 5. The n-grams are those of the 29,000 English training captions of
Multi30k, in the 4,000 tokens of byte-pair encoding (BPE) of `language_models.py`. Without
smoothing, a model gives a new caption the probability 0 if one of its n-grams was never counted.
`captions_of_probability_zero` and `tokens_of_probability_zero` count such captions and tokens among
the 1,000 test captions. `counted` is the number of different n-grams in the training captions,
`possible` the number of possible ones. Counting is deterministic, so there is one seed.
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
