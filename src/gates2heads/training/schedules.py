"""Learning-rate schedules: functions from the step to the fraction of the peak rate."""

import math
from collections.abc import Callable

from gates2heads.accepts import accepts, fraction, natural


@accepts(total=natural, warmup=natural(least=0), decay=fraction)
def warmup_linear(total: int, *, warmup: int = 0, decay: float = 1.0) -> Callable[[int], float]:
    """Linear warm-up, constant peak rate, and linear decay to zero at the end.

    Args:
        total: number of training steps.
        warmup: steps of the warm-up.
        decay: fraction of the training, at its end, with decay; 0 means no decay.

    Returns:
        A function of the step (0 to total − 1) for `torch.optim.lr_scheduler.LambdaLR`.

    Raises:
        ValueError: warm-up and decay overlap.
    """
    falling = decay * total
    if warmup > total - falling:
        raise ValueError(
            f"warmup must lie between 0 and the {total - falling:.0f} steps before the fall, "
            f"got {warmup}"
        )

    def factor(step: int) -> float:
        if step < warmup:
            return (step + 1) / warmup
        return min(1.0, max(0, total - step) / falling) if falling else 1.0

    return factor


@accepts(total=natural, warmup=natural(least=0))
def warmup_cosine(total: int, *, warmup: int = 0) -> Callable[[int], float]:
    """Linear warm-up, then cosine decay to zero.

    Source: Loshchilov and Hutter 2017, "SGDR", eq. 5, without restarts.

    Args:
        total: number of training steps.
        warmup: steps of the warm-up, fewer than `total`.

    Returns:
        A function of the step (0 to total − 1) for `torch.optim.lr_scheduler.LambdaLR`.

    Raises:
        ValueError: the warm-up leaves no step for the decay.
    """
    if warmup >= total:
        raise ValueError(f"warmup must be below total, {total}, got {warmup}")

    def factor(step: int) -> float:
        if step < warmup:
            return (step + 1) / warmup
        fallen = min(1.0, (step - warmup) / (total - warmup))
        return 0.5 * (1 + math.cos(math.pi * fallen))

    return factor
