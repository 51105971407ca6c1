"""Negative sampling on blocks of text: one matrix product for many pairs, explicit gradients."""

import torch
import torch.nn.functional as F
from torch import Tensor

SHARED = 16  # noise words per block; fewer are faster, but update fewer vectors


class RowAdagrad:
    """Adagrad with one step size per row: lr / sqrt(sum over steps of the row's mean square).

    A frequent word gets many gradients in one batch, a rare one few. With one learning rate for
    all, frequent words diverge before rare words are learned.

    Source: Duchi et al. 2011, section 1.1. Departs from it in that the D entries of a row share one
    sum, so that the state is one number per word.

    Args:
        weight: (V, D), changed in place.
    """

    def __init__(self, weight: Tensor):
        self.weight = weight
        self.squares = torch.full_like(weight[:, 0], 1e-6)

    def look_up(self, rows: Tensor) -> Tensor:
        """The rows (…, D) of numbers (…)."""
        return F.embedding(rows, self.weight)

    def step(self, rows: Tensor, gradient: Tensor, rate: float) -> None:
        """Add up the gradients (n, D) of rows (n,), which may repeat, and take one step."""
        distinct, place = torch.unique(rows, return_inverse=True)
        total = gradient.new_zeros(len(distinct), gradient.shape[1])
        total.index_add_(0, place.view(-1), gradient)
        squares = self.squares[distinct] + total.square().mean(1)
        self.squares.index_copy_(0, distinct, squares)
        self.weight.index_add_(0, distinct, total.mul_((-rate / squares.sqrt())[:, None]))


def score_gradients(hidden: Tensor, output: Tensor, right: Tensor, noise: Tensor):
    """The gradients of a block's negative-sampling loss, without autograd.

    With s = hidden · output: the loss of an observed word is −log σ(s), with derivative σ(s) − 1;
    that of a sampled word is −log σ(−s), with derivative σ(s).

    Args:
        hidden: (N, k, D).
        output: (N, r + n, D), the vectors of r candidate words and of n sampled ones.
        right: (N, k, r) float, the weight of each pair; 0 for a pair that does not occur.
        noise: (N, k, 1) float, the weight of each sampled word.

    Returns:
        the scores (N, k, r + n), and the gradients of hidden and of output.
    """
    scores = torch.bmm(hidden, output.transpose(1, 2))
    slope = scores.sigmoid()
    slope[..., : right.shape[2]].sub_(1).mul_(right)
    slope[..., right.shape[2] :].mul_(noise)
    return scores, torch.bmm(slope, output), torch.bmm(slope.transpose(1, 2), hidden)


def loss_of(scores: Tensor, right: Tensor, noise: Tensor) -> Tensor:
    """The summed loss of scored pairs in nats and the number of observed words, (2,); see above."""
    positive, drawn = scores.split([right.shape[2], scores.shape[2] - right.shape[2]], dim=2)
    loss = (F.softplus(-positive) * right).sum() + (F.softplus(drawn) * noise).sum()
    return torch.stack([loss, right.sum()]).double().cpu()


def pair_weights(band: Tensor, architecture: str, negatives: int) -> tuple[Tensor, Tensor]:
    """The weights of the pairs in blocks.

    Each observed word has weight 1. The 16 noise words of a block share the weight of K noise words
    for each observed word. Skip-gram's observed words are the k + 2m around a center; CBOW's are
    the k centers, each for its own window, if that is not empty.

    Args:
        band: (N, k, k + 2m) bool, from `cut_blocks`.
        architecture: `skip-gram` or `cbow`.
        negatives: K.

    Returns:
        right (N, k, k + 2m) or (N, k, k), and noise (N, k, 1).
    """
    right = band.float() if architecture == "skip-gram" else torch.diag_embed(band.any(2).float())
    return right, right.sum(2, keepdim=True) * (negatives / SHARED)


def draw_noise(noise: Tensor, blocks: int, generator: torch.Generator) -> Tensor:
    """Sample the noise words of some blocks from a distribution (V,); (blocks, 16) long."""
    drawn = torch.multinomial(noise, blocks * SHARED, replacement=True, generator=generator)
    return drawn.view(blocks, SHARED)
