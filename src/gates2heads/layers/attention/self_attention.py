"""Self-attention without parameters: every vector asks, is asked, and answers with itself."""

from torch import Tensor

from gates2heads.checks.tensors import check_floats, check_width
from gates2heads.layers.masks import masked_softmax


def self_attention(inputs: Tensor, *, mask: Tensor | None = None):
    """Average the inputs, each row by its likeness to the others: softmax(X Xᵀ) X.

    Nothing is learned: query, key and value are all the input itself.

    Args:
        inputs: (B, S, D) float.
        mask: bool, broadcastable to (B, S, S); True = may attend.

    Returns:
        context (B, S, D), and weights (B, S, S) whose rows sum to 1.

    Raises:
        TypeError, ValueError: the inputs are no float tensor of three axes, or the mask does not
            fit.
    """
    check_width("inputs", inputs, None, dims=3)
    check_floats("inputs", inputs)
    scores = inputs @ inputs.transpose(1, 2)  # (B, S, S)
    weights = masked_softmax(scores, mask=mask)
    return weights @ inputs, weights
