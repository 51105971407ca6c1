"""Self-attention without parameters: every vector is query, key and value."""

from torch import Tensor

from gates2heads.accepts import accepts, boolean_mask, floats
from gates2heads.layers.masks import masked_softmax


@accepts(inputs=floats("B S D"), mask=boolean_mask("B S S"))
def self_attention(inputs: Tensor, *, mask: Tensor | None = None):
    """Average the inputs, each row by its likeness to the others: softmax(X Xᵀ) X.

    Nothing is learned: query, key and value are all the input itself.

    Args:
        inputs: (B, S, D) float.
        mask: bool, broadcastable to (B, S, S); True = may attend.

    Returns:
        context (B, S, D), and weights (B, S, S) whose rows sum to 1.
    """
    scores = inputs @ inputs.transpose(1, 2)  # (B, S, S)
    weights = masked_softmax(scores, mask=mask)
    return weights @ inputs, weights
