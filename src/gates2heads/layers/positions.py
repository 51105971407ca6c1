"""Positional encodings: attention ignores order, so positions are added to its input."""

import torch
from torch import Tensor, nn

from gates2heads.accepts import accepts, anything, choice, floats, natural, positive

BASE = 10000.0  # of the wavelengths, in Vaswani et al. 2017


@accepts(positions=anything(), size=natural)
def sinusoids(positions: Tensor, size: int) -> Tensor:
    """Sinusoids of geometrically growing wavelength at the given positions.

    Source: Vaswani et al. 2017, section 3.5: dimension 2i is sin(p / 10000^(2i/D)), dimension
    2i + 1 its cosine. Departs from it in allowing an odd width, whose last dimension is a sine.

    Args:
        positions: (…) numbers p, not necessarily whole.
        size: width D.

    Returns:
        (…, D), of the dtype of the positions, or of torch's default one if they are whole.
    """
    whole = not positions.is_floating_point()
    return _waves(positions, size).to(torch.get_default_dtype() if whole else positions.dtype)


@accepts(vectors=floats("B H L D"), start=natural(least=0), scale=positive, base=positive)
def rotate(vectors: Tensor, *, start: int = 0, scale: float = 1.0, base: float = BASE) -> Tensor:
    """Rotate each vector by angles proportional to its position.

    The product of a rotated query and a rotated key depends on their distance and not on their
    absolute positions. Position p rotates the plane of dimensions i and i + D/2 by p /
    base^(2i/D).

    Source: Su et al. 2021, section 3.2.2, eq. 34. Departs from it in the planes, which there are of
    dimensions 2i and 2i + 1; with learned projections the two are equivalent.

    Args:
        vectors: (B, H, L, D) float, D even.
        start: the position of the first.
        scale: factor on every position. A factor of L / L' maps L' positions into the first L:
            *position interpolation* (Chen et al. 2023, section 2.3, eq. 4).
        base: a larger one turns the slow planes more slowly; models for long texts have one.

    Returns:
        (B, H, L, D); the norms are unchanged.

    Raises:
        ValueError: D is odd.
    """
    places, size = _places(vectors, start), vectors.shape[-1]
    if not size or size % 2:
        raise ValueError(f"vectors must have an even width to be turned in planes, got {size}")
    angles = scale * _angles(places, size, base)  # (L, D/2)
    sines, cosines = angles.sin().to(vectors.dtype), angles.cos().to(vectors.dtype)
    left, right = vectors.chunk(2, dim=-1)  # (B, H, L, D/2) each
    return torch.cat([left * cosines - right * sines, left * sines + right * cosines], dim=-1)


@accepts(num_heads=natural)
def alibi_slopes(num_heads: int) -> Tensor:
    """Slopes 2^(-8h/H) of ALiBi, one for each head h = 1, …, H.

    Source: Press et al. 2022, section 3. Departs from the authors' program in using this formula
    for every H; for an H that is not a power of two, they use slopes of two neighbouring powers.

    Args:
        num_heads: H.

    Returns:
        (H,) float, falling from 2^(-8/H) to 2^-8.
    """
    heads = torch.arange(1, num_heads + 1)  # (H,)
    return 2.0 ** (-8 * heads / num_heads)


@accepts(num_heads=natural, length=natural)
def alibi_bias(num_heads: int, length: int) -> Tensor:
    """Bias that ALiBi adds to the scores of a causal model: -slope · (i - j) for key j ≤ query i.

    Source: Press et al. 2022, section 3. Keys after the query get the bias 0; the causal mask
    removes them.

    Args:
        num_heads: H.
        length: S, positions of queries and keys.

    Returns:
        (H, S, S) float: heads, queries, keys.
    """
    positions = torch.arange(length)  # (S,)
    distances = (positions[:, None] - positions).clamp_min(0)  # (S, S), i - j
    return -alibi_slopes(num_heads)[:, None, None] * distances


def _angles(positions: Tensor, size: int, base: float = BASE) -> Tensor:
    """Angles p / base^(2i/D) of positions p (…), one for each pair i of D: (…, ⌈D/2⌉).

    They are large where their sines are small: at p = 100,000 in single precision a sine would be
    wrong in its third digit. So they are in double precision, and only the result is rounded.
    """
    device = positions.device
    precise = torch.float32 if device.type == "mps" else torch.float64  # mps has no float64
    pairs = torch.arange(0, size, 2, dtype=precise, device=device)  # (⌈D/2⌉,)
    return positions[..., None].to(precise) * base ** (-pairs / size)


def _waves(positions: Tensor, size: int) -> Tensor:
    """The sines and cosines of all angles alternately, (…, D), in the precision of the angles."""
    angles = _angles(positions, size)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)[..., :size]


def _places(vectors: Tensor, start: int) -> Tensor:
    """The positions (L,) of vectors (…, L, D), the first of which is at `start`."""
    return torch.arange(start, start + vectors.shape[-2], device=vectors.device)


@accepts(size=natural, join=choice(("add", "concatenate")))
class Positions(nn.Module):
    """Join each vector with the vector of its position, by adding or by concatenating.

    To concatenate and then project is to project each and add: W [x; p] = W_x x + W_p p. Adding x +
    p is the case W_x = W_p.

    Args:
        size: width of the position vectors.
        join: "add" (the vectors must be as wide) or "concatenate".
    """

    def __init__(self, size: int, join: str = "add"):
        super().__init__()
        self.size, self.join = size, join

    def encode(self, positions: Tensor) -> Tensor:
        """Vectors (L, size) of the positions (L,), whole numbers from 0."""
        raise NotImplementedError(f"{type(self).__name__} must say how it encodes positions")

    @accepts(vectors=floats("B L D"), start=natural(least=0))
    def forward(self, vectors: Tensor, *, start: int = 0) -> Tensor:
        """Join vectors (B, L, D) with the vectors of the positions from `start` on.

        Returns:
            (B, L, D) where they are added, (B, L, D + size) where they are concatenated.

        Raises:
            ValueError: the vectors are too wide or too long.
        """
        if self.join == "add" and vectors.shape[2] != self.size:
            raise ValueError(f"vectors must be {self.size} wide, got {vectors.shape[2]}")
        encoded = self.encode(_places(vectors, start)).to(vectors.dtype)  # (L, size)
        if self.join == "add":
            return vectors + encoded
        return torch.cat([vectors, encoded.expand(len(vectors), -1, -1)], dim=-1)


class SinusoidalPositions(Positions):
    """Sinusoidal encodings; see `sinusoids`. Nothing is learned, and the length is unlimited."""

    def encode(self, positions: Tensor) -> Tensor:
        """Vectors (L, size) of the positions (L,), in double precision."""
        return _waves(positions, self.size)


@accepts(max_length=natural)
class LearnedPositions(Positions):
    """Learned positional embeddings, one row per position.

    Source: Gehring et al. 2017, section 3.1; Vaswani et al. 2017, table 3, row (E).

    Args:
        max_length: the number of positions.
        size: width of the position vectors.
        join: "add" or "concatenate".
    """

    def __init__(self, max_length: int, size: int, join: str = "add"):
        super().__init__(size, join)
        self.table = nn.Parameter(torch.empty(max_length, size))
        nn.init.normal_(self.table, std=size**-0.5)

    def encode(self, positions: Tensor) -> Tensor:
        """Vectors (L, size) of the positions (L,).

        Raises:
            ValueError: a position is beyond the table.
        """
        last = 0 if not len(positions) or positions.is_meta else int(positions[-1])
        if last >= len(self.table):
            raise ValueError(
                f"vectors must end within {len(self.table)} positions, got position {last}"
            )
        return self.table[positions]
