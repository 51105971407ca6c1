"""Chapter 4, training with and without a teacher, and what a wrong token leads to."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from gates2heads.accepts import accepts, any_seed, function, generator, instance, module, whole
from gates2heads.data.batches.pairs import Batch
from gates2heads.training.losses import cross_entropy
from gates2heads.watching.forced_tokens import run_held

DIGITS = whole("N", empty=False)  # the token numbers of the ten digits


@accepts(share=function("step"), seed=any_seed)
def forcing_loss(
    share: Callable[[int], float], *, seed: int = 0
) -> Callable[[nn.Module, Batch], Tensor]:
    """A loss for `fit` with scheduled sampling: the share of true inputs depends on the step.

    Args:
        share: step of the training, from 0 -> the share ε that is forced, from 0 to 1; see
            `linear_share` and its neighbours.
        seed: of the coins.

    Returns:
        (model, batch) -> mean surprisal in nats per token; each call is the next step.
    """
    coins, steps = torch.Generator().manual_seed(int(seed)), iter(range(2**62))

    def loss(model: nn.Module, batch: Batch) -> Tensor:
        logits = model(batch, forced=share(next(steps)), generator=coins)
        return cross_entropy(logits, batch.target_out, mask=batch.target_mask)

    return loss


@accepts(tokens=whole("B", empty=False), digits=DIGITS, generator=generator)
def wrong_tokens(tokens: Tensor, digits: Tensor, generator: torch.Generator) -> Tensor:
    """A wrong token for each of tokens (B,): another digit for a digit, any digit for the rest.

    Args:
        tokens: (B,) long.
        digits: (10,) long: the numbers of the ten digits, or fewer.
        generator: of the random numbers.
    """
    size = len(digits)
    same = tokens[:, None] == digits  # (B, 10)
    place = torch.where(same.any(dim=1), same.long().argmax(dim=1), 0)
    first = torch.where(same.any(dim=1), 1, 0)  # a digit is moved on by 1 to 9
    draw = torch.rand(len(tokens), generator=generator) * (size - first)
    return digits[(place + first + draw.long()) % size]


@accepts(model=module, batch=instance(Batch, "as `collate` makes"))
def exact_matches(model: nn.Module, batch: Batch) -> Tensor:
    """Return which targets of a batch greedy decoding generates exactly.

    Args:
        model: an encoder–decoder.
        batch: B pairs whose targets (B, T) are all of one length, `<eos>` included.

    Returns:
        (B,) bool.

    Raises:
        TypeError, ValueError: it is not an encoder–decoder, or the targets differ in length.
    """
    return (_outputs(model, batch, {}) == batch.target_out).all(dim=1)


def _outputs(model: nn.Module, batch: Batch, held: dict[int, Tensor]) -> Tensor:
    """What greedy decoding generates (B, T) where some steps are clamped."""
    if not (callable(getattr(model, "start", None)) and callable(getattr(model, "step", None))):
        raise TypeError(f"model must be an encoder–decoder, got {type(model).__name__}")
    if not batch.target_mask.all():
        raise ValueError("batch must hold targets of one length")
    with torch.no_grad():
        state = model.start(batch.source, mask=batch.source_mask)
    begin, length = batch.target_in[:, 0], batch.target_out.shape[1]
    return run_held(model.step, state, begin, length, held=held)


@accepts(model=module, batch=instance(Batch, "as `collate` makes"), digits=DIGITS, seed=any_seed)
def drift(model: nn.Module, batch: Batch, digits: Tensor, *, seed: int = 0) -> dict[str, list]:
    """Replace one output token by a wrong one, at each position, and continue decoding.

    Only the sequences that are correct without a replacement are counted.

    Args:
        model: an encoder–decoder.
        batch: B pairs whose targets (B, T) are all of one length, `<eos>` included.
        digits: (10,) long: the numbers of the digits, from which wrong tokens are sampled.
        seed: of the wrong tokens.

    Returns:
        `sound`, the number of correct sequences; for each position but the last two, `drift`, the
        share of them in which a later token is wrong, `later`, the share of wrong later tokens, and
        `late`, the share of them whose later tokens are right, but each one position late.

    Raises:
        ValueError: the targets differ in length, or no output is correct.
    """
    wanted, sound = batch.target_out, exact_matches(model, batch)
    if not sound.any():
        raise ValueError("model must generate at least one target of the batch, got none")
    draw, found = torch.Generator().manual_seed(int(seed)), {"drift": [], "later": [], "late": []}
    for place in range(wanted.shape[1] - 1):
        held = {place: wrong_tokens(wanted[:, place], digits, draw)}
        outputs = _outputs(model, batch, held)
        wrong = (outputs != wanted)[sound]
        late = (outputs[:, place + 1 :] == wanted[:, place:-1]).all(dim=1)[sound]
        later = wrong[:, place + 1 :].double()
        found["drift"].append(float(later.amax(dim=1).mean()))
        found["later"].append(float(later.mean()))
        found["late"].append(float(late.double().mean()))
    return {"sound": int(sound.sum()), **found}
