"""Chapter 12, Decoder-only models: the checks of its exercises."""

import torch
import torch.nn.functional as F
from torch import Tensor

from gates2heads.grading.diagnosis import Case, FunctionCheck, random_tensors
from gates2heads.grading.paper import Numbers, NumbersCheck, near, slips

# Exercise 12.2: D = 96 and F = 384
HIDDEN, PARAMETERS = 256, 2 * 96 * 384
# Exercise 12.4: Qwen3 32B in two bytes per number
BYTES_PER_TOKEN, INTENSITY, SEQUENCES = 2 * 64 * 8 * 128 * 2, 4, 148


def prefix_mask(length: int, prefix: int) -> Tensor:
    """The solution of exercise 12.1.

    Args:
        length: T, tokens of the sequence.
        prefix: how many of them belong to the prefix.

    Returns:
        (T, T) bool: row i says which positions the token at position i may attend to.
    """
    positions = torch.arange(length)
    causal = positions[:, None] >= positions
    return causal | (positions < prefix)


def _masked_with(*, back=True, within=False, turned=False, late=0, whole=False):
    """A prefix mask with one mistake."""

    def mask(length, prefix):
        positions = torch.arange(length)
        first = positions < prefix + late
        causal = positions[:, None] >= positions if back else torch.zeros(length, length) > 1
        inside = first[:, None] & first if within else first.expand(length, length)
        found = causal | inside
        if whole:
            found = torch.ones(length, length, dtype=torch.bool)
        return found.T if turned else found

    return mask


def _causal_alone(length, prefix):
    return torch.ones(length, length, dtype=torch.bool).tril()


def _reversed_order(length, prefix):
    positions = torch.arange(length)
    return (positions[:, None] <= positions) | (positions < prefix)


check_prefix_mask = FunctionCheck(
    title="Exercise 12.1",
    solution=prefix_mask,
    cases=lambda: [
        Case("four tokens, of which two are the prefix", (4, 2)),
        Case("four tokens without a prefix", (4, 0)),
        Case("seven tokens, of which three are the prefix", (7, 3)),
    ],
    mistakes={
        "the mask is causal everywhere: within the prefix, later tokens are visible too": (
            _causal_alone
        ),
        "only the prefix is visible: the target attends to what is before it as well": (
            _masked_with(back=False)
        ),
        "rows and columns are exchanged: row i belongs to the token that attends": (
            _masked_with(turned=True)
        ),
        "the prefix is one token too long": _masked_with(late=1),
        "the prefix is one token too short": _masked_with(late=-1),
        "every token attends to every other, so the target sees what it should predict": (
            _masked_with(whole=True)
        ),
        "a token attends to what comes after it, not to what comes before": _reversed_order,
        "True and False are exchanged: True should say that a token may attend, as in "
        "`scaled_dot_product_attention`": lambda *sizes: ~prefix_mask(*sizes),
    },
    remark="With a prefix of 0 this is the causal mask; with T, that of an encoder.",
)


check_equal_size = NumbersCheck(
    title="Exercise 12.2",
    questions=(
        Numbers(
            name="hidden",
            right=(near(HIDDEN),),
            slips=slips(
                {
                    384: "With the same width, SwiGLU has one and a half times as many parameters.",
                    192: "SwiGLU has three matrices in place of two, not four.",
                    576: "The width must be smaller, since there is one matrix more: divide by "
                    "3/2.",
                    128: "Two matrices become three, so the width becomes 2/3, not 1/3, of what it "
                    "was.",
                }
            ),
            otherwise="hidden is not right: set 2·D·F equal to 3·D·F′ and solve for F′.",
            ask="hidden should be a number",
        ),
        Numbers(
            name="parameters",
            right=(near(PARAMETERS),),
            slips=slips(
                {
                    PARAMETERS + 384 + 96: "You counted biases; this sublayer has none.",
                    96 * 384: "You counted one matrix of the ordinary sublayer, which has two.",
                    96 * 256: "You counted one matrix; a SwiGLU sublayer has three.",
                }
            ),
            otherwise="parameters is not right: there are three matrices of D·F′ numbers.",
            ask="parameters should be a number",
        ),
    ),
    remark="Llama rounds 8/3 · D up to a multiple of a power of two, which runs faster on a GPU.",
)


def repeat_groups(keys: Tensor, heads: int) -> Tensor:
    """The solution of exercise 12.3.

    Args:
        keys: (B, G, S, K), one for each key–value head.
        heads: H, the number of query heads; G divides it.

    Returns:
        (B, H, S, K): query head h uses key–value head ⌊h · G / H⌋.
    """
    return keys.repeat_interleave(heads // keys.shape[1], dim=1)


check_repeat_groups = FunctionCheck(
    title="Exercise 12.3",
    solution=repeat_groups,
    cases=lambda: [
        Case("two key–value heads and four query heads", (*random_tensors((1, 2, 3, 2)), 4)),
        Case("one key–value head and three query heads", (*random_tensors((2, 1, 3, 2)), 3)),
        Case("four of each", (*random_tensors((2, 4, 3, 2)), 4)),
        Case("three key–value heads and six query heads", (*random_tensors((2, 3, 4, 2)), 6)),
    ],
    mistakes={
        "the groups alternate: heads 0 and 1 share a group, not heads 0 and G": (
            lambda keys, heads: keys.repeat(1, heads // keys.shape[1], 1, 1)
        ),
        "the keys are repeated along the positions: the heads are axis 1": (
            lambda keys, heads: keys.repeat_interleave(heads // keys.shape[1], dim=2)
        ),
        "the keys are repeated along the batch: the heads are axis 1": (
            lambda keys, heads: keys.repeat_interleave(heads // keys.shape[1], dim=0)
        ),
        "every key–value head is repeated H times: a group has H / G query heads": (
            lambda keys, heads: keys.repeat_interleave(heads, dim=1)
        ),
        "all heads use the first key–value head": (
            lambda keys, heads: keys[:, :1].expand(-1, heads, -1, -1)
        ),
        "the keys are returned as they are: there must be one for each query head": (
            lambda keys, heads: keys
        ),
    },
    remark="With G = H nothing changes; with G = 1 this is multi-query attention.",
)


check_cache = NumbersCheck(
    title="Exercise 12.4",
    questions=(
        Numbers(
            name="bytes_per_token",
            right=(near(BYTES_PER_TOKEN),),
            slips=slips(
                {
                    BYTES_PER_TOKEN // 2: "That is the keys alone, or one byte per number: there "
                    "are keys and values, and bf16 has two bytes.",
                    BYTES_PER_TOKEN // 4: "That is the number of keys. There are as many values, "
                    "and each number has two bytes.",
                    BYTES_PER_TOKEN * 8: "That is the cache with 64 key–value heads; there are 8.",
                    BYTES_PER_TOKEN // 64: "That is one layer; there are 64.",
                    BYTES_PER_TOKEN * 2: "bf16 has two bytes per number, not four.",
                }
            ),
            otherwise="bytes_per_token is not right: multiply 2 (keys and values) by the layers, "
            "the key–value heads, their width and the bytes of a number.",
            ask="bytes_per_token should be a number",
        ),
        Numbers(
            name="intensity",
            right=(near(INTENSITY),),
            slips=slips(
                {
                    INTENSITY * 2: "Each number that is read has two bytes.",
                    INTENSITY / 2: "Each query head performs K MACs for the score and K for the "
                    "weighted average: 2·H·K in all.",
                    0.5: "That is multi-head attention; here, eight query heads share what is "
                    "read.",
                }
            ),
            otherwise="intensity is not right: divide the MACs of a cached position, 2·H·K, by the "
            "bytes that are read, 4·G·K.",
            ask="intensity should be a number",
        ),
        Numbers(
            name="sequences",
            right=(near(SEQUENCES),),
            slips=slips(
                {
                    2 * SEQUENCES: "That is the batch for bf16; a parameter in int8 has one byte.",
                    SEQUENCES / 2: "Each sequence multiplies every parameter once: one MAC, which "
                    "is two floating-point operations.",
                    SEQUENCES / INTENSITY: "That is attention, whose intensity does not depend on "
                    "the batch; the question is about the products with the parameters.",
                }
            ),
            otherwise="sequences is not right: every parameter is read once for the whole batch, "
            "and multiplied once for each sequence. The operation is compute-bound from 148 MACs "
            "per byte on.",
            ask="sequences should be a number",
        ),
    ),
    remark="A context of 32,768 tokens takes 8.6 GB; with 64 key–value heads it would take 69 GB.",
)


def keep_min_p(probs: Tensor, share: float) -> Tensor:
    """The solution of exercise 12.5.

    Args:
        probs: (V,), which sum to 1.
        share: from 0 to 1.

    Returns:
        (V,): 0 for each token less probable than `share` times the most probable one, and the
        others normalised.
    """
    kept = probs * (probs >= share * probs.max())
    return kept / kept.sum()


def _min_p_cases() -> list[Case]:
    (scores,) = random_tensors((9,))
    return [
        Case(
            "probabilities 0.5, 0.25, 0.2 and 0.05 with a share of 0.5",
            (torch.tensor([0.5, 0.25, 0.2, 0.05]), 0.5),
            torch.tensor([2 / 3, 1 / 3, 0.0, 0.0]),
        ),
        Case(
            "probabilities 0.2, 0.3 and 0.5 with a share of 0.5",
            (torch.tensor([0.2, 0.3, 0.5]), 0.5),
        ),
        Case("nine tokens with a share of 0.2", (F.softmax(2 * scores, dim=0), 0.2)),
        Case("nine tokens with a share of 0, which keeps all", (F.softmax(scores, dim=0), 0.0)),
    ]


def _min_p_with(*, of="largest", normal=True, strict=False, sort=False):
    def filtered(probs, share):
        limit = {"largest": share * probs.max(), "alone": share, "mean": share * probs.mean()}[of]
        keep = probs > limit if strict else probs >= limit
        kept = probs * keep
        if sort:
            kept = kept.sort(descending=True).values
        return kept / kept.sum() if normal else kept

    return filtered


def _nucleus(probs, share):
    ranked, order = probs.sort(descending=True)
    before = ranked.cumsum(0) - ranked
    kept = torch.zeros_like(probs)
    kept[order[before < share]] = probs[order[before < share]]
    return kept / kept.sum()


check_min_p = FunctionCheck(
    title="Exercise 12.5",
    solution=keep_min_p,
    cases=_min_p_cases,
    mistakes={
        "the threshold does not depend on the most probable token": _min_p_with(of="alone"),
        "the remaining probabilities are not divided by their sum": _min_p_with(normal=False),
        "a token exactly at the threshold is removed: it stays": _min_p_with(strict=True),
        "the threshold is relative to the mean probability": _min_p_with(of="mean"),
        "the probabilities are returned sorted: each must stay at its token": _min_p_with(
            sort=True
        ),
        "this is nucleus (top-p) sampling: min-p compares each token with the best one": _nucleus,
    },
    remark="`decoding.sampling.keep_min_p` does the same for rows of log-probabilities.",
)
