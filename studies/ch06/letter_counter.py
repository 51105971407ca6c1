"""A counter of letters, correct or with one bug. Section 6.8 shows the results.

    python -m studies.ch06.letter_counter --seeds 0 1 2 3 4 5
    python -m studies.ch06.letter_counter --table

`first` and `last` are the loss at the first step and over the last ten steps, `accuracy` is that on
500 new strings. `least` and `most` are the smallest and the largest sum of the attention weights of
a query. `shuffled` and `hidden` are mean changes of the log-probabilities: after the letters have
been shuffled, and at the other letters after a masked letter has been replaced.
"""

import torch

from gates2heads.book.ch06.faulty import LENGTH, LETTERS, Counter, counted, counting_loss, texts
from gates2heads.book.studies import Study
from gates2heads.layers.record import record
from gates2heads.training.loop import fit

SETTINGS = ("correct", "bug")
STEPS, BATCH_SIZE, RATE, TESTED = 500, 64, 3e-3, 500


@torch.no_grad()
def symptoms(counter: Counter, text: torch.Tensor) -> dict:
    """Three measurements of a trained counter."""
    with record(counter) as trace:
        before = counter(text).log_softmax(-1)
    sums = trace["attention"]["weights"][0].sum(-1)
    order = torch.randperm(LENGTH, generator=torch.Generator().manual_seed(0))
    shuffled = counter(text[:, order]).log_softmax(-1) - before[:, order]
    mask = torch.ones_like(text, dtype=torch.bool)
    mask[:, -1] = False
    other = text.clone()
    other[:, -1] = (other[:, -1] + 1) % LETTERS
    one, two = (counter(each, mask=mask).log_softmax(-1)[:, :-1] for each in (text, other))
    return {
        "least": sums.min().item(),
        "most": sums.max().item(),
        "shuffled": shuffled.abs().mean().item(),
        "hidden": (one - two).abs().mean().item(),
    }


def run(setting: str, seed: int) -> dict:
    """Train one counter and measure its symptoms."""
    torch.manual_seed(seed)
    counter = Counter(faulty=setting == "bug")
    history = fit(
        counter,
        texts(BATCH_SIZE, seed=seed),
        steps=STEPS,
        loss=counting_loss,
        learning_rate=RATE,
        description=f"{setting}, seed {seed}",
    )
    counter.eval()
    text = next(texts(TESTED, seed=10**6 + seed))
    with torch.no_grad():
        right = (counter(text).argmax(-1) == counted(text)).double().mean().item()
    return {
        "first": history.loss[0],
        "last": sum(history.loss[-10:]) / 10,
        "accuracy": right,
        **symptoms(counter, text),
    }


if __name__ == "__main__":
    Study("ch06/letter_counter", run, SETTINGS).main()
