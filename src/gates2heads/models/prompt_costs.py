"""What it costs to read a prompt in one pass: bytes, operations."""

import math
from typing import NamedTuple

from gates2heads.accepts import accepts, choice, instance, natural
from gates2heads.models.costs import BITS, Configuration, read_parameters


class Prefill(NamedTuple):
    """One pass over a prompt, all of whose positions are computed in parallel."""

    parameter_bytes: float  # read once, whatever the number of positions
    activation_bytes: float  # what the products read and write besides what the other fields hold
    kv_bytes: float  # keys and values that the attention reads
    score_bytes: float  # scores and weights of the attention, written and read
    macs: int  # multiply-accumulate operations for all positions
    attention_macs: int  # those of `macs` for scores and weighted sums
    intensity: float  # multiply-accumulate operations for each byte read or written


@accepts(
    model=instance(Configuration),
    length=natural,
    hidden=natural,
    batch=natural,
    query_block=natural,
    number_format=choice(BITS),
)
def prefill(
    model: Configuration,
    length: int,
    *,
    hidden: int,
    batch: int = 1,
    query_block: int | None = None,
    number_format: str = "bf16",
) -> Prefill:
    """Return the costs of reading a prompt in one pass, with gated feed-forward sublayers.

    Every matrix product reads its two operands and writes its result once; what is between the
    products (norms, activation functions, residual connections) is taken to cost no traffic. The
    T × T scores of the attention are computed for all pairs, those that the causal mask excludes
    included. The output projection is counted at every position, as in training.

    Source: Dao et al. 2022 for the traffic of the attention with its scores, Dao 2023 for that in
    blocks of queries.

    Args:
        model: its sizes; where `parameters` is None, `stack_parameters` estimates them.
        length: tokens in the prompt of each sequence, T.
        hidden: width of the three matrices of a feed-forward sublayer.
        batch: number of sequences.
        query_block: the attention stores no scores, as FlashAttention: for each block of so many
            queries, every query head reads all keys and values of its sequence. If None, they are
            read once, and scores and weights are written and read again.
        number_format: of the parameters and of the activations.

    Returns:
        Bytes, operations and their ratio. A window does not change them.
    """
    width, shared = model.heads * model.head_width, model.kv_heads * model.head_width
    positions, one = batch * length, BITS[number_format] / 8
    # Queries, keys, values and output; gate, up and down: their inputs, then their outputs
    linear = (4 * width + 2 * width + hidden) + (2 * width + 2 * shared + 2 * hidden + width)
    attention = 2 * width  # reads queries and writes the mixture
    activations = model.layers * positions * (linear + attention) * one
    pairs = model.layers * model.heads * positions * length
    if query_block is None:
        times, scores = model.kv_heads, 4 * pairs * one
    else:
        times, scores = model.heads * math.ceil(length / query_block), 0.0
    keys_and_values = 2 * model.layers * positions * model.head_width * times * one
    read, attention_macs = read_parameters(model), 2 * pairs * model.head_width
    macs = positions * read + attention_macs
    moved = read * one + activations + keys_and_values + scores
    counts = (macs, attention_macs, macs / moved)
    return Prefill(read * one, activations, keys_and_values, scores, *counts)
