"""Chapter 1, a bug to find: an LSTM for the recall task, correct or with one bug."""

from gates2heads.accepts import accepts, flag
from gates2heads.book.ch01.recall_task import SYMBOLS, UNITS, Rememberer
from gates2heads.grading.paper import bug_check
from gates2heads.layers.recurrent import LSTM

FORGET_BIAS = 1.0
FAULTS = {
    "a": "the gates are computed with tanh instead of a sigmoid",
    "b": "the state is detached from the computation graph before every step",
    "c": "padding is processed like real symbols",
    "d": "a batch begins with the final state of the previous batch",
    "e": "the gradient is clipped to a norm of 0.001",
}


class FaultyLSTM(LSTM):
    """The library's LSTM with one bug, which the student is to find."""

    def _step(self, projected, state, *others):
        """As in `LSTM`, except for the bug."""
        return super()._step(projected, tuple(part.detach() for part in state), *others)


@accepts(faulty=flag)
def memory(*, faulty: bool = False) -> Rememberer:
    """Make an LSTM of 32 units for the recall task, with the bug or without."""
    model = Rememberer("lstm", forget_bias=FORGET_BIAS)
    if faulty:
        correct, model.recurrent = model.recurrent, FaultyLSTM(SYMBOLS, UNITS)
        model.recurrent.load_state_dict(correct.state_dict())
    return model


check_fault = bug_check(
    "Exercise 1.5",
    FAULTS,
    {
        "a": "Then some gate would be negative; all recorded gates are between 0 and 1.",
        "c": "Then padding after a sequence would change its output; it does not.",
        "d": "Then the second run would give another output; it gives the same.",
        "e": "Then both slopes would agree, because clipping acts after autograd has computed "
        "the gradient.",
    },
    closing=": the last state contains the letter, but no gradient reaches its first step.",
)
