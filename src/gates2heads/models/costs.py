"""What a prompt and a decoding step cost: the cache of keys and values, bytes, operations."""

import math
from typing import NamedTuple

from gates2heads.accepts import accepts, choice, instance, natural, positive

# Bits of one stored number. The scales that int8 and int4 need beside it are not counted.
BITS = {"float32": 32, "bf16": 16, "int8": 8, "int4": 4}
MOST_PARAMETERS = 10**15

_parameters = natural(least=0, most=MOST_PARAMETERS)
_number_format = choice(BITS)


class Configuration(NamedTuple):
    """The sizes of a decoder that decide what decoding costs."""

    name: str
    layers: int
    heads: int  # of queries
    kv_heads: int  # key-value heads (groups), a divisor of `heads`
    head_width: int
    max_length: int  # the longest context, in tokens
    window: int | None = None  # each position attends to at most this many
    parameters: int | None = None  # None if not known
    looked_up: int = 0  # those of `parameters` in tables of which a token needs one row
    source: str = ""


# The counts of parameters follow from the published sizes of all matrices; a test computes them.
# The number of heads of GPT-2 XL is that of the released model; the paper gives layers and width.
GPT2_XL = Configuration(
    "GPT-2 XL", 48, 25, 25, 64, 1024, None, 1_557_611_200, 1_638_400, "Radford et al. 2019"
)
LLAMA2_70B = Configuration(
    "Llama 2 70B", 80, 64, 8, 128, 4096, None, 68_976_648_192, 262_144_000, "Touvron et al. 2023b"
)
MISTRAL_7B = Configuration(
    "Mistral 7B", 32, 32, 8, 128, 8192, 4096, 7_241_732_096, 131_072_000, "Jiang et al. 2023"
)
PUBLISHED = (GPT2_XL, MISTRAL_7B, LLAMA2_70B)


class DecodingStep(NamedTuple):
    """One step of decoding, in which each sequence of a batch receives one token."""

    parameter_bytes: float  # read once, whatever the batch
    cache_bytes: int  # read, of all sequences together
    bytes_per_token: float  # read for each generated token
    macs_per_token: int  # multiply-accumulate operations for each generated token
    intensity: float  # multiply-accumulate operations for each byte read
    memory_seconds: float  # to read the bytes
    arithmetic_seconds: float  # for the operations; 0 if their rate is not given
    least_seconds: float  # the larger of the two


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
    layers=natural,
    kv_heads=natural,
    head_width=natural,
    length=natural,
    batch=natural,
    window=natural,
    number_format=_number_format,
)
def kv_cache_bytes(
    layers: int,
    kv_heads: int,
    head_width: int,
    length: int,
    *,
    batch: int = 1,
    window: int | None = None,
    number_format: str = "bf16",
) -> int:
    """Return the size of the keys and values that a decoder keeps.

    Source: Shazeer 2019 and Ainslie et al. 2023 for fewer key-value heads than query heads, Jiang
    et al. 2023 for the sliding window, of which older positions are overwritten.

    Args:
        layers: number of layers.
        kv_heads: key-value heads in each layer.
        head_width: entries of one key and of one value.
        length: tokens in the context of each sequence.
        batch: number of sequences.
        window: the most positions that one attends to; without a limit if None.
        number_format: "float32", "bf16", "int8" or "int4".

    Returns:
        The size in bytes: 2 · layers · kv_heads · head_width · min(length, window) · batch numbers,
        each of `BITS[number_format]` / 8 bytes.
    """
    kept = length if window is None else min(length, window)
    return 2 * layers * kv_heads * head_width * kept * batch * BITS[number_format] // 8


@accepts(layers=natural, heads=natural, kv_heads=natural, head_width=natural)
def stack_parameters(layers: int, heads: int, kv_heads: int, head_width: int) -> int:
    """Estimate the parameters of a stack whose feed-forward layers are four times its width.

    Embeddings, biases and norms are left out. Gated feed-forward layers of 8/3 times the width,
    as in Shazeer 2020, have as many parameters.

    Args:
        layers: number of layers.
        heads: query heads in each layer.
        kv_heads: key-value heads in each layer.
        head_width: entries of one head; the width of the model is heads · head_width.

    Returns:
        The number of weights in the matrices of all layers.
    """
    width = heads * head_width
    return layers * (2 * width * width + 2 * width * kv_heads * head_width + 8 * width * width)


@accepts(
    parameters=_parameters,
    cache_bytes=natural(least=0, most=10**18),
    batch=natural,
    number_format=_number_format,
)
def decoding_bytes(
    parameters: int, cache_bytes: int, *, batch: int = 1, number_format: str = "bf16"
) -> float:
    """Return the bytes that are read for each generated token.

    A step reads every parameter once and the whole cache, and generates one token for each
    sequence of the batch.

    Args:
        parameters: that the step reads.
        cache_bytes: size of the cache of all sequences together.
        batch: number of sequences.
        number_format: of the parameters.

    Returns:
        The bytes read in one step, divided by the batch.
    """
    return (parameters * BITS[number_format] / 8 + cache_bytes) / batch


@accepts(
    parameters=_parameters,
    layers=natural,
    heads=natural,
    head_width=natural,
    length=natural,
    window=natural,
)
def decoding_macs(
    parameters: int,
    layers: int,
    heads: int,
    head_width: int,
    length: int,
    *,
    window: int | None = None,
) -> int:
    """Count the multiply-accumulate operations for one generated token.

    Args:
        parameters: in matrices, each of which is multiplied once.
        layers: number of layers.
        heads: query heads in each layer.
        head_width: entries of one head.
        length: tokens in the context.
        window: the most positions that one attends to; without a limit if None.

    Returns:
        One operation for each parameter and, for each head and position in reach, `head_width`
        for the score and as many for the weighted sum.
    """
    reached = length if window is None else min(length, window)
    return parameters + 2 * layers * heads * head_width * reached


@accepts(
    model=instance(Configuration),
    length=natural,
    batch=natural,
    number_format=_number_format,
    bandwidth=positive,
    arithmetic=positive,
)
def decoding_step(
    model: Configuration,
    length: int,
    *,
    batch: int = 1,
    number_format: str = "bf16",
    bandwidth: float = 100.0,
    arithmetic: float | None = None,
) -> DecodingStep:
    """Return the costs of one step of decoding with a cache.

    Args:
        model: its sizes; where `parameters` is None, `stack_parameters` estimates them.
        length: tokens in the context of each sequence.
        batch: number of sequences.
        number_format: of the parameters and of the cache.
        bandwidth: of the memory, in gigabytes (10⁹ bytes) a second.
        arithmetic: trillions (10¹²) of multiply-accumulate operations a second, if they count too.

    Returns:
        Bytes, operations, their ratio and the least time, without activations: that for reading or,
        if longer, that for the operations (the roofline model, Williams et al. 2009).
    """
    read = _read_parameters(model)
    shared = {"batch": batch, "number_format": number_format}
    cache = kv_cache_bytes(
        model.layers, model.kv_heads, model.head_width, length, window=model.window, **shared
    )
    bytes_ = decoding_bytes(read, cache, **shared)
    sizes = (model.layers, model.heads, model.head_width)
    macs = decoding_macs(read, *sizes, length, window=model.window)
    memory = bytes_ * batch / (bandwidth * 1e9)
    operations = macs * batch / (arithmetic * 1e12) if arithmetic else 0.0
    seconds = (memory, operations, max(memory, operations))
    parameters = read * BITS[number_format] / 8
    return DecodingStep(parameters, cache, bytes_, macs, macs / bytes_, *seconds)


@accepts(
    model=instance(Configuration),
    length=natural,
    hidden=natural,
    batch=natural,
    query_block=natural,
    number_format=_number_format,
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
    read, attention_macs = _read_parameters(model), 2 * pairs * model.head_width
    macs = positions * read + attention_macs
    moved = read * one + activations + keys_and_values + scores
    counts = (macs, attention_macs, macs / moved)
    return Prefill(read * one, activations, keys_and_values, scores, *counts)


def _read_parameters(model: Configuration) -> int:
    sizes = (model.layers, model.heads, model.kv_heads, model.head_width)
    known = stack_parameters(*sizes) if model.parameters is None else model.parameters
    return known - model.looked_up
