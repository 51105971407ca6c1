"""What a decoding step costs: the cache of keys and values, bytes, operations, time."""

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


class LeastTime(NamedTuple):
    """The least time of an operation that reads while it calculates (Williams et al. 2009)."""

    memory: float  # seconds to read the bytes
    arithmetic: float  # seconds for the operations; 0 if their rate is not given

    @property
    def seconds(self) -> float:
        """The longer of the two."""
        return max(self)


class DecodingStep(NamedTuple):
    """One step of decoding, in which each sequence of a batch receives one token."""

    parameter_bytes: float  # read once, whatever the batch
    cache_bytes: int  # read, of all sequences together
    bytes_per_token: float  # read for each generated token
    macs_per_token: int  # multiply-accumulate operations for each generated token
    intensity: float  # multiply-accumulate operations for each byte read
    products: LeastTime  # the products with the parameters
    attention: LeastTime  # queries with the keys, and weights with the values, of the cache
    least_seconds: float  # of products and attention, which follow each other


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
        Bytes, operations, their ratio and the least time, without activations. Products and
        attention follow each other in every layer, so that their least times add up.
    """
    read = read_parameters(model)
    shared = {"batch": batch, "number_format": number_format}
    cache = kv_cache_bytes(
        model.layers, model.kv_heads, model.head_width, length, window=model.window, **shared
    )
    bytes_ = decoding_bytes(read, cache, **shared)
    sizes = (model.layers, model.heads, model.head_width)
    macs = decoding_macs(read, *sizes, length, window=model.window)
    parameters = read * BITS[number_format] / 8

    def least(read_bytes: float, operations: int) -> LeastTime:
        calculated = operations * batch / (arithmetic * 1e12) if arithmetic else 0.0
        return LeastTime(read_bytes / (bandwidth * 1e9), calculated)

    products, attention = least(parameters, read), least(cache, macs - read)
    times = (products, attention, products.seconds + attention.seconds)
    return DecodingStep(parameters, cache, bytes_, macs, macs / bytes_, *times)


def read_parameters(model: Configuration) -> int:
    """Return the parameters that a pass reads: all but the rows that are looked up."""
    sizes = (model.layers, model.heads, model.kv_heads, model.head_width)
    known = stack_parameters(*sizes) if model.parameters is None else model.parameters
    return known - model.looked_up
