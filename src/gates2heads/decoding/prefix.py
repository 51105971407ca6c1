"""A forced prefix of the output, after which the search is unconstrained.

At each of the first P steps only one token is allowed. It keeps the log-probability that the model
gives it, so that a forced sequence is scored like any other and can be compared with the result of
an unconstrained search.

Greedy search with a prefix of its own output generates the same output. A beam has all of its slots
below the prefix, and may therefore find another continuation of a prefix of its own output.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from gates2heads.accepts import listed, natural


def only(log_probs: Tensor, forced: Tensor) -> Tensor:
    """Set the probability of all tokens but the forced one of each row to zero.

    Args:
        log_probs: (R, V), in nats.
        forced: (R,) long.

    Returns:
        log_probs (R, V), not renormalised: the forced token keeps its own.
    """
    barred = torch.ones_like(log_probs, dtype=torch.bool).scatter(1, forced[:, None], False)
    return log_probs.masked_fill(barred, -torch.inf)


def forced_tokens(
    prefix: Tensor | Sequence[int] | None, last: Tensor, *, eos: int | None, max_length: int
) -> Tensor:
    """The P forced tokens of each source, (B, P) long; P is 0 where nothing is forced.

    Args:
        prefix: (B, P) long; or a list of P numbers, the same for every source; or None.
        last: (B,), the tokens to begin with.
        eos: allowed at the end of a prefix only.
        max_length: the maximum number of generated tokens, those of the prefix included.

    Raises:
        TypeError, ValueError: the prefix contains values other than tokens, does not have one row
            for each source, is longer than `max_length`, or continues after `eos`.
    """
    if prefix is None:
        return last.new_zeros(len(last), 0)
    if not isinstance(prefix, Tensor):
        prefix = _listed(prefix).to(last.device).expand(len(last), -1)
    if prefix.dtype not in (torch.long, torch.int) or prefix.dim() != 2:
        raise ValueError(
            "prefix must be a list of token numbers, or a tensor (B, P) of them, got "
            f"{prefix.dtype} of shape {tuple(prefix.shape)}"
        )
    if len(prefix) != len(last):
        raise ValueError(
            f"prefix must have one row for each source, {len(last)}, got {len(prefix)}"
        )
    if prefix.shape[1] > max_length:
        raise ValueError(
            f"prefix must be at most max_length={max_length} long, got {len(prefix[0])}"
        )
    if eos is not None and (prefix[:, :-1] == eos).any():
        raise ValueError(f"prefix must not go on after eos={eos}")
    if (prefix < 0).any():
        raise ValueError(f"prefix must hold token numbers from 0, got {int(prefix.min())}")
    return prefix.long()


def check_known(prefix: Tensor, size: int) -> None:
    """Reject a prefix (B, P) with tokens that the step function does not score.

    Raises:
        ValueError: a token is not among the `size` = V.
    """
    if prefix.numel() and prefix.max() >= size:
        raise ValueError(
            f"prefix must hold some of the {size} tokens that step scores, got {int(prefix.max())}"
        )


def _listed(prefix: Sequence[int]) -> Tensor:
    """A list of whole numbers as (1, P) long."""
    listed("token numbers").check("prefix", prefix)
    tokens = list(prefix)
    for place, token in enumerate(tokens):
        natural(least=0).check(f"prefix[{place}]", token)
    return torch.tensor([[int(token) for token in tokens]], dtype=torch.long)
