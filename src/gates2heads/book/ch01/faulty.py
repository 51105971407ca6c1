"""Chapter 1, when it breaks: a reader that should remember, sound or with one fault."""

from gates2heads.accepts import accepts, flag
from gates2heads.book.ch01.recall_task import SYMBOLS, UNITS, Rememberer
from gates2heads.grading.verdict import check, chosen_fault
from gates2heads.layers.recurrent import LSTM

FORGET_BIAS = 1.0
FAULTS = {
    "a": "the gates go through tanh and not through a sigmoid",
    "b": "the state is cut off from its past at every step, so that no gradient passes",
    "c": "padding is read as if it were text",
    "d": "a batch begins with the state in which the batch before it ended",
}


class FaultyLSTM(LSTM):
    """The library's LSTM with one fault, which the reader is to find."""

    def _step(self, projected, state, *others):
        """As in `LSTM`, but for the fault."""
        return super()._step(projected, tuple(part.detach() for part in state), *others)


@accepts(faulty=flag)
def memory(*, faulty: bool = False) -> Rememberer:
    """Make an LSTM of 32 units that shall name the first letter, with the fault or without."""
    model = Rememberer("lstm", forget_bias=FORGET_BIAS)
    if faulty:
        sound, model.recurrent = model.recurrent, FaultyLSTM(SYMBOLS, UNITS)
        model.recurrent.load_state_dict(sound.state_dict())
    return model


@check("Exercise 1.6")
def check_fault(letter) -> str:
    """Check the reader's diagnosis of the faulty memory: one letter of `FAULTS`."""
    contradiction = {
        "a": "Then some gate would be below 0; all that were recorded lie between 0 and 1.",
        "c": "Then padding behind a text would change its answer; it does not.",
        "d": "Then the same text would get another answer the second time; it gets the same.",
    }
    fault = chosen_fault(letter, FAULTS, contradiction)
    return f"{fault}: the letter is still in the state, but no step learns how to write it there."
