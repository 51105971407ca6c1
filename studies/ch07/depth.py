"""When does a Transformer need layer normalisation and warm-up? Chapter 7, section 7.4.

    python -m studies.ch07.depth --seeds 0 1 2
    python -m studies.ch07.depth --table

The Transformer of `ablations.py` with twelve blocks on each side instead of three, pre-norm or
post-norm or without normalisation, with and without warm-up, at two learning rates; 100 batches
of 32 dates. With "small start", the last matrix of every sublayer is divided by 10 before
training, so that at first they add little to the residual stream. "final norms" keeps only the norm
at the end of each stack, which bounds the logits and not what grows inside. `losses` are means of
the training loss over 10 steps, in nats per character, up to the step at which the loss is no
longer finite, which `failed` gives (null if there is none). `gradients` are the norms of the
gradient of each decoder block on the first batch, before training, from the first block to the
last.
"""

import torch

from gates2heads.book.ch07.ablation import BATCH_SIZE, DECAY, changed_transformer, date_data
from gates2heads.book.studies import Study
from gates2heads.data.batches.pairs import collate, endless_batches
from gates2heads.layers.norms import LayerNorm
from gates2heads.training.loop import fit
from gates2heads.training.losses import sequence_loss
from gates2heads.training.schedules import warmup_linear

BLOCKS, STEPS, WARMUP, BIN = 12, 100, 30, 10
CHANGES = ("whole", "no norms", "no warm-up", "post-norm", "post-norm, no warm-up")
SMALL, FINAL = ", small start", "final norms"
RATES = {"0.003": 3e-3, "0.001": 1e-3, "0.0003": 3e-4}
SETTINGS = (
    *(f"{change}, rate {rate}" for rate in ("0.003", "0.001") for change in CHANGES),
    "no norms, rate 0.0003",
    *(f"{FINAL}, rate {rate}" for rate in ("0.003", "0.001")),
    *(f"{change}{SMALL}, rate 0.003" for change in ("whole", "no norms")),
)


def deep(change: str):
    """A model of one change with twelve blocks on each side, randomly initialised."""
    removed = "no norms" if change == FINAL else change.removesuffix(SMALL)
    model = changed_transformer(removed, blocks=BLOCKS)
    if change == FINAL:
        model.encoder_norm, model.decoder_norm = LayerNorm(model.d_model), LayerNorm(model.d_model)
    if change.endswith(SMALL):
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if name.endswith(("out_proj.weight", "linear2.weight")):
                    parameter.div_(10)
    return model


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
    change, rate = setting.split(", rate ")
    data, losses = date_data(), []
    torch.manual_seed(seed)
    model = deep(change)
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
            steps=STEPS,
            loss=noted,
            learning_rate=RATES[rate],
            schedule=warmup_linear(
                STEPS, warmup=0 if change.endswith("no warm-up") else WARMUP, decay=DECAY
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
