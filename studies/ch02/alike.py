"""Do all vectors become alike at the beginning of training? For sections 2.6 and 2.10.

    python -m studies.ch02.alike --seeds 0 1 2 3 4
    python -m studies.ch02.alike --table

Early in training, all input vectors have nearly the same direction. Is this phase a property of
negative sampling, or of its settings? The data are 1,000 sentences of the language of 28 words. The
model is skip-gram with eight dimensions, trained with the loop of section 2.6, Adam with a learning
rate of 0.01, for four epochs. A setting changes the number of noise words or the initial vectors.
By default, the input vectors are uniform in ±1/(2D) and the output vectors are 0; in the settings
"initial vectors of …", both are normal with the given standard deviation and trained for twelve
epochs.

`before`, `largest`, `halfway` and `end` are mean cosines between the input vectors of the 20 words
of the five categories: before training, the maximum over training (measured at every tenth step),
after half of the epochs, and at the end. `correct_halfway` and `correct` count, among the 60
nearest neighbours (three for each word), those that belong to the category of their word.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from gates2heads.book.ch02.small_language import kinds_of, small_language
from gates2heads.book.studies import Study
from gates2heads.data.batches.windows import join_sentences, windows
from gates2heads.data.tokens.words import WordVocabulary

WIDTH, SENTENCES, WINDOW, BATCH, RATE, EVERY = 8, 1000, 2, 64, 0.01, 10
NEAREST = 3  # neighbours of each word
SETTINGS = {
    "five noise words": {},
    "two noise words": {"negatives": 2},
    "one noise word": {"negatives": 1},
    "initial vectors of 0.3": {"spread": 0.3, "epochs": 12},
    "initial vectors of 1": {"spread": 1.0, "epochs": 12},
}


def mean_cosine(unit: Tensor) -> float:
    """The mean cosine of two different rows of unit vectors (n, D)."""
    size = len(unit)
    return float(((unit @ unit.T).sum() - size) / (size * (size - 1)))


def correct_neighbours(v: Tensor, kinds: Tensor) -> int:
    """How many of the nearest neighbours of the words (n, 4) belong to the category of the word."""
    words, unit = kinds.flatten(), F.normalize(v, dim=1)
    near = (unit @ unit.T).fill_diagonal_(-2)[words].topk(NEAREST).indices  # (4n, 3)
    kind_of = torch.full((len(v),), -1)
    kind_of[words] = torch.arange(len(kinds)).repeat_interleave(kinds.shape[1])
    return int((kind_of[near] == kind_of[words][:, None]).sum())


def run(setting: str, seed: int) -> dict:
    """Train one setting, and watch the cosines."""
    chosen = {"negatives": 5, "spread": None, "epochs": 4} | SETTINGS[setting]
    sentences = small_language(SENTENCES)
    vocabulary = WordVocabulary.from_texts(sentences)
    text = join_sentences([vocabulary.encode(words) for words in sentences])
    kinds = torch.tensor(kinds_of(vocabulary))  # (5, 4)
    words, size = kinds.flatten(), len(vocabulary)
    torch.manual_seed(seed)
    if chosen["spread"] is None:
        v, u = (torch.rand(size, WIDTH) - 0.5) / WIDTH, torch.zeros(size, WIDTH)
    else:
        v, u = (chosen["spread"] * torch.randn(size, WIDTH) for _ in range(2))
    v.requires_grad_(), u.requires_grad_()
    noise, negatives = vocabulary.counts**0.75, chosen["negatives"]
    optimizer = torch.optim.Adam([v, u], lr=RATE)
    cosines, step = [mean_cosine(F.normalize(v.detach()[words], dim=1))], 0
    correct = []  # neighbours, after each epoch
    at_ends = []  # mean cosines, after each epoch
    for epoch in range(chosen["epochs"]):
        for batch in windows(text, window=WINDOW, batch_size=BATCH, seed=epoch):
            row, column = batch.mask.nonzero(as_tuple=True)
            c, o = batch.center[row], batch.context[row, column]
            k = torch.multinomial(noise, negatives * len(c), True).view(-1, negatives)
            right = (u[o] * v[c]).sum(1)
            wrong = (u[k] @ v[c][:, :, None])[:, :, 0]
            loss = -F.logsigmoid(right) - F.logsigmoid(-wrong).sum(1)
            optimizer.zero_grad()
            loss.mean().backward()
            optimizer.step()
            step += 1
            if step % EVERY == 0:
                cosines.append(mean_cosine(F.normalize(v.detach()[words], dim=1)))
        at_ends.append(mean_cosine(F.normalize(v.detach()[words], dim=1)))
        correct.append(correct_neighbours(v.detach(), kinds))
    return {
        "negatives": negatives,
        "epochs": chosen["epochs"],
        "before": cosines[0],
        "largest": max(cosines),
        "halfway": at_ends[chosen["epochs"] // 2 - 1],
        "end": cosines[-1],
        "correct_halfway": correct[chosen["epochs"] // 2 - 1],
        "correct": correct[-1],
        "of": NEAREST * len(words),
    }


STUDY = Study("ch02/alike", run, list(SETTINGS))

if __name__ == "__main__":
    torch.set_num_threads(1)
    STUDY.main()
