"""The cost of non-autoregressive generation. Chapter 8's page *Further* shows it.

    python -m studies.ch08.non_autoregressive --seeds 0 1 2
    python -m studies.ch08.non_autoregressive --table

The source is a date of three tokens: year, month and day. The target is day, month, year and
`<eos>`; with "two orders", a random half of the examples has month, day, year instead. The settings
combine these orders with an autoregressive Transformer and its non-autoregressive counterpart, with
the same training. On 500 new dates, `right` is the share of outputs that have one of the forms in
the training data, and `twice` the share of outputs that contain the month or the day twice, and
thus omit the other; both are given for greedy search and for one sample.
"""

import torch

from gates2heads.book.studies import Study
from gates2heads.data.batches.pairs import Batch
from gates2heads.decoding.sampling import sample
from gates2heads.decoding.search import greedy
from gates2heads.models.transformer.non_autoregressive import NonAutoregressiveTransformer
from gates2heads.models.transformer.transformer import Transformer
from gates2heads.training.loop import fit
from gates2heads.training.losses import sequence_loss

YEARS, MONTHS, DAYS = 200, 12, 28
BOS, EOS, FIRST = 1, 2, 3
SIZE = FIRST + YEARS + MONTHS + DAYS
SIZES = {"d_model": 64, "nhead": 4, "num_encoder_layers": 2, "num_decoder_layers": 2}
SIZES |= {"dim_feedforward": 128, "dropout": 0.0, "max_length": 8}
STEPS, BATCH, RATE, DATES = 600, 64, 2e-3, 500
SETTINGS = [f"{way}, {orders}" for way in (
    "token by token", "all at once",  # term: all at once, a stored key
) for orders in ("one order", "two orders")]  # fmt: skip


def drawn(count: int, orders: int, generator: torch.Generator) -> Batch:
    """Some dates (count, 3), each written in one of the orders (count, 4)."""
    year, month, day = (
        torch.randint(size, (count,), generator=generator) + start
        for size, start in ((YEARS, FIRST), (MONTHS, FIRST + YEARS), (DAYS, SIZE - DAYS))
    )
    source = torch.stack([year, month, day], dim=1)
    turned = torch.randint(orders, (count,), generator=generator).bool()
    first, second = torch.where(turned, month, day), torch.where(turned, day, month)
    end = torch.full((count,), EOS)
    target_out = torch.stack([first, second, year, end], dim=1)
    target_in = torch.cat([torch.full((count, 1), BOS), target_out[:, :-1]], dim=1)
    real = torch.ones_like(target_out, dtype=torch.bool)
    return Batch(source, torch.ones_like(source, dtype=torch.bool), target_in, target_out, real)


def batches(orders: int, seed: int):
    """Yield batches of dates indefinitely."""
    generator = torch.Generator().manual_seed(seed)
    while True:
        yield drawn(BATCH, orders, generator)


def judged(tokens: torch.Tensor, source: torch.Tensor, orders: int) -> dict[str, float]:
    """Of tokens (N, T) for dates (N, 3): shares that are right, and that name one part twice."""
    year, month, day = source.T
    end = torch.full_like(year, EOS)
    forms = [(day, month, year, end), (month, day, year, end)][:orders]
    tokens = torch.nn.functional.pad(tokens, (0, 4 - tokens.shape[1]))
    right = torch.stack([(tokens == torch.stack(form, 1)).all(1) for form in forms]).any(0)
    twice = torch.stack([(tokens[:, :2] == part[:, None]).all(1) for part in (day, month)]).any(0)
    return {"right": right.double().mean().item(), "twice": twice.double().mean().item()}


def run(setting: str, seed: int) -> dict:
    """Train one model, and sample from it."""
    way, _, how_many = setting.partition(", ")
    orders = 1 if how_many == "one order" else 2
    torch.manual_seed(seed)
    if way == "all at once":  # term: all at once, a stored key
        model = NonAutoregressiveTransformer(SIZE, SIZE, slots=4, **SIZES)
    else:
        model = Transformer(SIZE, SIZE, **SIZES)
    history = fit(
        model, batches(orders, seed), steps=STEPS, loss=sequence_loss, learning_rate=RATE,
        description=setting, progress=False,
    )  # fmt: skip
    model.eval()
    new = drawn(DATES, orders, torch.Generator().manual_seed(10_000 + seed))
    with torch.no_grad():
        state = model.start(new.source)
    bos, chance = torch.full((DATES,), BOS), torch.Generator().manual_seed(seed)
    likeliest = greedy(model.step, state, bos=bos, eos=EOS, max_length=4)
    sampled = sample(model.step, state, bos=bos, eos=EOS, max_length=4, generator=chance)
    found = {
        f"{part}_{name}": share
        for name, output in (("greedy", likeliest), ("sampled", sampled))
        for part, share in judged(output.tokens, new.source, orders).items()
    }
    return {
        **found,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "last_loss": sum(history.loss[-50:]) / 50,
    }


if __name__ == "__main__":
    Study("ch08/non_autoregressive", run, SETTINGS).main()
