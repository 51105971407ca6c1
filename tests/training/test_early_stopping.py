"""EarlyStopping: when a run ends, which weights stay, and that a resumed run ends there too."""

import copy
import math

import pytest
import torch
from torch import nn

from gates2heads.training.early_stopping import EarlyStopping
from gates2heads.training.loop import History, fit
from gates2heads.training.resuming.training_checkpoints import TrainingCheckpoint


class Point(nn.Module):
    """One weight, which AdamW moves down by the learning rate a step."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(10.0))


class One:
    """A batch that says nothing."""

    def to(self, device):
        return self


def run(answers, *, patience=2, steps=11, every=1, score=None, checkpoint=None, batches=None):
    """Train with these answers of the evaluation, one every `every` steps."""
    model, told = Point(), iter(answers)
    stopping = EarlyStopping(patience) if score is None else EarlyStopping(patience, score)
    history = fit(
        model,
        [One()] * steps if batches is None else batches,
        steps=steps,
        loss=lambda model, batch: model.weight,
        learning_rate=1.0,
        evaluate=lambda model: next(told),
        evaluate_at=range(every, steps + 1, every),
        early_stopping=stopping,
        checkpoint=checkpoint,
        progress=False,
    )
    return model, history


def test_by_hand():
    # 3, 5, 4, 5: the second is the best; the third and the fourth are no better. Patience 2 ends
    # the run after step 4, and the weight is the one after step 2: 10 − 2 · 1 = 8.
    model, history = run([3, 5, 4, 5, 9])
    assert history.evaluations == [3, 5, 4, 5]
    assert history.evaluated_at == [1, 2, 3, 4]
    assert len(history.loss) == 4
    assert model.weight.item() == pytest.approx(8.0, abs=1e-4)


def test_patience_begins_anew_with_each_improvement():
    model, history = run([3, 2, 4, 3, 5, 1, 1, 9])
    assert history.evaluations == [3, 2, 4, 3, 5, 1, 1]
    assert model.weight.item() == pytest.approx(5.0, abs=1e-4)


def test_a_run_to_the_last_step_also_keeps_the_best_weights():
    model, history = run([1, 7, 3], steps=7, every=2, patience=5)
    assert len(history.loss) == 7
    assert model.weight.item() == pytest.approx(6.0, abs=1e-4)  # after step 4


def test_the_score_says_what_is_better():
    answers = [{"loss": 2.0}, {"loss": 1.0}, {"loss": 3.0}, {"loss": 5.0}]
    model, history = run(answers, score=lambda answer: -answer["loss"])
    assert len(history.loss) == 4
    assert model.weight.item() == pytest.approx(8.0, abs=1e-4)


class InterruptionError(Exception):
    pass


def until(last):
    for number in range(11):
        if number == last:
            raise InterruptionError
        yield One()


@pytest.mark.parametrize("interrupted_after", [1, 2, 3])
def test_an_interrupted_run_stops_where_an_uninterrupted_one_does(tmp_path, interrupted_after):
    answers = [3, 5, 4, 5, 9]
    checkpoint = TrainingCheckpoint(tmp_path / "run.pt", every=1)
    with pytest.raises(InterruptionError):
        run(answers, checkpoint=checkpoint, batches=until(interrupted_after))
    model, history = run(answers[interrupted_after:], checkpoint=checkpoint)
    whole, expected = run(answers)
    assert history.evaluations == expected.evaluations
    assert torch.equal(model.weight, whole.weight)


def test_a_stopped_run_is_read_and_not_trained_again(tmp_path):
    checkpoint = TrainingCheckpoint(tmp_path / "run.pt", every=100)
    first, history = run([3, 5, 4, 5, 9], checkpoint=checkpoint)
    again, same = run([], checkpoint=checkpoint)
    assert same.evaluations == history.evaluations
    assert len(same.loss) == 4
    assert torch.equal(again.weight, first.weight)


def test_the_kept_weights_are_a_copy():
    model, history = Point(), History(evaluations=[1.0])
    assert not EarlyStopping(1).judge(model, history)
    before = copy.deepcopy(history.best_weights)
    with torch.no_grad():
        model.weight += 3
    assert torch.equal(history.best_weights["weight"], before["weight"])
    EarlyStopping(1).restore(model, history)
    assert model.weight.item() == 10.0


def test_nothing_is_over_before_the_first_evaluation():
    model = Point()
    assert not EarlyStopping(1).over(History())
    EarlyStopping(1).restore(model, History())
    assert model.weight.item() == 10.0


def test_bad_input():
    for answer in (math.nan, "good", None):
        with pytest.raises(TypeError, match="score must"):
            run([answer])
    good = {"steps": 1, "loss": lambda model, batch: model.weight, "learning_rate": 1.0}
    with pytest.raises(ValueError, match="early_stopping needs `evaluate` and `evaluate_at`"):
        fit(Point(), [One()], **good, early_stopping=EarlyStopping(1))
