"""The experiment of section 13.3: its documents, its prompts, what is measured, and the optimum."""

import math

import pytest
import torch

from gates2heads.book.ch13 import conflict_measures, conflicts
from gates2heads.book.ch13.conflict_measures import (
    best_temperature,
    calibrated,
    counted,
    crossing,
    measured,
    overruled,
    remembered,
    trust,
)
from gates2heads.book.ch13.conflicts import (
    NAME,
    PEOPLE,
    PROMPTS,
    QUESTION,
    SURNAME,
    TOWN,
    TOWNS,
    UNSEEN,
    WORDS,
    Reader,
    answers,
    as_text,
    conflict_model,
    documents,
    town_loss,
    train_on_facts,
    world,
    written,
)
from gates2heads.training.loop import History


def drawn(seed=0):
    return torch.Generator().manual_seed(seed)


def people_and_towns(tokens, start):
    name, surname, town = (tokens[:, start + at] for at in range(3))
    return (name - NAME) * (SURNAME - NAME - 1) + (surname - SURNAME), town - TOWN


def test_a_document_by_hand():
    one = torch.tensor([0]), torch.tensor([1]), torch.tensor([419]), torch.tensor([31])
    tokens = written(*one)
    assert as_text(tokens[0]) == "Ada Adler Kastead ? Vera Wolf Frovik"
    assert tokens[0, 0] == WORDS.bos
    assert tokens[0, 4] == QUESTION


def test_the_words_are_distinct_and_numbered_in_blocks():
    assert len(set(WORDS.tokens)) == len(WORDS)
    assert (len(TOWNS), PEOPLE) == (32, 420)
    assert TOWN + len(TOWNS) == NAME
    assert NAME + len(conflicts.FIRST) == SURNAME
    assert SURNAME + len(conflicts.LAST) == len(WORDS)


def test_the_world():
    facts = world(3)
    assert facts.settled.sum() == PEOPLE // 2
    assert (facts.weight == 0).sum() == UNSEEN
    some = facts.weight[facts.weight > 0]
    assert some.max() / some.min() == pytest.approx(4_000, rel=0.03)
    ratios = some.sort().values[1:] / some.sort().values[:-1]
    torch.testing.assert_close(ratios, ratios[0].expand_as(ratios))
    assert not facts.settled[facts.weight == 0].all()
    assert facts.settled[facts.weight == 0].any()


@pytest.mark.parametrize("wrong", [0.0, 0.2, 0.5, 1.0])
def test_the_documents(wrong):
    facts = world(0)
    tokens, asked = documents(facts, 20_011, wrong, drawn())
    assert tokens.shape == (20_011, 8)
    stated, told = people_and_towns(tokens, 1)
    who, answer = people_and_towns(tokens, 5)
    assert torch.equal(who, asked)
    settled = facts.settled[who]
    assert torch.equal(answer[settled], facts.home[who][settled])  # the answer is always true
    assert (answer[~settled] == facts.home[who][~settled]).float().mean() < 0.1
    same = stated == who
    assert same.float().mean().item() == pytest.approx(0.75, abs=0.015)
    for kind in (settled, ~settled):
        mistaken = (told != answer)[same & kind].float().mean().item()
        assert mistaken == pytest.approx(wrong, abs=0.015)
    assert (facts.weight[asked] > 0).all()
    counts = torch.bincount(asked, minlength=PEOPLE)
    frequent = facts.weight.argsort()[-20:]
    wanted = facts.weight[frequent].sum() / facts.weight.sum()
    # Somewhat less: two different people are sampled without replacement.
    assert counts[frequent].sum() / counts.sum() == pytest.approx(wanted.item(), rel=0.1)


def test_another_town_is_different_and_uniform():
    found = conflicts.another(torch.full((31_000,), 5), drawn())
    counts = torch.bincount(found, minlength=32)
    assert counts[5] == 0
    assert counts[counts > 0].min() > 850
    assert (counts > 0).sum() == 31


def test_the_loss_is_that_of_the_two_towns():
    torch.manual_seed(0)
    model = conflict_model()
    tokens, _ = documents(world(0), 3, 0.2, drawn())
    logits = model.logits(tokens[:, :-1]).log_softmax(-1)
    wanted = -sum(logits[row, at - 1, tokens[row, at]] for row in range(3) for at in (3, 7)) / 6
    torch.testing.assert_close(town_loss(model, tokens), wanted)


class Scripted(conflicts.DecoderOnly):
    """Follows the statement if it is about the person in question, and else says town 0."""

    def __init__(self):
        super().__init__(len(WORDS), **conflicts.SIZES)

    def logits(self, tokens, *, prefix=None):
        stated, told = people_and_towns(tokens, 1)
        name, surname = tokens[:, 5] - NAME, tokens[:, 6] - SURNAME
        said = torch.where(name * 20 + surname == stated, told, 0)
        return 50.0 * torch.nn.functional.one_hot(said + TOWN, len(WORDS))[:, None].float()


def test_the_prompts():
    facts, model = world(1), Scripted()
    in_town_0 = (facts.home == 0).float()
    read = {prompt: answers(model, facts, prompt, times=3) for prompt in PROMPTS}
    ones = torch.ones(PEOPLE)
    torch.testing.assert_close(read["contradicted"].context, ones)
    assert read["contradicted"].memory.max() < 1e-9
    torch.testing.assert_close(read["confirmed"].context, ones)
    torch.testing.assert_close(read["confirmed"].memory, ones)
    torch.testing.assert_close(read["not stated"].memory, in_town_0)
    torch.testing.assert_close(read["not stated"].right, in_town_0)
    torch.testing.assert_close(read["contradicted"].right, 0 * ones)


def test_what_is_measured():
    facts = world(1)
    seen = torch.where(facts.weight > 0, 20, 0)
    result = measured(Reader(Scripted().eval(), facts, seen, History()), 0.2)
    settled = result["settled"]
    assert settled["from"] == [10]
    assert settled["people"] == [(facts.settled & (facts.weight > 0)).sum().item()]
    assert settled["seen"] == pytest.approx([20])
    assert settled["context"] == pytest.approx([1])
    assert settled["memory"] == pytest.approx([0], abs=1e-6)
    assert settled["confirmed"] == pytest.approx([1])
    chosen = facts.settled & (facts.weight > 0)
    known = (facts.home == 0).float()[chosen]
    assert settled["known"] == pytest.approx([known.mean().item()])
    assert settled["right"] == pytest.approx([known.mean().item()])
    wanted = ((1 - known) * 0.8 / 31) / ((1 - known) * 0.8 / 31 + (30 / 31) * 0.2 / 31)
    wanted = torch.where(known == 1, 0.0, wanted).mean().item()
    assert settled["optimal"] == pytest.approx([wanted], abs=1e-5)
    assert result["unseen"] == pytest.approx(1)
    assert result["crossover"] is None
    # Everyone who was seen is in one of the two groups.
    assert settled["people"][0] + result["moving"]["people"][0] == PEOPLE - UNSEEN


def test_the_memory_is_read_without_a_statement_about_the_person():
    facts = world(1)
    reader = Reader(Scripted().eval(), facts, torch.full((PEOPLE,), 20), History())
    logs = remembered(reader, times=3)
    assert logs.shape == (3, PEOPLE, len(TOWNS))
    torch.testing.assert_close(logs.exp().sum(-1), torch.ones(3, PEOPLE).double())
    known = logs[:, torch.arange(PEOPLE), facts.home].exp().mean(0)
    expected = answers(reader.model, facts, "not stated").memory
    torch.testing.assert_close(known.float(), expected)


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0])
def test_the_best_temperature_undoes_a_factor_of_the_logits(factor):
    draw = torch.Generator().manual_seed(0)
    true = torch.randn((1, 20_000, 32), generator=draw).double().log_softmax(-1)
    home = true[0].exp().multinomial(1, generator=draw)[:, 0]
    everyone_settled = torch.ones(20_000).bool()
    logs = (factor * true).log_softmax(-1)
    assert best_temperature(logs, home, everyone_settled) == pytest.approx(factor, rel=0.05)


def test_a_memory_of_moving_people_should_be_uniform():
    logs = torch.randn((1, 50, 32)).double().log_softmax(-1)
    moving = torch.zeros(50).bool()
    assert best_temperature(logs, torch.zeros(50).long(), moving) == 4.0  # the highest


class Underconfident(Scripted):
    """Right about all settled people, and the more sure the more frequent they are."""

    def __init__(self, facts, seen):
        super().__init__()
        self.facts, self.sure = facts, facts.settled * seen.clamp(min=1).log()

    def logits(self, tokens, *, prefix=None):
        who = (tokens[:, 5] - NAME) * 20 + tokens[:, 6] - SURNAME
        town = torch.nn.functional.one_hot(self.facts.home[who] + TOWN, len(WORDS))
        return (self.sure[who, None] * town)[:, None]


def test_an_underconfident_memory_should_win_earlier_once_it_is_calibrated():
    facts = world(1)
    seen = (5_000 * facts.weight / facts.weight.max()).round().long()
    reader = Reader(Underconfident(facts, seen).eval(), facts, seen, History())
    found = calibrated(reader, 0.2)
    assert found["settled_temperature"] < 1
    assert found["settled_crossover"] < found["optimal_crossover"]


def test_the_crossing_by_hand():
    """Between 10 and 1,000: the difference rises from −0.5 to 0.5, so at 100."""
    assert crossing([10, 1_000], [0.75, 0.25], [0.25, 0.75]) == pytest.approx(100)
    assert crossing([1, 10, 100], [0.8, 0.8, 0.8], [0.0, 0.1, 0.2]) is None
    assert crossing([7, 70], [0.1, 0.1], [0.8, 0.9]) == 7


def test_the_optimum_by_hand():
    known = torch.tensor([1 / 32, 0.8, 1.0], dtype=torch.double)
    unsure, equal, sure = trust(0.2, known).tolist()
    assert unsure == pytest.approx(0.8)  # without memory, the statement is right in 8 of 10 cases
    # The memory's town is then as probable as the context's, 0.8 · 0.2 / 31 against 0.2 / 31 · 0.8.
    rest = (1 - 0.2 / 31) * 0.2 / 31
    assert equal == pytest.approx(0.2 / 31 * 0.8 / (0.2 / 31 * 0.8 + rest))
    assert sure == 0
    assert overruled(0.2, known)[1].item() == pytest.approx(equal)
    assert overruled(0.2, known)[2].item() == 1
    # Without memory, each of the 31 other towns has a probability of 0.2 / 31.
    assert overruled(0.2, known)[0].item() == pytest.approx(0.2 / 31)


def test_a_perfect_memory_by_hand():
    assert counted(0) == 1 / 32
    assert counted(1) == pytest.approx(0.5 + 0.5 / 32)
    # After two equal answers the odds are 1 : 1/32 that the person is settled.
    assert counted(2) == pytest.approx(32 / 33 + 1 / 33 / 32)
    assert counted(3) > counted(2)
    assert counted(5, 1.0) == 1


def test_a_few_steps_of_training(monkeypatch):
    monkeypatch.setattr(conflicts, "BATCH", 64)
    reader = train_on_facts(0, steps=30, progress=False)
    assert not reader.model.training
    assert reader.history.loss[-1] < reader.history.loss[0] - 0.5
    assert reader.seen.sum() == 30 * 64
    assert reader.seen[reader.world.weight == 0].sum() == 0
    again = train_on_facts(0, steps=30, progress=False)
    assert again.history.loss == reader.history.loss
    assert torch.equal(again.seen, reader.seen)
    assert train_on_facts(1, steps=2, progress=False).history.loss[0] != reader.history.loss[0]
    result = measured(reader, 0.2)
    for group in (result["settled"], result["moving"]):
        assert len({len(values) for values in group.values()}) == 1
        assert all(
            0 <= one <= 1 and math.isfinite(one)
            for name in ("context", "memory", "confirmed", "known", "optimal")
            for one in group[name]
        )


def test_the_average_leaves_out_runs_without_the_group():
    runs = [
        {"settled": {"from": [1, 10], "memory": [0.2, 0.5]}},
        {"settled": {"from": [10], "memory": [0.7]}},
    ]
    assert conflict_measures.average(runs, "settled", "memory", 10) == pytest.approx(0.6)
    assert conflict_measures.average(runs, "settled", "memory", 1) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: answers(conflict_model(), world(0), "denied"), "prompt must"),
    ],
)
def test_nonsense_gets_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()
