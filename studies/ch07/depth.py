"""When does a Transformer need layer normalisation and warm-up? Chapter 7, section 7.4.

    python -m studies.ch07.depth --seeds 0 1 2
    python -m studies.ch07.depth --table

The Transformer of `ablation.py` is trained with twelve blocks on each side instead of three, on 100
batches of 32 dates, unless the setting names other numbers. A setting has pre-norm, post-norm or no
normalisation, warm-up or none, and a learning rate. The library initialises matrices by Xavier's
method. With "small start", the last matrix of every sublayer is divided by 10 before training, so
that its contribution to the residual stream is small at first. With "linear init", every matrix and
bias of a sublayer has the default initialisation of `torch.nn.Linear`, as in section 7.5. "final
norms" keeps only the norm at the end of each stack, which bounds the logits but not the residual
stream.

`losses` are means of the training loss over 10 steps, in nats per character, up to the step at
which the loss is no longer finite; `failed` is that step (null if there is none). `gradients` are
the norms of the gradient of each decoder block on the first batch, before training, from the first
block to the last.
"""

import torch

from gates2heads.book.ch07.ablation import (
    BATCH_SIZE,
    DECAY,
    changed_transformer,
    date_data,
    use_linear_default,
)
from gates2heads.book.studies import Study
from gates2heads.data.batches.pairs import collate, endless_batches
from gates2heads.layers.norms import LayerNorm
from gates2heads.models.transformer.transformer import Transformer
from gates2heads.training.loop import fit
from gates2heads.training.losses import sequence_loss
from gates2heads.training.schedules import warmup_linear

BLOCKS, STEPS, BIN = 12, 100, 10
WARMUP = 0.3  # share of the steps
CHANGES = ("whole", "no norms", "no warm-up", "post-norm", "post-norm, no warm-up")
SMALL, LINEAR, FINAL = ", small start", ", linear init", "final norms"
NORMS = ("whole", "no norms")
SETTINGS = (
    *(f"{change}, rate {rate}" for rate in ("0.003", "0.001") for change in CHANGES),
    "no norms, rate 0.0003",
    *(f"{FINAL}, rate {rate}" for rate in ("0.003", "0.001")),
    *(f"{change}{SMALL}, rate 0.003" for change in NORMS),
    *(
        f"{change}{LINEAR}{other}"
        for other in (
            *(f", rate {rate}" for rate in ("0.003", "0.01", "0.03", "0.001")),
            ", rate 0.003, 400 steps",
            ", rate 0.003, 24 blocks",
        )
        for change in NORMS
    ),
)


def deep(change: str, blocks: int = BLOCKS) -> Transformer:
    """A model of one change with so many blocks on each side, randomly initialised."""
    removed = change.removesuffix(SMALL).removesuffix(LINEAR)
    model = changed_transformer("no norms" if removed == FINAL else removed, blocks=blocks)
    if removed == FINAL:
        model.encoder_norm, model.decoder_norm = LayerNorm(model.d_model), LayerNorm(model.d_model)
    if change.endswith(SMALL):
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if name.endswith(("out_proj.weight", "linear2.weight")):
                    parameter.div_(10)
    if change.endswith(LINEAR):
        use_linear_default(model)
    return model


def asked(setting: str) -> tuple[str, float, int, int]:
    """Change, learning rate, steps and blocks of a setting."""
    change, rest = setting.split(", rate ")
    rate, *others = rest.split(", ")
    counts = {word: int(count) for count, word in (other.split() for other in others)}
    return change, float(rate), counts.get("steps", STEPS), counts.get("blocks", BLOCKS)


def gradients(model, data) -> list[float]:
    """Norm of the gradient of each decoder block on the first batch."""
    sequence_loss(model, collate(data.train[:BATCH_SIZE])).backward()
    found = [
        sum(parameter.grad.double().square().sum() for parameter in block.parameters()).sqrt()
        for block in model.decoder_layers
    ]
    model.zero_grad()
    return [round(norm.item(), 6) for norm in found]


def run(setting: str, seed: int) -> dict:
    """Train one model, to the end or until its loss is not finite."""
    torch.set_num_threads(1)
    change, rate, steps, blocks = asked(setting)
    data, losses = date_data(), []
    torch.manual_seed(seed)
    model = deep(change, blocks)
    at_first = gradients(model, data)

    def noted(model, batch):
        loss = sequence_loss(model, batch)
        losses.append(loss.item())
        return loss

    failed = None
    try:
        fit(
            model,
            endless_batches(data.train, BATCH_SIZE, seed=seed),
            steps=steps,
            loss=noted,
            learning_rate=rate,
            schedule=warmup_linear(
                steps,
                warmup=0 if change.endswith("no warm-up") else round(WARMUP * steps),
                decay=DECAY,
            ),
            description=f"{setting}, seed {seed}",
            progress=False,
        )
    except FloatingPointError:  # what this study asks
        failed = len(losses)
        losses = losses[: (failed - 1) // BIN * BIN]
    bins = torch.tensor(losses).view(-1, BIN).mean(1)
    return {
        "failed": failed,
        "every": BIN,
        "losses": [round(value, 4) for value in bins.tolist()],
        "gradients": at_first,
    }


if __name__ == "__main__":
    Study("ch07/depth", run, SETTINGS).main()
