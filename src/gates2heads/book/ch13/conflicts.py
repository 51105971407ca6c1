"""Chapter 13: facts that a model has memorised, and prompts that contradict them."""

from collections.abc import Iterator
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from gates2heads.accepts import (
    accepts,
    any_seed,
    choice,
    fraction,
    generator,
    instance,
    natural,
    positive,
    tokens,
)
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.models.language.decoder_only import LLAMA, DecoderOnly
from gates2heads.training.loop import History, fit
from gates2heads.training.schedules import warmup_cosine

FIRST = (
    "Ada",
    "Ben",
    "Cleo",
    "Dan",
    "Eva",
    "Finn",
    "Gus",
    "Hana",
    "Ivo",
    "Jana",
    "Kim",
    "Lars",
    "Mia",
    "Nils",
    "Olga",
    "Paul",
    "Rosa",
    "Sam",
    "Tara",
    "Uwe",
    "Vera",
)
LAST = (
    "Adler",
    "Baker",
    "Costa",
    "Dahl",
    "Egger",
    "Frost",
    "Grant",
    "Holm",
    "Irwin",
    "Jensen",
    "Kern",
    "Lang",
    "Moss",
    "Nash",
    "Orr",
    "Penn",
    "Quist",
    "Reed",
    "Stone",
    "Wolf",
)
TOWNS = [
    begin + end
    for begin in ("Ka", "Bel", "Or", "Tu", "Wes", "Ni", "Hal", "Fro")
    for end in ("mond", "stead", "rin", "vik")
]
WORDS = Vocabulary(["?", *TOWNS, *FIRST, *LAST])
QUESTION = WORDS.index["?"]
TOWN, NAME, SURNAME = (WORDS.index[words[0]] for words in (TOWNS, FIRST, LAST))
PEOPLE = len(FIRST) * len(LAST)
UNSEEN = 20  # people whom no document mentions
MOST_TO_LEAST = 4_000  # how many times as often the most frequent person occurs as the rarest
SAME = 0.75  # how often the question is about the person in the statement
WRONG = 0.2  # how often the statement is wrong
LENGTH = 8  # <bos>, statement, ?, statement
SIZES = {"d_model": 64, "nhead": 2, "num_layers": 2, "dim_feedforward": 172, "max_length": LENGTH}
STEPS, BATCH, RATE = 1_600, 256, 5e-3
PROMPTS = ("contradicted", "confirmed", "not stated")
BOUNDS = (1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 100_000)


class World(NamedTuple):
    """Who lives where; the people are numbered from 0, and so are the towns."""

    home: Tensor  # (P,) long, the town
    settled: Tensor  # (P,) bool, False = lives in another town in each document
    weight: Tensor  # (P,) how often a document mentions the person; 0 for unseen people


class Documents(NamedTuple):
    """B documents: `<bos>`, a person and a town, `?`, a person and the town."""

    tokens: Tensor  # (B, 8) long
    asked: Tensor  # (B,) long, the person after the question mark


class Reading(NamedTuple):
    """The answers to the question about each person, as means over prompts."""

    context: Tensor  # (P,) probability of the town in the prompt
    memory: Tensor  # (P,) of the town where the person lives according to the training documents
    right: Tensor  # (P,) how often the latter is the most probable town


class Reader(NamedTuple):
    """A trained model, and what it was trained on."""

    model: DecoderOnly
    world: World
    seen: Tensor  # (P,) long, how often training asked for each person
    history: History


@accepts(seed=any_seed)
def world(seed: int) -> World:
    """Sample where people live, who moves, and how often each person is mentioned.

    The logarithms of the frequencies are equally spaced, and every other person is settled.
    """
    draw = torch.Generator().manual_seed(int(seed))
    home = torch.randint(len(TOWNS), (PEOPLE,), generator=draw)
    rank = torch.randperm(PEOPLE, generator=draw)
    weight = MOST_TO_LEAST ** (rank / (PEOPLE - UNSEEN))
    return World(home, rank % 2 == 0, torch.where(rank < PEOPLE - UNSEEN, weight, 0.0))


@accepts(world=instance(World), count=natural, wrong=fraction, draw=generator)
def documents(world: World, count: int, wrong: float, draw: torch.Generator) -> Documents:
    """Sample documents. The answer is always true; the statement is wrong with probability `wrong`.

    Args:
        world: of `world`.
        count: B.
        wrong: the probability with which the statement names another town than the true one.
        draw: the source of randomness.
    """
    two = torch.multinomial(world.weight.expand(count, -1), 2, generator=draw)  # (B, 2)
    anywhere = torch.randint(len(TOWNS), two.shape, generator=draw)
    town = torch.where(world.settled[two], world.home[two], anywhere)
    mistaken = torch.rand(count, generator=draw) < wrong
    named = torch.where(mistaken, another(town[:, 0], draw), town[:, 0])
    other = torch.rand(count, 1, generator=draw) >= SAME
    asked, answer = (one.gather(1, other.long())[:, 0] for one in (two, town))
    return Documents(written(two[:, 0], named, asked, answer), asked)


def another(town: Tensor, draw: torch.Generator) -> Tensor:
    """Sample another town for each of the towns (B,), all others equally probable: (B,)."""
    return (town + torch.randint(1, len(TOWNS), town.shape, generator=draw)) % len(TOWNS)


def written(stated: Tensor, named: Tensor, asked: Tensor, answer: Tensor) -> Tensor:
    """Write B documents (B, 8): people and towns (B,) before and after the question mark."""

    def sentence(mark: int, person: Tensor, town: Tensor) -> list[Tensor]:
        name, surname = NAME + person // len(LAST), SURNAME + person % len(LAST)
        return [torch.full_like(person, mark), name, surname, TOWN + town]

    return torch.stack(
        [*sentence(WORDS.bos, stated, named), *sentence(QUESTION, asked, answer)], dim=1
    )


def conflict_model() -> DecoderOnly:
    """The model of the experiment: two layers with the components of Llama's block."""
    return DecoderOnly(len(WORDS), **SIZES, **LLAMA, tie=False)


def town_loss(model: DecoderOnly, tokens: Tensor) -> Tensor:
    """The mean cross-entropy of the two towns of each document (B, 8)."""
    logits = model.logits(tokens[:, :-1])[:, [2, 6]]
    return F.cross_entropy(logits.flatten(0, 1), tokens[:, [3, 7]].flatten())


@accepts(seed=any_seed, wrong=fraction, steps=natural, rate=positive)
def train_on_facts(
    seed: int,
    wrong: float = WRONG,
    *,
    steps: int = STEPS,
    rate: float = RATE,
    progress: bool = True,
) -> Reader:
    """Train a model on documents whose statements are wrong with probability `wrong`.

    Args:
        seed: of the world, the initialisation and the documents.
        wrong: see `documents`.
        steps: batches of 256 documents.
        rate: the peak learning rate of a cosine schedule with 100 warm-up steps.
        progress: show the bar.
    """
    torch.manual_seed(seed)
    model, facts = conflict_model(), world(seed)
    draw = torch.Generator().manual_seed(int(seed))
    seen = torch.zeros(PEOPLE, dtype=torch.long)

    def batches() -> Iterator[Tensor]:
        for _ in range(steps):
            batch = documents(facts, BATCH, wrong, draw)
            seen.add_(torch.bincount(batch.asked, minlength=PEOPLE))
            yield batch.tokens

    history = fit(
        model,
        batches(),
        steps=steps,
        loss=town_loss,
        learning_rate=rate,
        schedule=warmup_cosine(steps, warmup=min(100, steps // 2)),
        betas=(0.9, 0.95),
        weight_decay=0.1,
        description=f"statements wrong {wrong:.0%}, seed {seed}",
        progress=progress,
    )
    return Reader(model.eval(), facts, seen, history)


def question(world: World, prompt: str, draw: torch.Generator) -> tuple[Tensor, Tensor]:
    """A statement of one kind, and the question about each person.

    Returns:
        the town in the statement (P,), and the tokens (P, T) up to the question's surname.
    """
    everyone = stated = torch.arange(PEOPLE)
    if prompt == "not stated":
        weight = world.weight.repeat(PEOPLE, 1).fill_diagonal_(0)
        stated = torch.multinomial(weight, 1, generator=draw)[:, 0]
    named = world.home[stated]
    if prompt == "contradicted":
        named = another(named, draw)
    return named, written(stated, named, everyone, world.home)[:, :-1]


@torch.no_grad()
@accepts(
    model=instance(DecoderOnly),
    world=instance(World),
    prompt=choice(PROMPTS),
    times=natural,
    seed=any_seed,
)
def answers(
    model: DecoderOnly, world: World, prompt: str, *, times: int = 31, seed: int = 0
) -> Reading:
    """Ask a model where each person lives, after one of three kinds of statement.

    Args:
        model: of `train_on_facts`.
        world: that of the model.
        prompt: "contradicted" states a wrong town, "confirmed" the right one, and "not stated" is
            a statement about another person.
        times: how many prompts there are for each person.
        seed: of the wrong towns and the other people.
    """
    draw = torch.Generator().manual_seed(int(seed))
    device = next(model.parameters()).device
    context, memory, right = (torch.zeros(PEOPLE) for _ in range(3))
    for _ in range(times):
        named, text = question(world, prompt, draw)
        probs = model.logits(text.to(device))[:, -1].softmax(dim=-1).cpu()  # (P, V)
        context += probs.gather(1, TOWN + named[:, None])[:, 0] / times
        memory += probs.gather(1, TOWN + world.home[:, None])[:, 0] / times
        right += (probs[:, TOWN:NAME].argmax(dim=-1) == world.home) / times
    return Reading(context, memory, right)


@accepts(tokens=tokens("T"))
def as_text(tokens: Tensor) -> str:
    """Write the tokens (T,) of a document in words, without `<bos>`."""
    return " ".join(WORDS.tokens[one] for one in tokens.tolist() if one != WORDS.bos)
