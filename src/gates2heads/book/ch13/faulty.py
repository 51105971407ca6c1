"""Chapter 13, a bug to find: test sequences that were seen in training."""

import importlib
import inspect
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from gates2heads.accepts import accepts, any_seed, fraction, natural, positive, strings, tokens
from gates2heads.accepts.shown import shown
from gates2heads.book.ch12.python_text import VOCABULARY
from gates2heads.book.ch12.training import surprisal
from gates2heads.browser.engine.rebuild import shipped
from gates2heads.data.corpora.python.source import known_characters
from gates2heads.grading.paper import bug_check
from gates2heads.grading.verdict import NotYetError, check
from gates2heads.models.language.decoder_only import LLAMA, DecoderOnly
from gates2heads.training.loop import fit
from gates2heads.training.schedules import warmup_cosine

MODULES = ("bisect", "fnmatch", "getopt", "sched")  # of the standard library, one text
FRESH = ("copy",)
LENGTH, STRIDE, SHARE = 64, 32, 0.1
WIDTH, LAYERS, EPOCHS, BATCH, RATE = 32, 2, 12, 8, 5e-3
NGRAM = 13

FAULTS = {
    "a": "there are so few test windows that random variation makes their loss too low",
    "b": "the test windows overlap with training windows, so the model has already read their "
    "tokens",
    "c": "the model sees the token that it predicts, because the causal mask is missing",
    "d": "the other module is simply harder to predict than these modules",
}


@accepts(names=strings)
def library_text(names: Sequence[str] = MODULES) -> Tensor:
    """The source of modules of the standard library as one row of tokens (N,).

    Args:
        names: of the modules; each ends with `<eos>`.
    """
    encode, found = shipped("python_llama").source.encode, []
    for name in names:
        found += encode(known_characters(inspect.getsource(importlib.import_module(name))))
    return torch.tensor(found)


class Windows(NamedTuple):
    """A text that was cut into windows and divided."""

    training: Tensor  # (A, L) long
    test: Tensor  # (B, L) long


@accepts(tokens=tokens("N"), length=natural, stride=natural, share=fraction, seed=any_seed)
def split(tokens: Tensor, length: int, stride: int, share: float, *, seed: int = 0) -> Windows:
    """Cut a text into windows, shuffle them, and keep a share for the test. This has a bug.

    Args:
        tokens: (N,), the text.
        length: tokens of a window.
        stride: how many tokens after the previous window the next one begins.
        share: of the windows that are test windows.
        seed: of the shuffling.

    Raises:
        ValueError: the text is shorter than a window.
    """
    if len(tokens) < length:
        raise ValueError(
            f"length must be at most {len(tokens)}, the length of the text, got {length}"
        )
    windows = tokens.unfold(0, length, stride)
    order = torch.randperm(len(windows), generator=torch.Generator().manual_seed(seed))
    tested = round(share * len(windows))
    return Windows(windows[order[tested:]], windows[order[:tested]])


@accepts(tokens=tokens("N"), length=natural, stride=natural, share=fraction)
def divided(tokens: Tensor, length: int, stride: int, share: float) -> Windows:
    """The solution of exercise 13.6: divide the text first, then cut each part into windows.

    Args:
        tokens: (N,), the text.
        length: tokens of a window.
        stride: how many tokens after the previous window the next one begins.
        share: of the tokens that are test text; they are the last ones.

    Raises:
        ValueError: a part is shorter than a window.
    """
    border = len(tokens) - round(share * len(tokens))
    parts = tokens[:border], tokens[border:]
    if (least := min(map(len, parts))) < length:
        raise ValueError(f"length must be at most {least}, the tokens of a part, got {length}")
    return Windows(*(part.unfold(0, length, stride) for part in parts))


@accepts(training=tokens("A L"), test=tokens("B L"), n=natural)
def shared_ngrams(training: Tensor, test: Tensor, n: int = NGRAM) -> float:
    """The share of the n-grams of the test windows that occur in a training window, too.

    Source: Brown et al. 2020, appendix C, who count words; these are tokens.

    Args:
        training: (A, L).
        test: (B, L).
        n: tokens of an n-gram; at most L.

    Raises:
        ValueError: a window has fewer than n tokens.
    """
    if n > test.shape[1]:
        raise ValueError(f"n must be at most {test.shape[1]}, the length of a window, got {n}")
    seen = {tuple(one) for one in training.unfold(1, n, 1).flatten(0, 1).tolist()}
    asked = [tuple(one) for one in test.unfold(1, n, 1).flatten(0, 1).tolist()]
    return sum(one in seen for one in asked) / len(asked)


class Losses(NamedTuple):
    """Losses in nats per token before training and after each epoch."""

    training: list[float]
    test: list[float]
    fresh: list[float]  # of a text of which nothing was in the training windows


@accepts(
    training=tokens("A L", below=VOCABULARY),
    test=tokens("B L", below=VOCABULARY),
    fresh=tokens("M", below=VOCABULARY),
    epochs=natural,
    seed=any_seed,
    rate=positive,
)
def losses(
    training: Tensor,
    test: Tensor,
    fresh: Tensor,
    *,
    epochs: int = EPOCHS,
    seed: int = 0,
    rate: float = RATE,
) -> Losses:
    """Train a small model of Llama's block on windows, and measure three losses on the way.

    Args:
        training: (A, L), of which the first B are also measured.
        test: (B, L).
        fresh: (M,), another text, which is cut into windows without overlap.
        epochs: how often each training window is read.
        seed: of the initialisation and the order of the windows.
        rate: the peak learning rate of a cosine schedule with one epoch of warm-up.

    Raises:
        ValueError: the fresh text is shorter than a window.
    """
    if len(fresh) < training.shape[1]:
        raise ValueError(
            f"fresh must have at least {training.shape[1]} tokens, a window, got {len(fresh)}"
        )
    torch.manual_seed(seed)
    length = training.shape[1]
    model = DecoderOnly(
        VOCABULARY,
        d_model=WIDTH,
        nhead=2,
        num_layers=LAYERS,
        dim_feedforward=round(8 * WIDTH / 3),
        max_length=length,
        **LLAMA,
    )
    measured = training[: len(test)], test, fresh.unfold(0, length, length)
    steps = -(-len(training) // BATCH)  # of an epoch

    @torch.no_grad()
    def evaluate(model):
        device = next(model.parameters()).device
        return [surprisal(model, windows.to(device)).item() for windows in measured]

    def batches():
        while True:
            yield from training[torch.randperm(len(training))].split(BATCH)

    begun = evaluate(model.eval())
    history = fit(
        model,
        batches(),
        steps=epochs * steps,
        loss=surprisal,
        learning_rate=rate,
        schedule=warmup_cosine(epochs * steps, warmup=min(steps, epochs * steps // 2)),
        betas=(0.9, 0.95),
        evaluate=evaluate,
        evaluate_at=range(steps, epochs * steps + 1, steps),
        description="windows of the text",
        progress=False,
    )
    return Losses(*map(list, zip(begun, *history.evaluations, strict=True)))


check_fault = bug_check(
    "Exercise 13.6",
    FAULTS,
    {
        "a": "Then the test loss would deviate in any direction and stay where it is. Here it "
        "falls with the training loss, epoch after epoch.",
        "c": "Then the loss on the other module would be as low: a model that copies the next "
        "token from its input need not know the text.",
        "d": "Then the difference would be there from the first epoch on and stay about the same. "
        "Here it is small at first and grows with every repetition of the training windows.",
    },
)


SPLITS = ((40, 8, 4, 0.25), (200, 16, 8, 0.2), (100, 10, 5, 0.27), (60, 6, 6, 0.5))


@check("Exercise 13.6, the repair")
def check_repair(answer) -> str:
    """Check the reader's `split` on texts whose tokens are the positions themselves."""
    if not callable(answer):
        raise NotYetError(f"Your answer should be a function, and is {shown(answer)}.")
    for size, length, stride, part in SPLITS:
        text = torch.arange(size)
        given = _starts(answer(text.clone(), length, stride, part), length)
        wanted = _starts(divided(text, length, stride, part), length)
        if fault := _fault(given, wanted, length):
            raise NotYetError(
                f"For {size} tokens, length = {length}, stride = {stride}, share = {part}: {fault}"
            )
    return "No token is in both parts, so no 13-gram of the test was read at its position."


def _starts(windows, length: int) -> tuple[list[int], list[int]]:
    """Where the training and the test windows begin, sorted."""
    if windows is None or windows is ...:
        raise NotYetError("Your function returns nothing: is a `return` missing?")
    if not isinstance(windows, tuple | list) or len(windows) != 2:
        raise NotYetError("Your function should return two tensors: training and test windows.")
    found = []
    for name, given in zip(("training", "test"), windows, strict=True):
        one = given
        if isinstance(given, list | tuple) and all(isinstance(row, Tensor) for row in given):
            one = torch.stack(tuple(given)) if given else torch.empty(0, length, dtype=torch.long)
        if not isinstance(one, Tensor) or one.dim() != 2:
            raise NotYetError(f"The {name} windows should be a tensor (windows, length).")
        if len(one) and one.shape[1] != length:
            raise NotYetError(f"The {name} windows have {one.shape[1]} tokens, not {length}.")
        if len(one) and not (one.diff(dim=1) == 1).all():
            raise NotYetError(
                f"The {name} windows are not made of consecutive tokens: do not shuffle the text."
            )
        found.append(sorted(one[:, 0].tolist()) if len(one) else [])
    return found[0], found[1]


def _fault(given, wanted, length: int) -> str:
    """What is wrong with the starts of training and test windows; "" if nothing is."""
    training, test = given
    if not test or not training:
        return f"there are no {'training' if test else 'test'} windows."
    covered = [{at for start in starts for at in range(start, start + length)} for starts in given]
    both, apart = len(covered[0] & covered[1]), training[-1] < test[0]
    faults = {
        f"{both} positions are in both parts: a window reaches over the border. Divide the "
        "tokens, not the windows.": both and apart,
        f"{both} positions are in both parts, because test windows overlap with training windows. "
        "Divide the text before you cut and shuffle windows.": both,
        "the last tokens should be the test text, but these are the first.": test[-1] < training[0],
        "test windows lie between training windows. Divide the text first, so that all test "
        "windows come after it.": not apart,
        "the test text is too long: are the two shares exchanged?": test[0] < wanted[1][0],
    }
    return next((words for words, found in faults.items() if found), "") or _unlike(given, wanted)


def _unlike(given, wanted) -> str:
    """Where windows of parts that do not overlap differ from those that are wanted."""
    for name, starts, right in zip(("training", "test"), given, wanted, strict=True):
        if len(starts) < len(right):
            return (
                f"there are {len(starts)} {name} windows instead of {len(right)}: within one part, "
                "windows overlap as before, and the last one that fits is kept."
            )
        if starts != right:
            return (
                f"the {name} windows begin at {shown(starts)}, expected {shown(right)}, counted "
                "from the start of the text."
            )
    return ""
