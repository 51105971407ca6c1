"""The time of one generated token, with the cache and without it. Section 12.3.

    python -m studies.ch12.generation_costs --seeds 0 1 2
    python -m studies.ch12.generation_costs --table

The released model of Python source continues a text of its test modules. `milliseconds` is the
processor time of one thread for one token after each number of `positions`: the minimum of several
measurements. Without a cache, the model reads the whole text again for every token. "groups-N" are
models of random parameters and the same size but for N heads of keys and values, "wide" their
32-fold batch; `bytes` is the cache of one token of one sequence. "narrow" is a model of the same
layers and heads whose vectors have 12 entries, with the cache; `beside` are the times of the
released model, measured in turns with it.
"""

import time

import torch

from gates2heads.book.ch12.python_model import SIZES
from gates2heads.book.ch12.python_text import VOCABULARY
from gates2heads.book.studies import Study
from gates2heads.browser.engine.rebuild import shipped
from gates2heads.models.language.decoder_only import LLAMA, DecoderOnly

POSITIONS = (16, 32, 64, 128, 192, 255)
ROUNDS = 15
GROUPS = (6, 3, 2, 1)
MANY = 32
NARROW = 12
SETTINGS = (
    "cache",
    "no cache",
    "narrow",
    *(f"groups-{groups}{wide}" for wide in ("", " wide") for groups in GROUPS),
)


def model_of(setting: str) -> DecoderOnly:
    """The model of a setting."""
    if setting == "narrow":
        narrow = {**SIZES, "d_model": NARROW, "dim_feedforward": 32}
        return DecoderOnly(VOCABULARY, **narrow, **LLAMA).eval()
    if not setting.startswith("groups"):
        return shipped("python_llama").model
    groups = int(setting.removesuffix(" wide").partition("-")[2])
    return DecoderOnly(VOCABULARY, **{**SIZES, "num_key_value_heads": groups}, **LLAMA).eval()


@torch.no_grad()
def run(setting: str, seed: int) -> dict:
    """Time one setting."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    model, rows = model_of(setting), MANY if setting.endswith("wide") else 1
    text = torch.randint(3, VOCABULARY, (rows, POSITIONS[-1] + 1))
    timed = [model, model_of("cache")] if setting == "narrow" else [model]
    found = [[] for _ in timed]
    for position in POSITIONS:
        states = []
        for one in timed:
            _, state = one.extend(one.start(rows), text[:, :position])
            states.append(state)
        seconds = [[] for _ in timed]
        for _ in range(ROUNDS):
            for one, state, taken in zip(timed, states, seconds, strict=True):
                begin = time.process_time()
                if setting == "no cache":
                    one.logits(text[:, : position + 1])
                else:
                    one.step(state, text[:, position])
                taken.append(time.process_time() - begin)
        for times, taken in zip(found, seconds, strict=True):
            times.append(1000 * min(taken))
    milliseconds, *beside = found
    attention = model.layers[0].attention
    width = attention.num_key_value_heads * attention.head_width
    return {
        "positions": list(POSITIONS),
        "milliseconds": milliseconds,
        "last": milliseconds[-1],
        "bytes": 2 * len(model.layers) * width * 4,
        **({"beside": beside[0]} if beside else {}),
    }


if __name__ == "__main__":
    Study("ch12/generation_costs", run, SETTINGS).main()
