"""Two probability tables on which greedy search misses the more probable sequence.

Greedy search generates A, B, C, <eos> with 0.5 · 0.4 · 0.4 · 0.6 = 0.048. After C at step 2, the
less probable token there, the distributions differ, and A, C, B, <eos> has 0.5 · 0.3 · 0.6 · 0.6 =
0.054.

Source: the slides 《机器学习基础》, [S1] of the book's source map, under 贪婪搜索; they follow
Zhang et al. 2023, section 10.8. The slides show two paths through the tables. Applying the second
after C at step 2 for every first token is an addition.
"""

import torch
from torch import Tensor

from gates2heads.accepts import accepts, whole

NAMES = ("A", "B", "C", "<eos>")
A, B, C, EOS, BOS = range(5)
STEPS = 4
# Rows: A, B, C, <eos>; columns: the probabilities at steps 1 to 4.
TABLE = ((0.5, 0.1, 0.2, 0.0), (0.2, 0.4, 0.2, 0.2), (0.2, 0.3, 0.4, 0.2), (0.1, 0.2, 0.2, 0.6))
AFTER_C = ((0.5, 0.1, 0.1, 0.1), (0.2, 0.4, 0.6, 0.2), (0.2, 0.3, 0.2, 0.1), (0.1, 0.2, 0.1, 0.6))

START = (0, torch.tensor([False]))  # before the first step, without C at step 2


@accepts(last_tokens=whole("B"))
def two_tables(state: tuple[int, Tensor], last_tokens: Tensor) -> tuple[Tensor, tuple[int, Tensor]]:
    """A step function; the second table applies from step 3 on, if C was generated at step 2.

    Args:
        state: the number of completed steps, and the sequences with C at step 2 (B,); `START` at
            first.
        last_tokens: (B,) long.

    Returns:
        log_probs (B, 4) in double precision, and the next state.

    Raises:
        ValueError: all four steps are done.
    """
    step, after_c = state
    if step >= STEPS:
        raise ValueError(f"state must be before step {STEPS}, the last of the tables, got {step}")
    after_c = after_c | (last_tokens == C) if step == 2 else after_c
    tables = torch.tensor([TABLE, AFTER_C], dtype=torch.double)
    return tables[after_c.long(), :, step].log(), (step + 1, after_c)
