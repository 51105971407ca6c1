"""Early stopping: training ends when evaluations no longer improve, the best model is kept."""

from collections.abc import Callable
from dataclasses import dataclass
from math import isnan
from numbers import Real
from typing import Any

from torch import nn

from gates2heads.accepts import accepts, function, natural
from gates2heads.accepts.shown import shown


def as_number(evaluation: Any) -> Any:
    """The evaluation itself, if it is the number to compare."""
    return evaluation


@accepts(patience=natural, score=function("evaluation"))
@dataclass(frozen=True)
class EarlyStopping:
    """The stopping criterion, computed from the evaluations in a run's history.

    Source: Prechelt 1998, "Early Stopping – But When?", criterion UP: stop after s evaluations in
    a row that are worse. Departs from it in comparing with the best so far, not with the one
    before.

    The object is stateless: everything is in the history, so that a resumed run stops where an
    uninterrupted one does.

    Args:
        patience: the number of consecutive evaluations without improvement before training stops.
        score: from an evaluation to a number, higher is better; for a loss, use
            `lambda loss: -loss`.
    """

    patience: int
    score: Callable[[Any], float] = as_number

    def best(self, history) -> int:
        """The index of the best evaluation, from 0; the first of equals."""
        scores = [self._checked(self.score(one)) for one in history.evaluations]
        return scores.index(max(scores))

    def judge(self, model: nn.Module, history) -> bool:
        """Process the last evaluation: store its parameters if best; return whether to stop.

        The copy of the parameters is stored in the history, and with it in a checkpoint.
        """
        if self.best(history) == len(history.evaluations) - 1:
            weights = model.state_dict()
            history.best_weights = {name: t.detach().cpu().clone() for name, t in weights.items()}
        return self.over(history)

    def over(self, history) -> bool:
        """Whether the patience is exhausted."""
        if not history.evaluations:
            return False
        return len(history.evaluations) - 1 - self.best(history) >= self.patience

    def restore(self, model: nn.Module, history) -> None:
        """Restore the best parameters, if there was an evaluation."""
        if history.best_weights:
            model.load_state_dict(history.best_weights)

    @staticmethod
    def _checked(score: float) -> float:
        if not isinstance(score, Real) or isnan(score):
            raise TypeError(f"score must return a number for every evaluation, got {shown(score)}")
        return score
