"""Is a difference in perplexity more than a lucky choice of test captions? For chapter 3.

    python -m studies.ch03.paired_captions
    python -m studies.ch03.paired_captions rnn --seeds 0 1 2
    python -m studies.ch03.paired_captions --table

A setting is a model, which is compared with the Kneser–Ney 5-gram model on the same 1,000 test
captions of Multi30k. "gru of the view" and "transformer of the view" are the released networks of
the next-token view; the other models are estimated or trained as in `language_models.py`. With "…,
four tokens", the same released network reads only `<bos>` and the last four tokens of each prefix,
as many as the 5-gram model. It was not trained on such beginnings, so the bits that it loses in
this setting are an upper bound on the value of the longer context. "…, 6 epochs" has twice the
training. "…, counts at distances 2 to 4" is the 5-gram model with another choice among unseen
pairs, see `skip_counts.py`.

`difference` is in bits per token, with the interval from `low` to `high` (95 % paired bootstrap).
The bootstrap resamples captions instead of tokens, since the tokens of a caption depend on each
other, and scores both models on the same resampled captions.

The tokens are also divided into two groups: an unseen pair is a token that never follows the
previous token in the training captions. Since the group depends on the token itself, unseen pairs
are surprising by construction, and only models may be compared, not groups. A model can also gain
on unseen pairs, and lose on the others, by giving more probability to all of them alike. The
surprisal of unseen pairs therefore has two parts: that of any unseen pair (`bits_for_any_unseen`),
and the rest, which is due to the choice among the tokens that would form such a pair.
"""

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch

from gates2heads.book.studies import Study
from gates2heads.browser.engine.rebuild import shipped
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.metrics.significance import paired_bootstrap
from gates2heads.models.language.base import LanguageModel, NeuralLanguageModel
from studies.ch03.language_models import Corpus, count, log_probs_of, read, train
from studies.ch03.skip_counts import SkipCounts

BASE = "5-gram-kneser-ney"
SHIPPED = {"gru of the view": "captions_gru", "transformer of the view": "captions_transformer"}
CUT, WINDOW = ", four tokens", 4
LONGER = "feed-forward-4, 6 epochs"
SKIPPING = f"{BASE}, counts at distances 2 to 4"
SETTINGS = (
    "3-gram-kneser-ney",
    *SHIPPED,
    *(f"{name}{CUT}" for name in SHIPPED),
    "feed-forward-4",
    LONGER,
    "rnn",
    "gru",
    SKIPPING,
)
AT_ONCE = 500  # windows
RESAMPLES = 10_000


def make(model: str, corpus: Corpus, seed: int) -> LanguageModel:
    """Count, load or train a model."""
    if model in SHIPPED:
        return shipped(SHIPPED[model]).model
    if model == SKIPPING:
        base, _ = count(BASE, corpus)
        return SkipCounts(base, corpus.tokens["train"], corpus.tokens["validation"])
    if model == LONGER:
        return train("captions", "feed-forward-4", corpus, seed, rounds=6)[0]
    if "-gram-" in model:
        return count(model, corpus)[0]
    return train("captions", model, corpus, seed)[0]


def bits_of(model: LanguageModel, texts: Sequence[Sequence[int]]) -> torch.Tensor:
    """The surprise of every token of all texts in bits, one text after the other: (tokens,)."""
    return -log_probs_of(model, texts) / np.log(2)


def bits_in_windows(
    model: NeuralLanguageModel, texts: Sequence[Sequence[int]], window: int
) -> torch.Tensor:
    """The surprise of every token after <bos> and the last few tokens: (tokens,)."""
    prefixes = [
        [Vocabulary.bos, *text[max(end - window, 0) : end]]
        for text in texts
        for end in range(len(text))
    ]
    tokens = torch.tensor([token for text in texts for token in text])
    bits = torch.zeros(len(tokens), dtype=torch.float64)
    lengths = torch.tensor([len(prefix) for prefix in prefixes])
    for length in lengths.unique():
        for rows in (lengths == length).nonzero()[:, 0].split(AT_ONCE):
            read = torch.tensor([prefixes[row] for row in rows.tolist()])
            with torch.no_grad():
                log_probs = model.logits(read)[:, -1].log_softmax(dim=-1)
            bits[rows] = -log_probs.gather(1, tokens[rows, None])[:, 0].double() / np.log(2)
    return bits


def followers_in(train: Sequence[Sequence[int]]) -> dict[int, set[int]]:
    """Which tokens follow each token in training; none for a token that is not there."""
    followers = defaultdict(set)
    for text in train:
        for last, token in pairwise([Vocabulary.bos, *text]):
            followers[last].add(token)
    return followers


def unseen_pairs(train: Sequence[Sequence[int]], texts: Sequence[Sequence[int]]) -> torch.Tensor:
    """Which tokens of the texts form a pair with the one before that is not in training."""
    followers = followers_in(train)
    flags = [
        token not in followers[last]
        for text in texts
        for last, token in pairwise([Vocabulary.bos, *text])
    ]
    return torch.tensor(flags)


def bits_for_any_unseen(
    model: LanguageModel,
    train: Sequence[Sequence[int]],
    texts: Sequence[Sequence[int]],
    window: int | None = None,
) -> torch.Tensor:
    """For each token of an unseen pair, the surprise at any token that would form such a pair.

    The rest of the token's own surprise is the choice among these tokens.
    """
    followers = followers_in(train)
    masses = []
    for text in texts:
        for end, (last, token) in enumerate(pairwise([Vocabulary.bos, *text])):
            if token in followers[last]:
                continue
            prefix = [Vocabulary.bos, *text[max(end - (window or end), 0) : end]]
            if isinstance(model, NeuralLanguageModel):
                with torch.no_grad():
                    probs = model.logits(torch.tensor([prefix]))[0, -1].double().softmax(dim=-1)
            else:
                probs = model.probs(prefix).double().clone()
            probs[list(followers[last])] = 0
            masses.append(probs.sum())
    return -torch.stack(masses).log2()


def run(setting: str, seed: int) -> dict:
    """Compare a model with the 5-gram model, caption by caption."""
    corpus = read("captions")
    test = sorted(corpus.tokens["test"], key=len)
    lengths = np.array([len(text) for text in test])
    cut = setting.endswith(CUT)
    model = make(setting.removesuffix(CUT), corpus, seed)
    own = bits_in_windows(model, test, WINDOW) if cut else bits_of(model, test)
    base = make(BASE, corpus, seed)
    bits = {setting: own.numpy(), BASE: bits_of(base, test).numpy()}
    starts = np.concatenate([[0], lengths.cumsum()[:-1]])
    sums = {name: np.add.reduceat(some, starts) for name, some in bits.items()}
    found = paired_bootstrap(
        *(np.stack([sums[name], lengths], axis=1) for name in (setting, BASE)),
        lambda total: total[0] / total[1],
        resamples=RESAMPLES,
    )
    given = corpus.tokens["train"], test
    new = unseen_pairs(*given).numpy()
    return {
        "bits_per_token": found.score_a,
        "of_the_5_gram": found.score_b,
        "difference": found.difference,
        "low": found.interval_difference.low,
        "high": found.interval_difference.high,
        "own_low": found.interval_a.low,
        "own_high": found.interval_a.high,
        "captions": len(test),
        "captions_ahead": int((sums[setting] < sums[BASE]).sum()),
        "tokens": int(lengths.sum()),
        "tokens_of_unseen_pairs": int(new.sum()),
        "bits_on_unseen_pairs": float(bits[setting][new].mean()),
        "bits_on_unseen_pairs_of_the_5_gram": float(bits[BASE][new].mean()),
        "bits_for_any_unseen": float(
            bits_for_any_unseen(model, *given, WINDOW if cut else None).mean()
        ),
        "bits_for_any_unseen_of_the_5_gram": float(bits_for_any_unseen(base, *given).mean()),
        "bits_on_seen_pairs": float(bits[setting][~new].mean()),
        "bits_on_seen_pairs_of_the_5_gram": float(bits[BASE][~new].mean()),
        "resamples": RESAMPLES,
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    Study("ch03/paired_captions", run, SETTINGS).main()
