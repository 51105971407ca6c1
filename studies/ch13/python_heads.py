"""Induction heads in the released language model of Python source. Section 13.2 shows the results.

    python -m studies.ch13.python_heads "random tokens" "test code" --seeds 0 1 2 3 4
    python -m studies.ch13.python_heads --table

Nothing is trained. The model reads 100 tokens twice, in 32 sequences. A setting is the kind of
tokens: different random tokens, or passages of the test modules; the seed samples them. `whole` and
`without` hold the loss of the first half and of the second half in nats per token, and the accuracy
in the second half, for the whole model and with each head switched off. `without_best` switches off
the three heads with the largest prefix-matching scores together, `without_others` three other heads
of the same layers.
"""

import torch

from gates2heads.book.ch12.python_text import python_text
from gates2heads.book.ch13.induction import head_scores, scores, scores_without
from gates2heads.book.ch13.repeats import random_twice, twice
from gates2heads.book.studies import Study
from gates2heads.browser.engine.rebuild import shipped
from gates2heads.data.batches.passages import passages

MODEL, SEQUENCES, TOKENS, BEST = "python_llama", 32, 100, 3


def run(setting: str, seed: int) -> dict:
    """Measure all heads on one sample of tokens."""
    torch.set_num_threads(1)
    model = shipped(MODEL).model
    if setting == "random tokens":
        found = random_twice(SEQUENCES, TOKENS, model.vocabulary_size, seed=seed)
    else:
        text = python_text("test").tokens
        found = twice(next(passages(text, SEQUENCES, length=TOKENS - 1, seed=seed)))
    summary = head_scores(model, found)
    order = sorted(range(len(summary.heads)), key=summary.prefix_matching.__getitem__, reverse=True)
    best = [summary.heads[number] for number in order[:BEST]]
    last = [summary.heads[number] for number in order[::-1]]
    others = []
    for head in best:  # the lowest score in the same layer
        others.append(next(o for o in last if o.layer == head.layer and o not in others))
    return {
        "heads": [list(head) for head in summary.heads],
        "prefix_matching": summary.prefix_matching,
        "previous": summary.previous,
        "whole": scores(model, found)._asdict(),
        "without": [list(scores_without(model, found, [head])) for head in summary.heads],
        "best": [list(head) for head in best],
        "others": [list(head) for head in others],
        "without_best": scores_without(model, found, best)._asdict(),
        "without_others": scores_without(model, found, others)._asdict(),
    }


if __name__ == "__main__":
    Study("ch13/python_heads", run, ["random tokens", "test code"]).main()
