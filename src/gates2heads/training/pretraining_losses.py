"""Losses of pre-training and fine-tuning, computed at the predicted positions only."""

import torch
from torch import Tensor

from gates2heads.accepts import accepts, boolean_mask, bools, floats, instance, tokens, whole
from gates2heads.models.pretraining.answers import AnswerLogits
from gates2heads.models.pretraining.masking import Masked
from gates2heads.training.losses import check_logits, cross_entropy, logits_of

MASKED = instance(Masked, "as `mask_tokens` gives")


@accepts(masked=MASKED, segments=whole("B L"), mask=boolean_mask("B L"))
def masked_loss(
    model, masked: Masked, *, segments: Tensor | None = None, mask: Tensor | None = None
) -> Tensor:
    """Mean surprisal of the masked tokens, in nats per masked token.

    Source: Devlin et al. 2019, section 3.1, task 1. The output projection is computed at masked
    positions only.

    Args:
        model: a `BERT`.
        masked: from `mask_tokens`.
        segments: (B, L) long, 0 or 1.
        mask: (B, L) bool, True = a real token.

    Raises:
        ValueError: no token is masked.
    """
    return _hidden_loss(model, model.encode(masked.tokens, segments=segments, mask=mask), masked)


@accepts(masked=MASKED, follows=bools("B"), segments=whole("B L"), mask=boolean_mask("B L"))
def pretraining_loss(
    model,
    masked: Masked,
    follows: Tensor,
    *,
    segments: Tensor | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The two losses of BERT from one forward pass: masked tokens and next sentences.

    Source: Devlin et al. 2019, appendix A.2: the sum of both means.

    Args:
        model: a `BERT`.
        masked: from `mask_tokens`.
        follows: (B,) bool, True where the second sentence follows the first.
        segments: (B, L) long, 0 or 1.
        mask: (B, L) bool, True = a real token.

    Raises:
        ValueError: no token is masked.
    """
    vectors = model.encode(masked.tokens, segments=segments, mask=mask)
    return _hidden_loss(model, vectors, masked) + label_loss(model.follows(vectors), follows.long())


@accepts(tokens=tokens("B L"), mask=boolean_mask("B L"))
def next_token_loss(model, tokens: Tensor, *, mask: Tensor | None = None) -> Tensor:
    """Mean surprisal of each token after the first, given the preceding ones, in nats per token.

    Args:
        model: a `GPT`, or any model whose row t of logits (B, L, V) predicts token t + 1.
        tokens: (B, L) long, from `<bos>` to `<eos>`.
        mask: (B, L) bool, True = a real token; padding is at the end.

    Raises:
        ValueError: there is no second token.
    """
    mask = _real(tokens, mask)
    before, after = tokens[:, :-1], tokens[:, 1:]
    return cross_entropy(logits_of(model, before, after.shape), after, mask=mask[:, 1:])


@accepts(tokens=tokens("B L"), mask=boolean_mask("B L"))
def two_way_loss(model, tokens: Tensor, *, mask: Tensor | None = None) -> Tensor:
    """Mean surprise from both directions, in nats per token and direction.

    Source: Peters et al. 2018, section 3.1, whose sum of the two is halved here.

    Args:
        model: an `ELMo`.
        tokens: (B, L) long, from `<bos>` to `<eos>`.
        mask: (B, L) bool, True = a real token; padding is at the end.

    Raises:
        ValueError: there is no second token.
    """
    mask = _real(tokens, mask)
    ahead, back = model(tokens, mask=mask)
    for logits in (ahead, back):
        check_logits(logits, tokens.shape)
    both = mask[:, :-1] & mask[:, 1:]
    after = cross_entropy(ahead[:, :-1], tokens[:, 1:], mask=both)
    before = cross_entropy(back[:, 1:], tokens[:, :-1], mask=both)
    return (after + before) / 2


@accepts(logits=floats("B C"), labels=tokens("B", below="C"))
def label_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Mean surprisal of the correct class, in nats.

    Args:
        logits: (B, C) float, of C classes.
        labels: (B,) long.
    """
    return cross_entropy(logits[:, None], labels[:, None])


@accepts(
    logits=instance(AnswerLogits, "as `AnswerHead` gives"),
    first=whole("B"),
    last=whole("B"),
    allowed=boolean_mask("B L"),
)
def answer_loss(
    logits: AnswerLogits, first: Tensor, last: Tensor, *, allowed: Tensor | None = None
) -> Tensor:
    """Mean surprisal of the answer's first and last token, in nats per end.

    Source: Devlin et al. 2019, section 4.2; section 4.3: no answer is a span that begins and ends
    at [CLS], which must then be allowed.

    Args:
        logits: from `AnswerHead`.
        first, last: (B,) long, the positions of the answer's first and last token.
        allowed: (B, L) bool, True = may be an end; the softmax is over these.

    Raises:
        ValueError: a position is not in the text, or not allowed.
    """
    ends = (("first", logits.first, first), ("last", logits.last, last))
    return sum(_end_loss(*end, allowed) for end in ends) / 2


def _end_loss(name: str, scores: Tensor, places: Tensor, allowed: Tensor | None) -> Tensor:
    """Mean surprisal of one end of the answers, from scores (B, L) and positions (B,)."""
    tokens("B", below=scores.shape[1]).check(name, places)
    if allowed is not None:
        seen = allowed.expand(scores.shape)
        if not seen.gather(1, places[:, None].long()).all():
            raise ValueError(f"{name} must be an allowed position in every row")
        scores = scores.masked_fill(~seen, -torch.inf)
    return label_loss(scores, places)


def _hidden_loss(model, vectors: Tensor, masked: Masked) -> Tensor:
    """Apply the output projection to the masked positions of vectors (B, L, D) only."""
    if not masked.chosen.any():
        raise ValueError("masked has no masked token, so there is no loss to average")
    logits = model.readout(vectors[masked.chosen])  # (N, V)
    return label_loss(logits, masked.targets[masked.chosen])


def _real(tokens: Tensor, mask: Tensor | None) -> Tensor:
    """(B, L): which tokens are real; every row must have a token to predict."""
    if tokens.shape[1] < 2:
        raise ValueError(f"tokens must be lines of two tokens or more, got {tuple(tokens.shape)}")
    if mask is None:
        return torch.ones_like(tokens, dtype=torch.bool)
    return mask.expand(tokens.shape)
