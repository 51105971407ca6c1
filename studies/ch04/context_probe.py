"""What does the context vector of the dates network contain? For section 4.8.

    python -m studies.ch04.context_probe
    python -m studies.ch04.context_probe untrained --seeds 0 1 2 3 4
    python -m studies.ch04.context_probe "teacher forcing, other seeds" --seeds 1 2
    python -m studies.ch04.context_probe --table

A setting is an encoder: that of one of the three distributed networks, of networks trained like the
first with other seeds, or of the same size with random parameters. Classifiers predict properties
of a date from its context vector. They are fitted to 2,000 validation dates (`FITTED`) and
evaluated on 1,000 test dates (`TESTED`); no day is in both sets, and the networks were trained on
neither.

Stored are shares of correct labels: `nearest_mean` assigns a vector to the nearest class mean,
`linear` is a linear classifier fitted by least squares, and `most_frequent` always predicts the
most frequent label. `nonlinear` predicts the language alone; it has a hidden layer and is fitted
to 12,000 dates from the networks' training set. Chinese and Japanese, which share a notation, are
one language label.
"""

from collections import Counter

import torch
from torch import nn

from gates2heads.book.ch04.context_probe import (
    contexts,
    date_labels,
    linear_share,
    nearest_mean_share,
)
from gates2heads.book.studies import Study
from gates2heads.browser.engine.rebuild import shipped
from gates2heads.data.batches.pairs import collate
from gates2heads.data.corpora.dates import dates
from gates2heads.data.tokens.characters import encode_pairs
from gates2heads.models.translation.seq2seq import EncoderDecoder
from studies.ch04.teacher_forcing import train

FITTED, TESTED = 2000, 1000
LANGUAGE, MANY, HIDDEN, EPOCHS, BATCH_SIZE = "language of the source", 12_000, 256, 8, 128
SIZES = {"embedding_size": 32, "hidden_size": 128}
FILES = {
    "teacher forcing": "forced_teacher",
    "free running": "forced_free",
    "scheduled sampling": "forced_mixed",
}
RETRAINED = "teacher forcing, other seeds"
UNTRAINED = "untrained"


def nonlinear_share(vectors, labels, new_vectors, new_labels) -> float:
    """The share of new vectors (M, U) that a network with a hidden layer labels correctly.

    Args:
        vectors, labels: (N, U) and N labels, to which the network is fitted.
        new_vectors, new_labels: (M, U) and M labels.
    """
    names = sorted(set(labels))
    index, wanted = (
        torch.tensor([names.index(one) for one in some]) for some in (labels, new_labels)
    )
    center, scale = vectors.mean(0), vectors.std(0) + 1e-6
    fitted, new = ((some - center) / scale for some in (vectors, new_vectors))
    torch.manual_seed(0)
    width = vectors.shape[1]
    net = nn.Sequential(nn.Linear(width, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, len(names)))
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    for _ in range(EPOCHS):
        for chosen in torch.randperm(len(fitted)).split(BATCH_SIZE):
            loss = nn.functional.cross_entropy(net(fitted[chosen]), index[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    with torch.no_grad():
        return (net(new).argmax(1) == wanted).double().mean().item()


def labels_of(pairs) -> dict[str, list[str]]:
    """The labels of dates by property, with Chinese and Japanese as one language."""
    labels = date_labels(pairs)
    one_notation = ["zh" if label == "ja" else label for label in labels[LANGUAGE]]
    return {**labels, LANGUAGE: one_notation}


def run(setting: str, seed: int) -> dict:
    """The shares of correct labels of one encoder, by property."""
    network = shipped(FILES.get(setting, "forced_teacher"))
    model, source, target = network.model, network.source, network.target
    if setting == RETRAINED:
        model, source, target, _ = train("teacher", seed)
    if setting == UNTRAINED:
        torch.manual_seed(seed)
        sizes = len(source.vocabulary), len(target.vocabulary)
        model = EncoderDecoder(*sizes, score=None, **SIZES).eval()
    sides = []
    for split, size in (("validation", FITTED), ("test", TESTED), ("train", MANY)):
        pairs = dates(split, size)
        batch = collate(encode_pairs([(one.text, one.iso) for one in pairs], source, target))
        sides.append((contexts(model, batch), labels_of(pairs)))
    (fitted, labels), (new, wanted), (many, many_labels) = sides
    accuracies = {"nearest_mean": {}, "linear": {}, "most_frequent": {}}
    for name in labels:
        given = fitted, labels[name], new, wanted[name]
        accuracies["nearest_mean"][name] = nearest_mean_share(*given)
        accuracies["linear"][name] = linear_share(*given)
        accuracies["most_frequent"][name] = max(Counter(wanted[name]).values()) / TESTED
    asked = many, many_labels[LANGUAGE], new, wanted[LANGUAGE]
    accuracies["nonlinear"] = {LANGUAGE: nonlinear_share(*asked)}
    return accuracies


if __name__ == "__main__":
    Study("ch04/context_probe", run, (*FILES, RETRAINED, UNTRAINED)).main()
