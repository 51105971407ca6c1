"""Losses of pre-training and of the tasks after it; each asks only where there is a question."""

import torch
from torch import Tensor

from gates2heads.accepts.shown import shown
from gates2heads.checks.tensors import (
    check_dense,
    check_device,
    check_mask,
    check_tokens,
    check_width,
    takes,
)
from gates2heads.models.pretraining.answers import AnswerLogits
from gates2heads.models.pretraining.masking import Masked
from gates2heads.training.losses import check_logits, cross_entropy, logits_of


def masked_loss(
    model, masked: Masked, *, segments: Tensor | None = None, mask: Tensor | None = None
) -> Tensor:
    """Mean surprise at the hidden tokens, in nats per hidden token.

    Source: Devlin et al. 2019, section 3.1, task 1. The vocabulary is read out only where
    something was hidden, so the rest costs nothing.

    Args:
        model: a `BERT`.
        masked: from `mask_tokens`.
        segments: (B, L) long, 0 or 1.
        mask: (B, L) bool, True = a real token.

    Raises:
        TypeError, ValueError: nothing was hidden, or an argument does not fit.
    """
    _check_masked(masked)
    _check_reader(model, "encode", "readout")
    return _hidden_loss(model, model.encode(masked.tokens, segments=segments, mask=mask), masked)


def pretraining_loss(
    model,
    masked: Masked,
    follows: Tensor,
    *,
    segments: Tensor | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The two losses of BERT from one reading: hidden tokens and next sentences.

    Source: Devlin et al. 2019, appendix A.2: the sum of both means.

    Args:
        model: a `BERT`.
        masked: from `mask_tokens`.
        follows: (B,) bool, True where the second sentence follows the first.
        segments: (B, L) long, 0 or 1.
        mask: (B, L) bool, True = a real token.

    Raises:
        TypeError, ValueError: nothing was hidden, or an argument does not fit.
    """
    _check_masked(masked)
    if not isinstance(follows, Tensor) or follows.dtype != torch.bool:
        raise TypeError(f"follows must be a bool tensor, got {shown(follows)}")
    _check_reader(model, "encode", "readout", "follows")
    vectors = model.encode(masked.tokens, segments=segments, mask=mask)
    return _hidden_loss(model, vectors, masked) + label_loss(model.follows(vectors), follows.long())


def next_token_loss(model, tokens: Tensor, *, mask: Tensor | None = None) -> Tensor:
    """Mean surprise at each token after the first, given those before it, in nats per token.

    Args:
        model: a `GPT`, or any model whose row t of logits (B, L, V) predicts token t + 1.
        tokens: (B, L) long, from `<bos>` to `<eos>`.
        mask: (B, L) bool, True = a real token; padding stands at the end.

    Raises:
        TypeError, ValueError: there is no second token, or an argument does not fit.
    """
    mask = _check_line(tokens, mask)
    before, after = tokens[:, :-1], tokens[:, 1:]
    return cross_entropy(logits_of(model, before, after.shape), after, mask=mask[:, 1:])


def two_way_loss(model, tokens: Tensor, *, mask: Tensor | None = None) -> Tensor:
    """Mean surprise from both directions, in nats per token and direction.

    Source: Peters et al. 2018, section 3.1, whose sum of the two is halved here.

    Args:
        model: an `ELMo`.
        tokens: (B, L) long, from `<bos>` to `<eos>`.
        mask: (B, L) bool, True = a real token; padding stands at the end.

    Raises:
        TypeError, ValueError: there is no second token, or an argument does not fit.
    """
    mask = _check_line(tokens, mask)
    if not takes(model, tokens, mask=mask):
        raise TypeError(f"model must be an ELMo, got {type(model).__name__}")
    answer = model(tokens, mask=mask)
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise TypeError(f"model must return two tables of logits, got {type(answer).__name__}")
    for logits in answer:
        check_logits(logits, tokens.shape)
    ahead, back = answer
    both = mask[:, :-1] & mask[:, 1:]
    after = cross_entropy(ahead[:, :-1], tokens[:, 1:], mask=both)
    before = cross_entropy(back[:, 1:], tokens[:, :-1], mask=both)
    return (after + before) / 2


def label_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Mean surprise at the right class, in nats.

    Args:
        logits: (B, classes) float.
        labels: (B,) long.

    Raises:
        TypeError, ValueError: the shapes differ, or a label is no class.
    """
    check_width("logits", logits, None)
    if not isinstance(labels, Tensor) or labels.shape != logits.shape[:1]:
        given = tuple(labels.shape) if isinstance(labels, Tensor) else type(labels).__name__
        raise ValueError(f"labels must have shape ({len(logits)},), got {given}")
    check_device(logits, labels=labels)
    check_tokens("labels", labels.unsqueeze(1), logits.shape[1])
    return cross_entropy(logits[:, None], labels[:, None])


def answer_loss(
    logits: AnswerLogits, first: Tensor, last: Tensor, *, allowed: Tensor | None = None
) -> Tensor:
    """Mean surprise at the answer's first and last token, in nats per end.

    Source: Devlin et al. 2019, section 4.2; section 4.3: no answer is a span that begins and ends
    at [CLS], which must then be allowed.

    Args:
        logits: from `AnswerHead`.
        first, last: (B,) long, the positions of the answer's first and last token.
        allowed: (B, L) bool, True = may be an end; the softmax is over these.

    Raises:
        TypeError, ValueError: a position is not allowed, or an argument does not fit.
    """
    if not isinstance(logits, AnswerLogits):
        raise TypeError(f"logits must be AnswerLogits, as `AnswerHead` gives, got {shown(logits)}")
    ends = (("first", logits.first, first), ("last", logits.last, last))
    return sum(_end_loss(*end, allowed) for end in ends) / 2


def _end_loss(name: str, scores: Tensor, places: Tensor, allowed: Tensor | None) -> Tensor:
    """Mean surprise at one end of the answers, from scores (B, L) and places (B,)."""
    check_width(f"logits.{name}", scores, None)
    check_mask(allowed, scores.shape, name="allowed", like=scores)
    wanted = places.unsqueeze(1) if isinstance(places, Tensor) and places.dim() == 1 else places
    check_device(scores, **{name: wanted})
    check_tokens(name, wanted, scores.shape[1])
    if wanted.shape != (len(scores), 1):
        raise ValueError(f"{name} must have shape ({len(scores)},), got {tuple(places.shape)}")
    if allowed is not None:
        seen = allowed.expand(scores.shape)
        if not seen.gather(1, wanted.long()).all():
            raise ValueError(f"{name} must be an allowed position in every row")
        scores = scores.masked_fill(~seen, -torch.inf)
    return label_loss(scores, wanted[:, 0])


def _hidden_loss(model, vectors: Tensor, masked: Masked) -> Tensor:
    """Read out only the hidden places of vectors (B, L, D)."""
    logits = model.readout(vectors[masked.chosen])  # (N, V)
    return label_loss(logits, masked.targets[masked.chosen])


def _check_masked(masked: Masked) -> None:
    if not isinstance(masked, Masked):
        raise TypeError(f"masked must be what `mask_tokens` gives, got {type(masked).__name__}")
    if not masked.chosen.any():
        raise ValueError("masked hides no token at all, so there is no loss to average")


def _check_reader(model, *methods: str) -> None:
    """Refuse what is no `BERT`."""
    there = all(callable(getattr(model, method, None)) for method in methods)
    if not there or not takes(model.encode, None, segments=None, mask=None):
        raise TypeError(f"model must be a BERT, got {type(model).__name__}")


def _check_line(tokens: Tensor, mask: Tensor | None) -> Tensor:
    """The mask of tokens (B, L), which must hold something to predict."""
    if not isinstance(tokens, Tensor) or tokens.dim() != 2 or tokens.shape[1] < 2:
        given = tuple(tokens.shape) if isinstance(tokens, Tensor) else type(tokens).__name__
        raise ValueError(f"tokens must have shape (B, L) with two tokens or more, got {given}")
    check_dense("tokens", tokens)
    check_mask(mask, tokens.shape, like=tokens)
    if mask is None:
        return torch.ones_like(tokens, dtype=torch.bool)
    return mask.expand(tokens.shape)
