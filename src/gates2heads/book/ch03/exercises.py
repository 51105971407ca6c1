"""Chapter 3, Sequence probability: the checks of its exercises."""

import math

import torch
from torch import Tensor

from gates2heads.grading.diagnosis import Case, FunctionCheck, random_tensors
from gates2heads.grading.paper import Numbers, NumbersCheck, near, slips

# Exercise 3.1: "a cat runs" with one added to every count of six tokens
PROBABILITY = 4 / 9 * 2 / 9 * 1 / 7 * 2 / 7
PERPLEXITY = PROBABILITY ** (-1 / 4)


check_by_hand = NumbersCheck(
    title="Exercise 3.1",
    questions=(
        Numbers(
            name="probability",
            right=(near(PROBABILITY, within=0.01, share=True),),
            slips=slips(
                {
                    0: "That is the probability without smoothing.",
                    4 / 9 * 2 / 9 * 1 / 7: "The last factor is missing: `<eos>` after “runs”.",
                    4 / 9 * 2 / 9 * 1 / 7 * 1 / 7: "The last factor is too small: `<eos>` followed "
                    "“runs” once, and 1 + 1 = 2.",
                    4 / 8 * 2 / 8 * 1 / 6 * 2 / 6: "You added 1 for five tokens; `<eos>` is the "
                    "sixth.",
                    4 / 10 * 2 / 10 * 1 / 8 * 2 / 8: "You added 1 for seven tokens; `<bos>` is "
                    "never generated and does not count.",
                    4 / 3 * 2 / 3 * 1 / 1 * 2 / 1: "You added 1 to each count but not to the sum: "
                    "each denominator grows by 6.",
                },
                within=0.01,
                share=True,
            ),
            otherwise="The first answer is not right: write down each factor first.",
            ask="The first answer should be a number",
        ),
        Numbers(
            name="perplexity_",
            right=(near(PERPLEXITY, within=0.01, share=True),),
            slips=slips(
                {
                    PROBABILITY ** (-1 / 3): "There are four factors, `<eos>` included: take the "
                    "fourth root.",
                    1 / PROBABILITY: "That is the inverse of the product; perplexity uses the mean "
                    "per token.",
                    -math.log2(PROBABILITY) / 4: "That is the number of bits per token: raise 2 to "
                    "this power.",
                    -math.log(PROBABILITY) / 4: "That is the number of nats per token: raise e to "
                    "this power.",
                    PROBABILITY ** (1 / 4): "That is the geometric mean of the factors: take its "
                    "inverse.",
                },
                within=0.01,
                share=True,
            ),
            otherwise="The second answer is not right: write down each factor first.",
            ask="The second answer should be a number",
        ),
    ),
    remark="The model is as uncertain as if it chose at each step among about four equally "
    "probable tokens, out of six.",
)


def add_k(counts: Tensor, k: float) -> Tensor:
    """The solution of exercise 3.2: counts (C, V) after C contexts -> probabilities (C, V)."""
    return (counts + k) / (counts + k).sum(dim=1, keepdim=True)


def _add_with(*, axis=1, below="kV", divide=True):
    def wrong(counts, k):
        added = counts + k
        if not divide:
            return added
        if below == "rows":
            return added / (counts.sum(dim=1, keepdim=True) + k * counts.shape[0])
        if below == "kV":
            return added / added.sum(dim=axis, keepdim=axis is not None)
        more = k if below == "k" else 0.0
        return added / (counts.sum(dim=1, keepdim=True) + more)

    return wrong


def _count_cases() -> list[Case]:
    by_hand = torch.tensor([[2.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    (scores,) = random_tensors((5, 7))
    return [
        Case(
            "counts 2, 0, 1 and 0, 1, 0, and k = 1",
            (by_hand, 1.0),
            torch.tensor([[1 / 2, 1 / 6, 1 / 3], [1 / 4, 1 / 2, 1 / 4]]),
        ),
        Case("five contexts, seven tokens and k = 0.1", ((3 * scores.abs()).floor(), 0.1)),
    ]


check_add_k = FunctionCheck(
    title="Exercise 3.2",
    solution=add_k,
    cases=_count_cases,
    mistakes={
        "you added k to the counts but not to the denominator": _add_with(below="0"),
        "you added k only once to the denominator: it was added to V counts": _add_with(below="k"),
        "you took the number of contexts, `counts.shape[0]`, for V: V is `counts.shape[1]`": (
            _add_with(below="rows")
        ),
        "you normalised the columns: each row is a distribution, and sums to 1": _add_with(axis=0),
        "you divided by the sum of the whole table: each row has its own sum": _add_with(axis=None),
        "you did not divide the counts by their sum": _add_with(divide=False),
    },
    remark="A context that never occurred gets the uniform distribution.",
)


def kneser_ney(counts: Tensor, discount: float, shorter: Tensor) -> Tensor:
    """The solution of exercise 3.3: counts (V,), D, p after the shorter context (V,) -> (V,)."""
    left = discount * (counts > 0).sum() / counts.sum()
    return (counts - discount).clamp(min=0) / counts.sum() + left * shorter


def _discount_with(*, clamp=True, left="kinds", only_unseen=False):
    def wrong(counts, discount, shorter):
        total = counts.sum()
        kept = counts - discount
        kept = (kept.clamp(min=0) if clamp else kept) / total
        shares = {
            "kinds": discount * (counts > 0).sum() / total,
            "discount": torch.tensor(discount),
            "one": discount / total,
            "all": discount * len(counts) / total,
            "none": torch.tensor(0.0),
            "no sum": discount * (counts > 0) / total,
        }
        backed = shares[left] * shorter
        return torch.where(counts > 0, kept, backed) if only_unseen else kept + backed

    return wrong


def _discount_cases() -> list[Case]:
    counts = torch.tensor([3.0, 1.0, 0.0, 0.0])
    shorter = torch.tensor([0.4, 0.3, 0.2, 0.1])
    # left: 0.5 · 2 / 4 = 1/4
    wanted = torch.tensor([0.625 + 0.1, 0.125 + 0.075, 0.05, 0.025])
    many, scores = random_tensors((7,), (7,))
    return [
        Case("counts 3, 1, 0, 0 and D = 0.5", (counts, 0.5, shorter), wanted),
        Case("seven tokens and D = 0.75", ((3 * many.abs()).floor(), 0.75, scores.softmax(0))),
    ]


check_kneser_ney = FunctionCheck(
    title="Exercise 3.3",
    solution=kneser_ney,
    cases=_discount_cases,
    mistakes={
        "you discounted the counts of 0 as well, which makes probabilities negative": (
            _discount_with(clamp=False)
        ),
        "you took D itself as the weight of the shorter context: it is the sum of all discounts, "
        "divided by the sum of the counts": _discount_with(left="discount"),
        "you redistributed a single discount: one was taken from every count above 0": (
            _discount_with(left="one")
        ),
        "you redistributed V discounts: none was taken from a count of 0": (
            _discount_with(left="all")
        ),
        "you forgot `.sum()` after `(counts > 0)`: the weight is one number, not one per token": (
            _discount_with(left="no sum")
        ),
        "you did not redistribute the discounts to the shorter context": (
            _discount_with(left="none")
        ),
        "you used the shorter context for unseen tokens only, so that the sum is below 1": (
            _discount_with(only_unseen=True)
        ),
    },
    remark="`models.language.ngram.KneserNey` applies this from the shortest context upwards.",
)


def perplexity(log_probs: Tensor, mask: Tensor) -> Tensor:
    """The solution of exercise 3.4: log_probs (N, T) in nats, mask (N, T) -> a number."""
    return (-log_probs[mask].mean()).exp()


def _perplexity_with(*, base=math.e, padding=False, over="tokens", power=True, sign=-1):
    def wrong(log_probs, mask):
        real = log_probs * mask
        if over == "texts":
            means = -real.sum(1) / mask.sum(1)
            return means.exp().mean()
        mean = sign * (real.mean() if padding else real.sum() / mask.sum())
        if over == "sum":
            mean = real.sum() / -len(mask)
        return torch.tensor(base, dtype=mean.dtype) ** mean if power else mean

    return wrong


def _perplexity_cases() -> list[Case]:
    probs = torch.tensor([[0.5, 0.25, 1.0, 0.5], [0.25, 0.5, 0.1, 0.1]])
    mask = torch.tensor([[True, True, True, True], [True, True, False, False]])
    (scores,) = random_tensors((5, 7))
    lengths = torch.tensor([7, 3, 5, 1, 2])
    return [
        Case(
            "a sequence with probabilities 1/2, 1/4, 1, 1/2 and one with 1/4, 1/2",
            (probs.log(), mask),
            2 ** (7 / 6),
        ),
        Case("five sequences", (-scores.abs(), torch.arange(7) < lengths[:, None])),
    ]


check_perplexity = FunctionCheck(
    title="Exercise 3.4",
    solution=perplexity,
    cases=_perplexity_cases,
    mistakes={
        "you raised 2 to a number of nats: the logarithms are natural, so the base is e": (
            _perplexity_with(base=2.0)
        ),
        "you divided the sum by the number of all positions, padding included": _perplexity_with(
            padding=True
        ),
        "you counted padding as if it were tokens": lambda log_probs, mask: (
            -log_probs.mean()
        ).exp(),
        "you averaged the perplexities of the sequences: average over all tokens instead": (
            _perplexity_with(over="texts")
        ),
        "you averaged over sequences and not over tokens": _perplexity_with(over="sum"),
        "you returned the mean surprisal: raise e to this power": _perplexity_with(power=False),
        "the sign is missing: perplexity is 1 or more": _perplexity_with(sign=1),
    },
    remark="`metrics.perplexity` has a function for each form of (3.9) and (3.10).",
)


def merge(tokens: list[str], pair: tuple[str, str]) -> list[str]:
    """The solution of exercise 3.5: tokens of a word and a pair -> the tokens after the merge."""
    merged = []
    for token in tokens:
        if merged and (merged[-1], token) == tuple(pair):
            merged[-1] += token
        else:
            merged.append(token)
    return merged


def _merge_with(*, first_only=False, twice=False, either_order=False):
    def wrong(tokens, pair):
        merged, at, done = [], 0, False
        while at < len(tokens):
            here = (tokens[at], tokens[at + 1]) if at + 1 < len(tokens) else None
            found = here == pair or (either_order and here is not None and here[::-1] == pair)
            if found and not (first_only and done):
                merged.append(here[0] + here[1])
                done = True
                at += 1 if twice else 2
                continue
            merged.append(tokens[at])
            at += 1
        return merged

    return wrong


def _merge_as_text(tokens, pair):
    return " ".join(tokens).replace(" ".join(pair), "".join(pair)).split(" ")


def _merge_without_end(tokens, pair):
    merged, at = [], 0
    while at + 1 < len(tokens):
        found = (tokens[at], tokens[at + 1]) == pair
        merged.append(tokens[at] + tokens[at + 1] if found else tokens[at])
        at += 2 if found else 1
    return merged


check_merge = FunctionCheck(
    title="Exercise 3.5",
    solution=merge,
    cases=lambda: [
        Case(
            "the tokens of “singing” and the pair (i, n)",
            (["_", "s", "i", "n", "g", "i", "n", "g"], ("i", "n")),
            ["_", "s", "in", "g", "in", "g"],
        ),
        Case("a, a, a, b and the pair (a, a)", (["a", "a", "a", "b"], ("a", "a"))),
        Case("the pair (i, n) in hi, n, s, i, n", (["hi", "n", "s", "i", "n"], ("i", "n"))),
        Case("the pair (i, n) in n, i, s", (["n", "i", "s"], ("i", "n"))),
    ],
    mistakes={
        "you merged only the first occurrence of the pair": _merge_with(first_only=True),
        "you used a token twice: after a merge, continue behind both tokens": (
            _merge_with(twice=True)
        ),
        "you merged the pair in either order: (n, i) is another pair than (i, n)": (
            _merge_with(either_order=True)
        ),
        "you joined the tokens to one string and replaced there: then the end of a longer token "
        "matches too, as the i of “hi”": _merge_as_text,
        "the last token is lost when it is not part of a pair": _merge_without_end,
    },
    remark="In the library 🤗 tokenizers does this; the view does it with a priority queue.",
)


def at_once(names: int) -> tuple[float, float]:
    """The solution of exercise 3.7: P(a list is complete), expected number of missing names."""
    return math.factorial(names) / names**names, names * (1 - 1 / names) ** names


def _at_once_with(*, whole="m!/m^m", missing="m(1-1/m)^m"):
    def wrong(names):
        probabilities = {
            "m!/m^m": math.factorial(names) / names**names,
            "1/m!": 1 / math.factorial(names),
            "1/m^m": 1 / names**names,
        }
        absent = {
            "m(1-1/m)^m": names * (1 - 1 / names) ** names,
            "(1-1/m)^m": (1 - 1 / names) ** names,
            "m(1-1/m)": names * (1 - 1 / names),
        }
        return probabilities[whole], absent[missing]

    return wrong


check_at_once = FunctionCheck(
    title="Exercise 3.7",
    solution=at_once,
    cases=lambda: [
        Case("two names", (2,), (0.5, 0.5)),
        Case("three names", (3,)),
        Case("seven names", (7,)),
    ],
    parts=("the probability", "the expected number"),
    mistakes={
        "you counted one list out of m! as complete: all m! orders are, out of m^m lists": (
            _at_once_with(whole="1/m!")
        ),
        "you counted a single list as complete: every order of the names is": (
            _at_once_with(whole="1/m^m")
        ),
        "you gave the probability that one particular name is missing: there are m names": (
            _at_once_with(missing="(1-1/m)^m")
        ),
        "the exponent is missing: a name is missing if none of the m positions contains it": (
            _at_once_with(missing="m(1-1/m)")
        ),
    },
    remark="For large m, about 37 % of the names are missing, since (1 − 1/m)^m tends to 1/e.",
)
