"""Two tables of probabilities on which greedy search misses the better sequence.

Greedy search writes A, B, C, <eos> with 0.5 · 0.4 · 0.4 · 0.6 = 0.048. Whoever writes C at step 2,
the less likely token there, finds a distribution after it in which A, C, B, <eos> has
0.5 · 0.3 · 0.6 · 0.6 = 0.054.

Source: the slides 《机器学习基础》, [S1] of the book's source map, under 贪婪搜索; they follow
Zhang et al. 2023, section 10.8. The slides show two ways through the tables. That the second holds
after C at step 2, whatever stands before it, is ours.
"""

import torch
from torch import Tensor

from gates2heads.accepts import accepts, whole

NAMES = ("A", "B", "C", "<eos>")
A, B, C, EOS, BOS = range(5)
STEPS = 4
# Rows: A, B, C, <eos>; columns: what each has at steps 1 to 4.
TABLE = ((0.5, 0.1, 0.2, 0.0), (0.2, 0.4, 0.2, 0.2), (0.2, 0.3, 0.4, 0.2), (0.1, 0.2, 0.2, 0.6))
AFTER_C = ((0.5, 0.1, 0.1, 0.1), (0.2, 0.4, 0.6, 0.2), (0.2, 0.3, 0.2, 0.1), (0.1, 0.2, 0.1, 0.6))

START = (0, torch.tensor([False]))  # no step is done, and no C written at step 2


@accepts(last_tokens=whole("B"))
def two_tables(state: tuple[int, Tensor], last_tokens: Tensor) -> tuple[Tensor, tuple[int, Tensor]]:
    """A step function; the second table holds from step 3 on, where C was written at step 2.

    Args:
        state: how many of the four steps are done, and in which sequences C was written (B,);
            `START` at first.
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
