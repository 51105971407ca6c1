"""Searches of the engine beside those of the library: the same tokens, scores and trees."""

import math

import pytest
import torch

from gates2heads.decoding.beam import beam
from gates2heads.decoding.lengths import Power, Wu
from gates2heads.decoding.sampling import keep_min_p, keep_top_k, keep_top_p, narrow, temper
from gates2heads.decoding.search import greedy
from gates2heads.decoding.trace import Tree
from tests.decoding.step_functions import RandomTables

CASES = 500  # fewer in a quick run
COUNTS = [150, pytest.param(CASES, marks=pytest.mark.slow)]


def cases(count):
    """Tables of different sizes with options for a beam, all drawn by one seed."""
    generator = torch.Generator().manual_seed(7)

    def draw(low, high):
        return int(torch.randint(low, high, (), generator=generator))

    for seed in range(count):
        size, length = [(2, 6), (3, 5), (5, 4), (7, 3), (11, 3)][draw(0, 5)]
        tables = RandomTables(1, size, length, seed, zeros=[0.0, 0.3][draw(0, 2)], sharpness=2.0)
        width = draw(1, 6)
        options = {"width": width, "n_best": draw(1, width + 1), "refill": bool(draw(0, 2))}
        options["early_stopping"] = bool(draw(0, 4))
        rule = [None, Power(0.75), Power(1.2), Power(-0.5), Wu(0.6)][draw(0, 5)]
        options["length_rule"] = rule
        search = {"bos": 0, "eos": [None, size - 1][bool(draw(0, 5))], "max_length": length}
        yield tables, search, options, draw(1, 5)


def forced(chosen):
    """The same cases, each with a prefix to begin with; at half of them the tree is thinned."""
    generator = torch.Generator().manual_seed(13)
    for number, (tables, search, options, branches) in enumerate(chosen):
        count = int(torch.randint(1, tables.length + 1, (), generator=generator))
        prefix = torch.randint(tables.size, (count,), generator=generator).tolist()
        if search["eos"] in prefix[:-1]:
            prefix = prefix[: prefix.index(search["eos"]) + 1]
        yield (
            tables,
            {**search, "prefix": prefix},
            options,
            branches,
            [None, number % 4][number % 2],
        )


def free(chosen):
    """The same cases, none of them forced, and no tree thinned."""
    for tables, search, options, branches in chosen:
        yield tables, search, options, branches, None


WAYS = pytest.mark.parametrize("way", [free, forced])


def levels(tables):
    return [level[0] for level in tables.levels]


def camel(options):
    """The engine's names of the library's options."""
    named = {"max_length": "maxLength", "n_best": "nBest", "early_stopping": "earlyStopping"}
    rule = options.get("length_rule")
    plain = {
        named.get(name, name): value for name, value in options.items() if name != "length_rule"
    }
    return plain | ({"rule": {"kind": type(rule).__name__, "alpha": rule.alpha}} if rule else {})


@WAYS
@pytest.mark.parametrize("count", COUNTS)
def test_greedy_writes_the_same_tokens(node, count, way):
    chosen = list(way(cases(count)))
    requests = [
        {"op": "search", "levels": levels(tables), "kind": "greedy",
         "options": {**camel(search), "branches": branches, "pruned": pruned}}
        for tables, search, _, branches, pruned in chosen
    ]  # fmt: skip
    for (tables, search, _, branches, pruned), answer in zip(
        chosen, node.ask(requests), strict=True
    ):
        tree = Tree(branches, pruned=pruned)
        output = greedy(tables.step, tables.start, **search, trace=tree)
        assert answer["found"]["tokens"] == output.tokens[0].tolist()
        assert answer["found"]["logProb"] == pytest.approx(output.log_prob.item(), abs=1e-12)
        assert answer["found"]["finished"] == output.finished.item()
        assert same_nodes(answer["nodes"], tree.plain(0))


@WAYS
@pytest.mark.parametrize("count", COUNTS)
def test_beams_find_the_same_sequences_and_grow_the_same_trees(node, count, way):
    chosen = list(way(cases(count)))
    requests = [
        {"op": "search", "levels": levels(tables), "kind": "beam",
         "options": {**camel({**search, **options}), "branches": branches, "pruned": pruned}}
        for tables, search, options, branches, pruned in chosen
    ]  # fmt: skip
    several = 0
    for (tables, search, options, branches, pruned), answer in zip(
        chosen, node.ask(requests), strict=True
    ):
        tree = Tree(branches, pruned=pruned)
        found = beam(tables.step, tables.start, **search, **options, trace=tree)
        lengths = found.length[0].tolist()
        expected = [
            (row[:length], pytest.approx(log_prob), pytest.approx(score), finished)
            for row, length, log_prob, score, finished in zip(
                *(part[0].tolist() for part in found[:5]), strict=True
            )
            if length
        ]
        engine = [
            (one["tokens"], one["logProb"], one["score"], one["finished"])
            for one in answer["found"]
        ]
        assert engine == expected
        assert [one["length"] for one in answer["found"]] == [
            length for length in lengths if length
        ]
        assert same_nodes(answer["nodes"], tree.plain(0))
        several += len(expected) > 1
    assert several > count / 5


def same_nodes(ours, theirs):
    numbers = ("log_prob", "score")
    return len(ours) == len(theirs) and all(
        {**mine, **dict.fromkeys(numbers)} == {**other, **dict.fromkeys(numbers)}
        and all(math.isclose(mine[name], other[name], abs_tol=1e-12) for name in numbers)
        for mine, other in zip(ours, theirs, strict=True)
    )


def test_distributions_are_narrowed_alike(node):
    generator = torch.Generator().manual_seed(3)
    requests, expected = [], []
    for size in [2, 3, 5, 7, 31, 97] * 90:
        log_probs = (3 * torch.randn(size, generator=generator).double()).log_softmax(-1)
        log_probs[1:][torch.rand(size - 1, generator=generator) < 0.2] = -torch.inf
        temperature, share = (torch.rand(2, generator=generator) * 0.98 + 0.01).tolist()
        k = int(torch.randint(1, size + 2, (), generator=generator))
        least = share / 3
        asked = {"temperature": 3 * temperature, "topK": k, "topP": share, "minP": least}
        requests.append({"op": "narrow", "logProbs": log_probs, **asked})
        narrowed = [temper(log_probs, 3 * temperature), keep_top_k(log_probs, k)]
        narrowed += [keep_top_p(log_probs, share), keep_min_p(log_probs, least)]
        how = {"temperature": 3 * temperature, "top_k": k, "top_p": share, "min_p": least}
        expected.append([*narrowed, narrow(log_probs, **how)])
    for answer, wanted in zip(node.ask(requests), expected, strict=True):
        for ours, theirs in zip(answer.values(), wanted, strict=True):
            assert torch.allclose(ours, theirs, atol=1e-12, rtol=0)


def test_a_nucleus_ends_with_the_token_that_fills_it_by_hand(node):
    """Two halves: the first alone holds a half; a share of 0 still leaves one token."""
    log_probs = torch.tensor([0.5, 0.5], dtype=torch.double).log()
    asked = {"op": "narrow", "logProbs": log_probs, "temperature": 1.0, "topK": 2}
    shares = [0.0, 0.5, 0.5000001, 1.0]
    answers = node.ask([{**asked, "topP": share} for share in shares])
    assert [answer["topP"].exp().tolist() for answer in answers] == [
        *([1.0, 0.0], [1.0, 0.0]),
        *([0.5, 0.5], [0.5, 0.5]),
    ]


def test_of_complete_sequences_with_one_score_the_first_stays_first(node):
    options = {"bos": 0, "eos": None, "maxLength": 1, "width": 3, "nBest": 3}
    found = node.one("searchWith", answers=[-1.5, -1.0, -1.0, -1.0], kind="beam", options=options)
    assert [(one["tokens"], one["score"]) for one in found] == [([1], -1), ([2], -1), ([3], -1)]


def test_a_draw_is_the_first_token_at_which_the_shares_exceed_the_number(node):
    probs = torch.tensor([0.25, 0.0, 0.5, 0.125, 0.125], dtype=torch.double)
    uniforms = [0.0, 0.2499, 0.2501, 0.7499, 0.7501, 0.8749, 0.8751, 0.9999999]
    found = node.one("draws", logProbs=probs.log(), uniforms=uniforms)
    assert found == [0, 0, 2, 2, 3, 3, 4, 4]


@WAYS
@pytest.mark.parametrize("count", COUNTS)
def test_samples_are_drawn_from_the_narrowed_distributions(node, count, way):
    chosen = list(way(cases(count)))
    generator = torch.Generator().manual_seed(11)
    requests = []
    for tables, search, _, branches, _ in chosen:
        uniforms = torch.rand(tables.length, generator=generator).tolist()
        narrow = {"temperature": 0.8, "topK": 3, "topP": 0.9}
        options = {**camel(search), **narrow, "uniforms": uniforms, "branches": branches}
        requests.append(
            {"op": "search", "levels": levels(tables), "kind": "sample", "options": options}
        )
    uniforms_of = [list(request["options"]["uniforms"]) for request in requests]
    answers = node.ask(requests)
    for (tables, search, *_), uniforms, answer in zip(chosen, uniforms_of, answers, strict=True):
        tokens, prefix, total = [], 0, 0.0
        for level, uniform in zip(tables.levels, uniforms, strict=True):
            log_probs = level[0, prefix]
            narrowed = keep_top_p(keep_top_k(temper(log_probs, 0.8), 3), 0.9).exp()
            token = int((narrowed.cumsum(0) <= uniform * narrowed.sum()).sum())
            if len(tokens) < len(search.get("prefix", [])):
                token = search["prefix"][len(tokens)]  # the number is drawn all the same
            tokens.append(token)
            total += log_probs[token].item()
            prefix = prefix * tables.size + token
            if token == search["eos"]:
                break
        assert answer["found"]["tokens"] == tokens
        assert answer["found"]["logProb"] == pytest.approx(total)


def test_the_generator_is_repeatable_and_even(node):
    first, again, other = (node.one("uniforms", seed=seed, count=20_000) for seed in (5, 5, 6))
    assert first == again != other
    numbers = torch.tensor([first, other], dtype=torch.double)
    assert (numbers >= 0).all()
    assert (numbers < 1).all()
    counts = torch.stack([torch.histc(row, 20, 0, 1) for row in numbers])
    # Chi-squared with 19 degrees of freedom exceeds 50 once in 10,000 times.
    assert ((counts - 1000).square() / 1000).sum(dim=1).max() < 50
    assert torch.corrcoef(numbers)[0, 1].abs() < 0.05
    assert torch.corrcoef(torch.stack([numbers[0, 1:], numbers[0, :-1]]))[0, 1].abs() < 0.05


def sfc32(seed):
    """The generator as its author gives it: PractRand's sfc32, in whole numbers of 32 bits."""
    top = 2**32 - 1
    a, b, c, counter = seed & top, seed >> 32, 0, 1
    while True:
        word = (a + b + counter) & top
        a, b = b ^ (b >> 9), (c + (c << 3)) & top
        c, counter = (((c << 21) | (c >> 11)) + word) & top, (counter + 1) & top
        yield word


def test_the_generator_gives_the_numbers_of_sfc32(node):
    for seed in (0, 1, 7, 2**31, 2**32 - 1, 2**32, 2**32 + 7, 2**52 + 5, 2**53 - 1):
        words = sfc32(seed)
        for _ in range(16):
            next(words)
        wanted = [((next(words) >> 5) * 2**26 + (next(words) >> 6)) / 2**53 for _ in range(50)]
        assert node.one("uniforms", seed=seed, count=50) == wanted, seed


GOOD = {"bos": 0, "eos": 1, "maxLength": 3}


@pytest.mark.parametrize(
    ("kind", "answers", "options", "sentence"),
    [
        ("greedy", [-1.0, -0.5], {"maxLength": 0},
         "maxLength must be a whole number of at least 1, got 0"),
        ("greedy", [-1.0, -0.5], {"bos": -1}, "bos must be a token number, got -1"),
        ("greedy", [-1.0, -0.5], {"eos": 2},
         "eos must be one of the 2 tokens that step scores, got 2"),
        ("greedy", [-1.0, 0.5], {}, "step must return logProbs, which are at most 0, got 0.5"),
        ("greedy", [math.nan, -0.5], {}, "step returned NaN among its logProbs"),
        ("beam", [-1.0, -0.5], {"width": 0}, "width must be a whole number of at least 1, got 0"),
        ("beam", [-1.0, -0.5], {"width": 2, "nBest": 3},
         "nBest must be at most width, got 3 of a beam of 2"),
        ("beam", [-1.0, -0.5], {"lengthRule": 1},
         "lengthRule must be a rule, such as new Power(0.75)"),
        ("sample", [-1.0, -0.5], {"temperature": 0},
         "temperature must be positive and finite, got 0"),
        ("sample", [-1.0, -0.5], {"topK": 0}, "topK must be a whole number of at least 1, got 0"),
        ("sample", [-1.0, -0.5], {"topP": 1.5}, "topP must lie from 0 to 1, got 1.5"),
        ("sample", [-1.0, -0.5], {"minP": -0.1}, "minP must lie from 0 to 1, got -0.1"),
        *((kind, [-1.0, -0.5], {"prefix": prefix}, sentence)
          for kind in ("greedy", "sample", "beam")
          for prefix, sentence in [
              ([0.5], "prefix must be a list of token numbers"),
              ([0] * 4, "prefix must be at most maxLength=3 long, got 4"),
              ([1, 0], "prefix must not go on after eos=1"),
              ([2], "prefix must hold some of the 2 tokens that step scores, got 2"),
          ]),
        ("sample", [-1.0, -0.5], {"seed": -1}, "seed must be a whole number from 0, got -1"),
        ("sample", [-math.inf, -math.inf], {},
         "logProbs must allow at least one token and hold no NaN"),
    ],
)  # fmt: skip
def test_refusals_are_one_sentence(node, kind, answers, options, sentence):
    request = {"op": "searchWith", "answers": torch.tensor(answers), "kind": kind}
    (error,) = node.ask([{**request, "options": {**GOOD, **options}}])
    assert str(error) == sentence
