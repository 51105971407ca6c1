"""How a team is trained and how it translates: the loop, the loss, the searches and the log."""

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor

from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.decoding.beam import beam
from gates2heads.decoding.lengths import Power
from gates2heads.decoding.search import follow
from gates2heads.metrics.bleu import corpus_bleu
from gates2heads.training.files import write_whole
from shipping.distilled_data import WIDTH, Some
from shipping.team import Team

PLANNED_AT = (50, 300, 1_000)  # steps after which the number of all steps is computed from the time
TOLD_EVERY = 50  # steps from one note of the loss to the next
ROWS = 32_768  # sequences that a search extends in parallel, counted once for each member


class Log:
    """What happened, in one JSON file that is complete after each entry.

    Args:
        path: the file; what it holds already stays.
    """

    def __init__(self, path: Path):
        self.path, self.begun = path, time.perf_counter()
        self.entries = json.loads(path.read_text()) if path.is_file() else []

    def seconds(self) -> float:
        """Since the log was opened."""
        return time.perf_counter() - self.begun

    def note(self, what: str, **values) -> None:
        """Add an entry, write the file and print the entry."""
        entry = {"what": what, "at": round(self.seconds(), 1), **values}
        self.entries.append(entry)
        content = json.dumps(self.entries, indent=1).encode()
        write_whole(self.path, lambda file: file.write(content))
        print({name: value for name, value in entry.items() if name != "losses"}, flush=True)

    def last(self, what: str) -> dict:
        """The newest entry of a kind."""
        return next(entry for entry in reversed(self.entries) if entry["what"] == what)


def token_loss(
    logits: Tensor, target: Tensor, smoothing: float, soft: Tensor | None, shares: Tensor
) -> Tensor:
    """The mean loss of each member, (M,), in nats per token.

    Args:
        logits: (M, B, T, V).
        target: (M or 1, B, T), 0 is padding.
        smoothing: the share ε of the target's probability that is spread over all V tokens.
        soft: (B, T, V), the distribution of the teachers, or None.
        shares: (M,), how much of each member's loss is the cross-entropy with `soft`.
    """
    target = target.expand(logits.shape[:3])
    log_p = logits.log_softmax(dim=-1)
    loss = -(1 - smoothing) * log_p.gather(3, target[..., None])[..., 0]
    loss = loss - smoothing * log_p.mean(dim=-1)
    if soft is not None:
        shares = shares[:, None, None]
        loss = (1 - shares) * loss - shares * (soft * log_p).sum(dim=-1)
    real = target != 0
    return (loss * real).sum(dim=(1, 2)) / real.sum(dim=(1, 2))


def train(
    team: Team,
    stream: Iterator[Some],
    how: Mapping,
    log: Log,
    name: str,
    *,
    teachers: Team | None = None,
) -> None:
    """Train a team in place; afterwards it holds the moving mean of its parameters.

    Args:
        team: on its device.
        stream: an unlimited iterator of batches.
        how: steps (the most), seconds (None is no limit), learning_rate, warmup, smoothing, clip,
            average (the decay of the moving mean) and soft (see `token_loss`, one for each member).
        log: receives steps, seconds and losses.
        name: of the entry.
        teachers: whose mean distribution the team learns; None if `soft` is 0 for all.
    """
    device, cuda = team.flat.device, team.flat.is_cuda
    optimizer = torch.optim.AdamW(
        [team.flat], lr=0.0, betas=(0.9, 0.98), weight_decay=0.0, fused=cuda
    )
    mean, shares = team.flat.detach().clone(), torch.tensor(how["soft"], device=device)
    total, losses, begun, measured = how["steps"], [], time.perf_counter(), None
    team.train()
    step, loss = 0, torch.zeros(team.members)
    for step, batch in enumerate(stream):
        if step % TOLD_EVERY == 0:  # reading the loss waits for the device
            if step:
                losses.append([step, *(round(one, 4) for one in loss.tolist())])
            now = time.perf_counter() - begun
            limit = how["seconds"]
            if limit and step in PLANNED_AT:
                total = planned(step, now, measured, limit, how["steps"])
            if step == TOLD_EVERY or measured is None:
                measured = (step, now)
            if limit and now > 1.1 * limit:
                break
        if step >= total:
            break
        rise = min(1.0, (step + 1) / how["warmup"])
        fall = 0.5 * (1 + math.cos(math.pi * step / total))
        optimizer.param_groups[0]["lr"] = how["learning_rate"] * rise * fall
        soft = _distribution(teachers, batch)
        logits = team(batch.source, batch.target_in)
        loss = token_loss(logits, batch.target_out, how["smoothing"], soft, shares)
        loss.sum().backward()
        gradient = team.flat.grad
        norms = gradient.norm(dim=1, keepdim=True)
        gradient.mul_((how["clip"] / norms.clamp_min(1e-6)).clamp(max=1.0))
        optimizer.step()
        optimizer.zero_grad()
        decay = min(how["average"], (1 + step) / (10 + step))
        mean.lerp_(team.flat.detach(), 1 - decay)
    with torch.no_grad():
        team.flat.copy_(mean)
    if not bool(team.flat.isfinite().all()):
        raise FloatingPointError(f"the parameters of the {name} are not finite")
    seconds = round(time.perf_counter() - begun, 1)
    team.eval()
    log.note(name, steps=step, planned=total, seconds=seconds, how=dict(how), losses=losses)


def planned(step: int, now: float, measured: tuple[int, float], limit: float, most: int) -> int:
    """How many steps fit into the time, from the steps and seconds since a measurement began."""
    begun, seconds = measured
    each = (now - seconds) / max(step - begun, 1)
    return max(min(most, step + int((limit - now) / each)), step + 1)


@torch.no_grad()
def _distribution(teachers: Team | None, batch: Some) -> Tensor | None:
    """The mean of the distributions of all teachers, (B, T, V)."""
    if teachers is None:
        return None
    return teachers(batch.source, batch.target_in).softmax(dim=-1).mean(dim=0)


def search(
    team: Team,
    rows: Tensor,
    *,
    width: int = 5,
    power: float = 1.2,
    top_k: int | None = None,
    generator: torch.Generator | None = None,
    seconds: float | None = None,
) -> Tensor:
    """Translate sentences with the mean of a team's distributions.

    Args:
        team: after `fixed`.
        rows: (N, WIDTH).
        width: of the beam; 1 is greedy search.
        power: α of its length normalisation.
        top_k: sample from so many tokens at each step instead of searching.
        generator: of the samples, and of the order in which batches are translated.
        seconds: no new batch begins after them.

    Returns:
        (N, WIDTH), without `<bos>`; a row of zeros where no end was found, or no time was left.
    """
    begun, found = time.perf_counter(), torch.zeros_like(rows)
    lengths = (rows != 0).sum(dim=1)
    order = lengths.argsort()
    at_once = max(ROWS // (team.members * (1 if top_k else width)), 1)
    parts = order.split(at_once)
    mixed = torch.randperm(len(parts), generator=torch.Generator().manual_seed(0)).tolist()
    for number in mixed if seconds else range(len(parts)):
        if seconds and time.perf_counter() - begun > seconds:
            break
        some = parts[number]
        source = rows[some][:, : int(lengths[some].max())]
        ends = {
            "bos": torch.full_like(some, Vocabulary.bos),
            "eos": Vocabulary.eos,
            "max_length": min(WIDTH, source.shape[1] * 3 // 2 + 8),
        }
        if top_k or width == 1:
            choose = _sampled(top_k or 1, generator)
            output = follow(choose, team.step, team.start(source), **ends)
        else:
            ends |= {"width": width, "length_rule": Power(power), "refill": True}
            output = beam(team.step, team.start(source), **ends).best()
        written = output.tokens.masked_fill(~output.finished[:, None], 0)
        found[some, : written.shape[1]] = written
    return found


def _sampled(top_k: int, generator: torch.Generator | None) -> Callable[[Tensor, Tensor], Tensor]:
    """Choose one of the most probable tokens at random, in proportion to their probabilities."""

    def choose(log_probs: Tensor, finished: Tensor) -> Tensor:
        likeliest = log_probs.topk(top_k, dim=1)
        drawn = torch.rand(likeliest.values.shape, generator=generator, device=log_probs.device)
        scores = likeliest.values - (-drawn.clamp_min(1e-20).log()).log()  # Gumbel noise
        return likeliest.indices.gather(1, scores.argmax(dim=1, keepdim=True))[:, 0]

    return choose


def bleu(team: Team, rows: Tensor, references: Sequence[str], both, **how) -> float:
    """BLEU of a team's translations."""
    written = [both.decode(row) for row in search(team, rows, **how).tolist()]
    return round(corpus_bleu(written, [[one] for one in references]).score, 2)
