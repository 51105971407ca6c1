"""The walk of `nonsense.py` through what chapter 11 adds: runs, standings, and the leaderboard."""

import math
from functools import partial

from gates2heads.display.widgets import Contender, Leaderboard
from gates2heads.exercises.faulty_board import told
from gates2heads.metrics.seeds import exchange_runs, pareto_front, seed_interval, student_quantile
from gates2heads.training.leaderboard import RUNGS, Standing, standings
from tests.nonsense import FLAGS, HUGE, LISTS, SHARES, THINGS, through, walk

NUMBERS = [*LISTS, [], ["a"], [None, 1.0], [math.nan, 1.0], [math.inf, 1.0], [True, 2.0], "ab"]
COUNTS = [*THINGS, None, [], "3", 2.5, 0, -1, HUGE]
ROWS = [{"setting": "captions-gru", "seed": 0, "result": {"bleu": 20.0}}]
GRU = Standing(RUNGS["captions-gru"], [0, 1], [{"bleu": 20.0}, {"bleu": 21.0}])
MEASURES = [*THINGS, None, 3, [], "x"]
ONE = Contender("GRU", "recurrent", False, [0], {"bleu": [20.0]}, [["A dog."]])
CAPTIONS = [("Ein Hund.", "A dog.")]
WORDS = [object(), None, 3, [], "\udc80"]
PLACES = [object(), None, "a", [], math.nan, math.inf]
ENTRIES = {
    "student_quantile": (
        student_quantile,
        {"share": 0.9, "degrees": 3},
        {"share": [*SHARES, 0, 1], "degrees": COUNTS},
    ),
    "seed_interval": (
        seed_interval,
        {"scores": [1.0, 2.0], "confidence": 0.9},
        {"scores": [*NUMBERS, [1.0]], "confidence": [*SHARES, 0, 1]},
    ),
    "exchange_runs": (
        exchange_runs,
        {"first": [1.0], "second": [2.0, 3.0]},
        {"first": [*NUMBERS, [1.0] * 11], "second": NUMBERS},
    ),
    "pareto_front": (
        pareto_front,
        {"costs": [1.0, 2.0], "qualities": [2.0, 3.0]},
        {"costs": NUMBERS, "qualities": [*NUMBERS, [1.0]]},
    ),
    "told": (
        told,
        {"scores": [1.0, 2.0], "faulty": True},
        {"scores": [*NUMBERS, [1.0]], "faulty": FLAGS},
    ),
    "standings": (
        standings,
        {"rows": ROWS},
        {"rows": [*LISTS, [], [3], [{}], [{"setting": "a", "seed": 0, "result": {}}]]},
    ),
    "Standing.of": (
        through(Standing.of, partial(GRU.of)),
        {"measure": "bleu"},
        {"measure": MEASURES},
    ),
    "Standing.mean": (
        through(Standing.mean, partial(GRU.mean)),
        {"measure": "bleu"},
        {"measure": MEASURES},
    ),
    "Standing.interval": (
        through(Standing.interval, partial(GRU.interval)),
        {"measure": "bleu", "confidence": 0.9},
        {"measure": MEASURES, "confidence": [*SHARES, 0, 1]},
    ),
    "Leaderboard": (
        Leaderboard,
        {"contenders": [ONE], "captions": CAPTIONS, "bins": [], "title": "Board", "hint": "Sort"},
        {
            "contenders": [*LISTS, "ab", [], [3], [None], [ONE._asdict()]]
            + [[ONE._replace(name=name)] for name in WORDS]
            + [[ONE._replace(family=name)] for name in WORDS]
            + [[ONE._replace(attention=name)] for name in (3, None, "yes")]
            + [[ONE._replace(seeds=seeds)] for seeds in (3, None, [], ["a"], [0, 1], [HUGE**9])]
            + [[ONE._replace(texts=texts)] for texts in (3, None, [], [3], [["a", "b"]], ["a"])]
            + [[ONE._replace(scores=some)] for some in (3, None, {3: [1.0]}, {"bleu": 3})]
            + [[ONE._replace(scores={"bleu": some})] for some in ([None], ["a"], [math.nan])]
            + [[ONE._replace(lengths=some)] for some in (3, None, "a", [3], [(1, 2, 3)])],
            "captions": [*LISTS, "ab", [], [3], [("a",)], [("a", 3)], [("a", "")]],
            "bins": [*LISTS, 3, [3], ["a"], ["\ud800", "b"]],
            **dict.fromkeys(("title", "hint"), WORDS),
        },
    ),
    "Leaderboard.set_state": (
        through(Leaderboard.set_state, partial(Leaderboard([ONE], CAPTIONS).set_state)),
        {"sync_data": {"quality": 99}},
        {"sync_data": [*THINGS[:2], None, 3, [], {1: 2}] + [{"seed": place} for place in PLACES]},
    ),
}

test_good_arguments_are_answered, test_nonsense_is_refused_in_the_librarys_own_words = walk(ENTRIES)
