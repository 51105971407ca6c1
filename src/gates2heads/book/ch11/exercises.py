"""Chapter 11, Pre-training: the checks of its exercises."""

import torch
from torch import Tensor

from gates2heads.grading.diagnosis import Case, FunctionCheck, random_tensors
from gates2heads.grading.paper import Numbers, NumbersCheck, near, slips

# Exercise 11.1: of 1,000 tokens
_RULE = "number is incorrect: 15 % are chosen; of these, 80 % are masked and 10 % replaced."
check_counts = NumbersCheck(
    title="Exercise 11.1",
    questions=(
        Numbers(
            name="predicted",
            right=(near(150),),
            slips=slips(
                {
                    120: "The loss is computed for all chosen tokens, not only for those that "
                    "became [MASK].",
                    1000: "That is a left-to-right model, which predicts every token.",
                }
            ),
            otherwise=f"The first {_RULE}",
            ask="The first answer should be a number",
        ),
        Numbers(
            name="masked",
            right=(near(120),),
            slips=slips(
                {
                    150: "Not every chosen token becomes [MASK]: only 80 % of them do.",
                    800: "It is 80 % of the chosen tokens, not of all tokens.",
                }
            ),
            otherwise=f"The second {_RULE}",
            ask="The second answer should be a number",
        ),
        Numbers(
            name="unchanged",
            right=(near(15),),
            slips=slips(
                {
                    850: "Count only the tokens that contribute to the loss.",
                    865: "Count only the tokens that contribute to the loss.",
                    30: "Half of these 30 were replaced by a random token.",
                    100: "It is 10 % of the chosen tokens, not of all tokens.",
                }
            ),
            otherwise=f"The third {_RULE}",
            ask="The third answer should be a number",
        ),
    ),
    remark="A left-to-right model would predict 999 of the 1,000 tokens: each but the first.",
)


def hidden(tokens: Tensor, chosen: Tensor, draw: Tensor, others: Tensor, mask: int) -> Tensor:
    """The solution of exercise 11.2.

    Args:
        tokens: (L,) long.
        chosen: (L,) bool, True = the token contributes to the loss.
        draw: (L,) float, random numbers from 0 to 1.
        others: (L,) long, random tokens.
        mask: the id of [MASK].

    Returns:
        (L,) long, the input of the model.
    """
    read = torch.where(chosen & (draw < 0.8), mask, tokens)
    return torch.where(chosen & (draw >= 0.8) & (draw < 0.9), others, read)


def _hidden_cases() -> list[Case]:
    by_hand = torch.tensor([11, 12, 13, 14, 15, 16])
    chosen = torch.tensor([True, True, True, False, True, False])
    second = torch.tensor([0.1, 0.85, 0.95, 0.3, 0.7, 0.84])
    others = torch.tensor([31, 32, 33, 34, 35, 36])
    draw = torch.Generator().manual_seed(0)
    many = torch.randint(4, 90, (211,), generator=draw)
    return [
        Case(
            "six tokens, four of them chosen",
            (by_hand, chosen, second, others, 99),
            torch.tensor([99, 32, 13, 14, 99, 16]),
        ),
        Case(
            "211 tokens",
            (
                many,
                torch.rand(211, generator=draw) < 0.5,
                torch.rand(211, generator=draw),
                torch.randint(4, 90, (211,), generator=draw),
                99,
            ),
        ),
    ]


def _hidden_with(*, everywhere=False, masks=(0.0, 0.8), swaps=(0.8, 0.9)):
    """The masking rule with one mistake."""

    def hide(tokens, chosen, draw, others, mask):
        where = torch.ones_like(chosen) if everywhere else chosen
        read = torch.where(where & (draw >= masks[0]) & (draw < masks[1]), mask, tokens)
        return torch.where(where & (draw >= swaps[0]) & (draw < swaps[1]), others, read)

    return hide


check_hidden = FunctionCheck(
    title="Exercise 11.2",
    solution=hidden,
    cases=_hidden_cases,
    mistakes={
        "tokens that were not chosen are masked as well": _hidden_with(everywhere=True),
        "every chosen token becomes [MASK]": _hidden_with(masks=(0.0, 1.0), swaps=(2.0, 2.0)),
        "20 % of the chosen tokens are replaced at random and none is left unchanged": _hidden_with(
            swaps=(0.8, 1.0)
        ),
        "no token is replaced at random": _hidden_with(swaps=(2.0, 2.0)),
        "80 % are replaced at random and 10 % are masked: the two proportions are swapped": (
            _hidden_with(masks=(0.8, 0.9), swaps=(0.0, 0.8))
        ),
    },
    remark="The library's `hide` does this for whole units, with one random number for each.",
)


def whole_names(drawn: Tensor, units: Tensor) -> Tensor:
    """The solution of exercise 11.3.

    Args:
        drawn: (L,) bool, True = the first draw selected this token.
        units: (L,) long, the position at which the unit of each token begins.

    Returns:
        (L,) bool, True at every token of a unit whose first token was selected.
    """
    return drawn[units]


def _names_cases() -> list[Case]:
    units = torch.tensor([0, 1, 1, 3, 4, 4, 4, 7])
    drawn = torch.tensor([False, True, False, False, False, True, True, True])
    draw = torch.Generator().manual_seed(1)
    begins = torch.rand(97, generator=draw) < 0.4
    begins[0] = True
    long = torch.where(begins, torch.arange(97), 0).cummax(0).values
    return [
        Case(
            "eight tokens, with names at 1–2 and 4–6",
            (drawn, units),
            torch.tensor([False, True, True, False, False, False, False, True]),
        ),
        Case("97 tokens", (torch.rand(97, generator=draw) < 0.2, long)),
    ]


def _any_of_the_unit(drawn: Tensor, units: Tensor) -> Tensor:
    return torch.stack([drawn[units == unit].any() for unit in units])


def _first_only(drawn: Tensor, units: Tensor) -> Tensor:
    return drawn & (units == torch.arange(len(units)))


check_names = FunctionCheck(
    title="Exercise 11.3",
    solution=whole_names,
    cases=_names_cases,
    mistakes={
        "each token follows its own draw, so that half of a name may remain visible": lambda d, u: (
            d
        ),
        "selecting any token chooses the name: then long names are masked more often": (
            _any_of_the_unit
        ),
        "only the first token of a name is masked": _first_only,
    },
    remark="One draw per unit is the only change that our ERNIE makes to the masking of BERT.",
)


def mix(states: Tensor, scores: Tensor, scale: float) -> Tensor:
    """The solution of exercise 11.4.

    Args:
        states: (N + 1, L, D), of layers 0 to N.
        scores: (N + 1,), learned by the task.
        scale: γ.

    Returns:
        (L, D).
    """
    return scale * (scores.softmax(0)[:, None, None] * states).sum(0)


def _mix_cases() -> list[Case]:
    by_hand = torch.tensor([[[1.0, 0.0]], [[0.0, 1.0]]])
    states, scores = random_tensors((3, 5, 7), (3,))
    return [
        Case("two layers with equal scores, γ = 2", (by_hand, torch.zeros(2), 2.0)),
        Case("three layers of five tokens", (states, scores, 0.7), gradient=True),
    ]


def _mix_with(*, weigh=lambda scores: scores.softmax(0), scaled=True, over=0):
    """The weighted sum with one mistake."""

    def wrong(states, scores, scale):
        mixed = weigh(scores)[:, None, None] * states
        return (scale if scaled else 1.0) * mixed.sum(over)

    return wrong


check_mix = FunctionCheck(
    title="Exercise 11.4",
    solution=mix,
    cases=_mix_cases,
    mistakes={
        "the scores are used without a softmax": _mix_with(weigh=lambda scores: scores),
        "γ is missing": _mix_with(scaled=False),
        "every layer has the same weight": _mix_with(
            weigh=lambda scores: torch.ones_like(scores) / len(scores)
        ),
        "the weights are not normalised: exp without division by the sum": _mix_with(
            weigh=lambda scores: scores.exp()
        ),
    },
    remark="If the last layer has weight 1, the result is that layer, scaled, as in BERT.",
)


def best_span(first: Tensor, last: Tensor) -> tuple[int, int]:
    """The solution of exercise 11.5.

    Args:
        first, last: (L,), scores of each token as the first and the last one of the answer;
            position 0 is [CLS], the others are the passage.

    Returns:
        the positions of the first and the last token of the best span in the passage, or (0, 0)
        where the score of [CLS] is at least as high.
    """
    scores = first[:, None] + last[None, :]
    scores = scores.masked_fill(~torch.ones_like(scores).triu().bool(), -torch.inf)
    scores[0, 1:] = -torch.inf
    best = int(scores.argmax())
    return best // len(first), best % len(first)


def _span_cases() -> list[Case]:
    crossing = (torch.tensor([0.0, 1.0, 2.0, 5.0]), torch.tensor([0.0, 4.0, 3.0, 0.5]))
    nothing = (torch.tensor([3.0, 1.0, 2.0, 0.0]), torch.tensor([3.0, 0.0, 1.0, 2.0]))
    beyond = (torch.tensor([6.0, 1.0, 3.0, 0.0]), torch.tensor([0.0, 1.0, 2.0, 4.0]))
    return [
        Case("four tokens, where the best start comes after the best end", crossing, (3, 3)),
        Case("four tokens without an answer", nothing, (0, 0)),
        Case("four tokens, where [CLS] has the highest score as a start", beyond, (2, 3)),
    ]


def _crossed(first: Tensor, last: Tensor) -> tuple[int, int]:
    return int(first.argmax()), int(last.argmax())


def _none_where_crossed(first: Tensor, last: Tensor) -> tuple[int, int]:
    begin, end = _crossed(first, last)
    return (begin, end) if begin <= end else (0, 0)


def _always(first: Tensor, last: Tensor) -> tuple[int, int]:
    begin, end = best_span(first[1:], last[1:])
    return begin + 1, end + 1


def _from_cls(first: Tensor, last: Tensor) -> tuple[int, int]:
    scores = (first[:, None] + last).masked_fill(
        ~torch.ones(len(first), len(first)).triu().bool(), -torch.inf
    )
    return divmod(int(scores.argmax()), len(first))


check_span = FunctionCheck(
    title="Exercise 11.5",
    solution=best_span,
    cases=_span_cases,
    parts=("the start", "the end"),
    mistakes={
        "start and end are chosen separately, so the end may come before the start": _crossed,
        "where the best start comes after the best end, no answer is returned, although "
        "another span may have a high score": _none_where_crossed,
        "there is always an answer: the score of [CLS] is never compared": _always,
        "a span may begin at [CLS] and end in the passage": _from_cls,
    },
    remark="The library's `best_answers` does it for a batch, with a threshold for “no answer”.",
)
