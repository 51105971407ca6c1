"""The models of the comparison, and the summary of each model's runs.

All read the same captions, cut into the same pieces, for the same number of steps. A model is given
by a recipe; a run is a recipe with a seed; a standing is the stored results of all runs of a
recipe.
"""

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import NamedTuple

from gates2heads.accepts import accepts, choice
from gates2heads.accepts.shown import shown
from gates2heads.book.studies import ROWS, results_of
from gates2heads.metrics.seeds import seed_interval
from gates2heads.metrics.significance import Interval


class Rung(NamedTuple):
    """A model of the comparison, as its recipe describes it.

    Attributes:
        name: for tables and figures.
        family: "recurrent", "convolution" or "Transformer".
        attention: whether its decoder attends to all words of the source.
        in_turn: whether decoding is autoregressive.
    """

    name: str
    family: str
    attention: bool
    in_turn: bool = True


RUNGS = {
    "captions-rnn": Rung("RNN", "recurrent", False),
    "captions-lstm": Rung("LSTM", "recurrent", False),
    "captions-lstm-context": Rung("LSTM with repeated context", "recurrent", False),
    "captions-gru": Rung("GRU", "recurrent", False),
    "captions-bahdanau": Rung("GRU + additive attention", "recurrent", True),
    "captions-luong": Rung("GRU + Luong attention", "recurrent", True),
    "captions-convolutional": Rung("convolutional model", "convolution", True),
    "captions-transformer": Rung("Transformer", "Transformer", True),
    "captions-rotary": Rung("rotary Transformer", "Transformer", True),
    "captions-universal": Rung("Universal Transformer", "Transformer", True),
    "captions-at-once": Rung("non-autoregressive model", "Transformer", True, in_turn=False),
}


class Standing(NamedTuple):
    """The runs of one model.

    Attributes:
        rung: the model.
        seeds: of the runs, in their order.
        results: one dict per run, as in the study `"ladder"`.
    """

    rung: Rung
    seeds: list[int]
    results: list[dict]

    def of(self, measure: str) -> list[float]:
        """One number per run, such as those of "bleu".

        Raises:
            ValueError: the results have no such measure.
        """
        choice(self.results[0]).check("measure", measure)
        return [result[measure] for result in self.results]

    def mean(self, measure: str) -> float:
        """The mean over the runs.

        Raises:
            ValueError: the results have no such measure.
        """
        return mean(self.of(measure))

    def interval(self, measure: str, *, confidence: float = 0.95) -> Interval | None:
        """The confidence interval of the mean over seeds; None for a single run.

        Raises:
            ValueError: no such measure, or a confidence out of range.
        """
        values = self.of(measure)
        return seed_interval(values, confidence=confidence) if len(values) > 1 else None


@accepts(rows=ROWS(least=1))
def standings(rows: Sequence[Mapping]) -> dict[str, Standing]:
    """Sort rows of the study `"ladder"` by recipe, in the order of `RUNGS`.

    Args:
        rows: from `read_study`; a recipe outside the comparison has none.

    Returns:
        one standing for each recipe that has a run.

    Raises:
        ValueError: a row belongs to a model outside the comparison.
    """
    there = {row["setting"] for row in rows}
    if unknown := there - RUNGS.keys():
        raise ValueError(f"rows must be of {', '.join(RUNGS)}, got {shown(min(unknown))}")
    found = {}
    for recipe, rung in RUNGS.items():
        if recipe in there:
            seeds = [row["seed"] for row in rows if row["setting"] == recipe]
            found[recipe] = Standing(rung, seeds, results_of(rows, recipe))
    return found
