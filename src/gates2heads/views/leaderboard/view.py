"""The leaderboard: models trained with one budget, with their costs, scores and outputs."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from traitlets import Bool, Dict, Int, List, Unicode, validate

from gates2heads.accepts import accepts, any_seed, flag, instance, listed, number, string
from gates2heads.accepts.shown import shown
from gates2heads.metrics.seeds import seed_interval
from gates2heads.views.kit.live_view import words
from gates2heads.views.kit.view import PositionError, View, module, style

CHARACTERS = 500  # the longest text
QUALITIES = ("BLEU", "chrF", "perplexity", "perplexity, free-running")
AGAINST = ("parameters", "training cost", "decoding cost", "sentence length")
COLUMNS = (*QUALITIES, "parameters", "training cost", "decoding cost")
MEASURES = (
    *("bleu", "bleu_greedy", "chrf", "chrf_greedy", "perplexity", "perplexity_free_running"),
    *("parameters", "cost"),  # cost of a training step, as a multiple of one model's
    *("decoding", "decoding_greedy"),  # time for one caption, as a multiple of one model's
)
_RANGE = {"picked": "entries", "caption": "captions"}


class Contender(NamedTuple):
    """A model with its R runs, as shown in the leaderboard.

    Attributes:
        name: the name in table and picture.
        family: such as "recurrent"; one colour and mark each, six at most.
        attention: whether its decoder attends to the source.
        seeds: of its runs.
        scores: for each of `MEASURES` that is known, one number per run; costs of training and
            of decoding as multiples of those of the GRU without attention.
        texts: the outputs of each run for the captions of the view.
        lengths: (score, low, high) for each of the view's bins; empty if unknown.
        ranked: False for a model outside the budget.
    """

    name: str
    family: str
    attention: bool
    seeds: Sequence[int]
    scores: Mapping[str, Sequence[float]]
    texts: Sequence[Sequence[str]]
    lengths: Sequence[Sequence[float]] = ()
    ranked: bool = True


@accepts(
    contenders=listed("contenders", instance(Contender), least=1),
    captions=listed("pairs (text, reference)", words, least=1),
    bins=words,
    title=string,
    hint=string,
)
class Leaderboard(View):
    """Sort, filter and plot the models; read their outputs; translate a caption yourself.

    Sentence scores are computed in the page, by the metrics' JavaScript counterparts. Intervals of
    the means are those of `metrics.seeds.seed_interval`.

    Args:
        contenders: one or more.
        captions: (text, reference) pairs whose translations are the texts of the contenders.
        bins: names of the bins of `Contender.lengths`, such as "8–9".
        title: shown above the view.
        hint: a suggestion, in one line.

    Attributes:
        quality, against, search, family, attention, column, picked, caption, seed: the positions of
            the controls; of `family`, `attention` and `picked` 0 means all, either, none.
        best: whether the table begins with the best.
        own: the reader's translation of the caption.

    Raises:
        TypeError, ValueError: nothing is ranked, or parts of a contender are wrong or do not fit
            each other.
    """

    _esm = module(__file__)
    _css = style(__file__)

    entries = List(Dict()).tag(sync=True)
    captions = List(Dict()).tag(sync=True)
    bins = List(Dict()).tag(sync=True)
    most = Int(CHARACTERS).tag(sync=True)
    quality = Int(0).tag(sync=True)
    against = Int(0).tag(sync=True)
    search = Int(0).tag(sync=True)
    family = Int(0).tag(sync=True)
    attention = Int(0).tag(sync=True)
    column = Int(COLUMNS.index("BLEU")).tag(sync=True)
    best = Bool(True).tag(sync=True)
    picked = Int(0).tag(sync=True)
    caption = Int(0).tag(sync=True)
    seed = Int(0).tag(sync=True)
    own = Unicode().tag(sync=True)

    _positions = (
        *("family", "attention", "search", "quality", "against", "column"),
        *("picked", "caption", "seed"),
    )

    def __init__(
        self,
        contenders: Sequence[Contender],
        captions: Sequence[tuple[str, str]],
        *,
        bins: Sequence[str] = (),
        title: str = "",
        hint: str = "",
    ):
        texts = _captions(captions)
        if len(bins) == 1:
            raise ValueError("bins must name no length or two and more, got 1")
        entries = _entries(contenders, len(texts), len(bins))
        super().__init__(
            entries=entries,
            captions=texts,
            bins=[{"label": label} for label in bins],
            title=title,
            hint=hint,
        )

    def _places(self, name: str, at: dict[str, int]) -> int:
        if name == "family":
            return 1 + len({entry["family"] for entry in self.entries})
        if name == "seed":
            ranked = [entry["seeds"] for entry in self.entries if entry["ranked"]]
            return len({seed for seeds in ranked for seed in seeds})
        if name in _RANGE:
            return len(getattr(self, _RANGE[name])) + (name == "picked")
        fixed = {"attention": 3, "search": 2, "quality": len(QUALITIES), "against": len(AGAINST)}
        return {**fixed, "column": len(COLUMNS)}[name]

    @validate(*_positions)
    def _inside(self, proposal: dict[str, Any]) -> int:
        return self._checked(proposal)

    @validate("own")
    def _short(self, proposal: dict[str, Any]) -> str:
        if len(proposal["value"]) > CHARACTERS:
            raise PositionError(f"own must have at most {CHARACTERS} characters")
        return proposal["value"]

    def __repr__(self):
        return f"Leaderboard({len(self.entries)} models, {len(self.captions)} captions)"


def _captions(captions: Sequence[tuple[str, str]]) -> list[dict]:
    for place, pair in enumerate(captions):
        if len(pair) != 2 or not pair[1].strip():
            raise ValueError(
                f"captions[{place}] must be a text and its reference, got {shown(pair)}"
            )
    return [{"source": source, "reference": reference} for source, reference in captions]


def _entries(contenders: Sequence[Contender], captions: int, bins: int) -> list[dict]:
    entries = [
        _entry(one, f"contenders[{place}]", captions, bins) for place, one in enumerate(contenders)
    ]
    if not any(entry["ranked"] for entry in entries):
        raise ValueError("contenders must hold at least one that is ranked, got none")
    return entries


def _entry(one: Contender, name: str, captions: int, bins: int) -> dict:
    for part in ("name", "family"):
        string.check(f"{name}.{part}", getattr(one, part))
    for part in ("attention", "ranked"):
        flag.check(f"{name}.{part}", getattr(one, part))
    for part in ("seeds", "texts", "lengths"):
        if not isinstance(getattr(one, part), list | tuple):
            raise TypeError(f"{name}.{part} must be a list, got {shown(getattr(one, part))}")
    listed("seeds", any_seed, least=1).check(f"{name}.seeds", one.seeds)
    runs = len(one.seeds)
    if len(one.texts) != runs:
        raise ValueError(f"{name}.texts must hold one list per run, {runs}, got {len(one.texts)}")
    for texts in one.texts:
        words.check(f"{name}.texts", texts)
        if len(texts) != captions:
            raise ValueError(
                f"{name}.texts must have {captions} texts per run, as captions, got {len(texts)}"
            )
    return {
        **one._asdict(),
        "seeds": list(one.seeds),
        "texts": [list(texts) for texts in one.texts],
        "scores": _scores(one.scores, f"{name}.scores", runs),
        "lengths": _lengths(one.lengths, f"{name}.lengths", bins),
    }


def _scores(scores: Mapping, name: str, runs: int) -> dict:
    if not isinstance(scores, Mapping):
        raise TypeError(f"{name} must map measures to numbers, got {shown(scores)}")
    summaries = {}
    for measure, values in scores.items():
        if measure not in MEASURES:
            raise ValueError(f"{name} must be of {', '.join(MEASURES)}, got {shown(measure)}")
        if not isinstance(values, list | tuple) or len(values) != runs:
            raise ValueError(f"{name}[{measure!s}] must hold {runs} numbers, got {shown(values)}")
        for value in values:
            number.check(f"{name}[{measure!s}]", value)
        numbers = [float(value) for value in values]
        low, high = seed_interval(numbers) if runs > 1 else (None, None)
        summaries[measure] = {"values": numbers, "low": low, "high": high}
    return summaries


def _lengths(lengths: Sequence[Sequence[float]], name: str, bins: int) -> list[dict]:
    if len(lengths) not in (0, bins):
        raise ValueError(f"{name} must hold {bins} triples, as bins, or none, got {len(lengths)}")
    intervals = []
    for triple in lengths:
        if not isinstance(triple, list | tuple) or len(triple) != 3:
            raise ValueError(f"{name} must hold triples (score, low, high), got {shown(triple)}")
        for value in triple:
            number.check(name, value)
        intervals.append(dict(zip(("bleu", "low", "high"), map(float, triple), strict=True)))
    return intervals
