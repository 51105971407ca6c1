"""Nonsense for every public entry, and the walk that hands it over.

An entry is `name: (call, good arguments, {argument: values that must be refused})`. A refusal is a
ValueError or a TypeError (where a docstring says so, a KeyError or a FloatingPointError) that the
library itself raised (not an IndexError or RuntimeError that came up from inside torch), in one
line that names an argument. Besides, every argument of every entry is given the odd values below,
NaN, empty and huge ones among them: these may also be answered, but nothing may come up from
inside.
"""

import inspect
import math
import re
import traceback
from collections import OrderedDict
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from babel import UnknownLocaleError
from torch import Tensor, nn

import gates2heads
from gates2heads.data.batches.pairs import collate
from gates2heads.data.tokens.characters import CharacterTokenizer
from gates2heads.data.tokens.vocabulary import Vocabulary

PACKAGE = str(Path(gates2heads.__file__).parent)
B, T, S, D, U, V = 2, 3, 5, 7, 6, 11
HUGE = 10**30
PROMISED = (UnknownLocaleError, FileNotFoundError)  # what a docstring announces besides

THINGS = [object(), "nonsense", {"a": 1}]
COUNTS = [*THINGS, None, 0, -1, 2.5, math.nan, math.inf, [], True, torch.ones(2), HUGE]
POSITIVES = [*THINGS, None, 0, -0.5, math.nan, math.inf, [], True]
SHARES = [*THINGS, None, -0.1, 1.1, math.nan, math.inf]
CHOICES = [*THINGS, 3, [], math.nan, None]
FLAGS = [*THINGS, None, 0, 1, [], math.nan]
FLOATS = [*THINGS, None, 3, [1.0], torch.zeros(B, dtype=torch.long), torch.tensor(1.0)]
FLOATS += [torch.zeros(0), torch.zeros(2, 2, 2, 2, 2), torch.zeros(13, 17, 19), torch.zeros(13, 17)]
TOKENS = [*THINGS, None, 3, [[3]], torch.zeros(B, S), torch.tensor(3), torch.zeros(0, 0).long()]
TOKENS += [torch.full((B, S), V), torch.full((B, S), -1), torch.full((B, S), 2**62)]
TOKENS += [torch.zeros(2, 2, 2).long(), torch.zeros(B, 0).long(), torch.zeros(B, S).bool()]
# Of TOKENS those without a token number 11, which vocabularies of at least twelve have, and 99.
FEW = [x for x in TOKENS if not (isinstance(x, Tensor) and x.numel() and x.max() == V)]
FEW += [torch.full((B, S), 99)]
SEEDS = [-HUGE, "a", 2.5]
MASKS = [*THINGS, True, [True], torch.ones(B, S), torch.ones(B, S).long()]
MASKS += [torch.ones(13, 17).bool(), torch.ones(0, 13).bool(), torch.ones(1, 1, 1, 1, 1).bool()]
LISTS = [object(), 3, None, 2.5]

ODD = [*THINGS, b"a", "", None, True, 0, -1, 2.5, math.nan, math.inf, HUGE, [], [None], {}, ()]
ODD += [np.array(["a", "b"]), np.array([1, 2]), OrderedDict(a=1), 1e200, 1j]
ODD += [torch.ones(2, 5, device="meta"), torch.eye(3).to_sparse(), HUGE**99, ["\udc80"]]
ODD += [Fraction(1, 3), Decimal("0.3")]
ODD += [lambda *_, **__: None, torch.zeros(0), torch.full((B, S), 1e38), torch.ones(13, 17).bool()]


SOURCE = torch.full((B, S), 3)
MASK = torch.ones(B, S).bool()
BATCH = collate([([3, 4, 2], [5, 2]), ([3, 2], [5, 6, 2])])
TOKENIZER = CharacterTokenizer(Vocabulary.from_texts(["abc"]))


def floats(*shape):
    return torch.randn(*shape)


def first(stream):
    return next(iter(stream))


def first_drawn(draw):
    """Draw the first batch: only then does a generator look at its arguments."""
    return through(draw, lambda **given: next(draw(**given)))


def through(subject, call):
    """Let an entry walk `subject` by way of `call`, which hands its arguments on."""
    call.__wrapped__ = subject
    return call


def subject(call):
    """The class or function that an entry walks."""
    if isinstance(call, partial):
        return subject(call.func)
    if inspect.ismethod(call):
        return call.__func__
    if isinstance(call, nn.Module):
        return type(call).forward
    return inspect.unwrap(call)


def odd_relatives(good):
    """A good value with something wrong: another shape or dtype, empty, NaN, huge."""
    if isinstance(good, Tensor):
        wrong = [good[None], good.to(torch.float16), good.bool(), good.tolist()]
        wrong += [good.to("meta"), good.detach().to_sparse(), good.to(torch.complex64)]
        if good.dim():
            wrong += [good[:0], good[..., :0], good[:1], good[0]]
        if good.is_floating_point():
            return [*wrong, good * math.nan, good + math.inf, good * 1e38, good.double()]
        return [*wrong, ~good] if good.dtype == torch.bool else [*wrong, good + 2**40, -1 - good]
    if isinstance(good, list | tuple) and type(good) in (list, tuple):
        return [good[:0], [*good, None], [*good, object()], [good], [*good, math.nan]]
    return []


def complaint(call, given, argument, names=()):
    """What is wrong with the refusal of this call, or None; "did not happen" if it was answered."""
    try:
        call(**given)
    except PROMISED:
        return None
    except (TypeError, ValueError, KeyError, FloatingPointError) as error:
        where, sentence = traceback.extract_tb(error.__traceback__)[-1], str(error)
        if not (where.filename.startswith(PACKAGE) and where.line.startswith("raise")):
            return f"came up from inside, {where.filename}:{where.lineno}: {sentence}"
        named = any(re.search(rf"\b{name}\b", sentence) for name in (*given, *names))
        if not named or len(sentence.splitlines()) != 1:
            return f"is not one line that names an argument: {sentence}"
        return None
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"is a {type(error).__name__} from {where.filename}:{where.lineno}: {error}"
    return "did not happen"


def walk(entries, also=None):
    """The two tests of some entries: good arguments are answered, nonsense is not.

    `also` maps an argument to what a refusal may call it instead, such as the inner layer's word.
    """
    also = also or {}

    def faults(name):
        call, good, refused = entries[name]
        for argument, right in good.items():
            must = refused.get(argument, [])
            for number, value in enumerate([*must, *ODD, *odd_relatives(right)]):
                given = {**good, argument: value}
                fault = complaint(call, given, argument, also.get(argument, ()))
                if fault is not None and (number < len(must) or fault != "did not happen"):
                    yield f"the refusal of {argument}={value!r:.80} {fault}"

    @pytest.mark.parametrize("name", entries)
    def good_arguments_are_good(name):
        call, good, refused = entries[name]
        call(**good)
        assert set(refused) <= set(good)

    @pytest.mark.parametrize("name", entries)
    def nonsense_is_refused(name):
        found = list(faults(name))
        assert not found, "\n".join(found)

    return good_arguments_are_good, nonsense_is_refused
