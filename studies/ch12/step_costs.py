"""Time and memory of a training step of each block. Section 12.2 shows the results.

    python -m studies.ch12.step_costs --seeds 0 1 2
    python -m studies.ch12.step_costs --table

`seconds_per_step` is the processor time of one thread for a training step (forward, backward and
update) on 8 passages of 256 tokens: the minimum of 5
measurements, for which all variants take turns.
`saved` is the memory, in bytes per token, of what the forward pass keeps for the backward pass.
"""

import time
from functools import cache

import torch

from gates2heads.book.ch12.exchanges import VARIANTS, variant_model
from gates2heads.book.ch12.python_text import LENGTH, VOCABULARY
from gates2heads.book.studies import Study
from gates2heads.data.batches.passages import passage_loss

BATCH, ROUNDS = 8, 5


def saved_bytes(model, passage) -> int:
    """How many bytes one forward pass keeps for the backward pass, parameters left out."""
    kept, own = {}, {parameter.data_ptr() for parameter in model.parameters()}

    def note(tensor):
        if tensor.data_ptr() not in own:
            kept[tensor.data_ptr()] = tensor.numel() * tensor.element_size()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        loss = passage_loss(model.logits, passage)  # held, so that no memory is used twice
        assert loss.isfinite()
        return sum(kept.values())


@cache
def measured(seed: int) -> dict[str, dict]:
    """Measure all variants, one after the other, for one seed."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    passage = torch.randint(3, VOCABULARY, (BATCH, LENGTH + 1))
    models = {variant: variant_model(variant) for variant in VARIANTS}
    optimizers = {name: torch.optim.AdamW(model.parameters()) for name, model in models.items()}
    seconds: dict[str, list[float]] = {variant: [] for variant in VARIANTS}
    for _ in range(ROUNDS):
        for variant, model in models.items():
            begin = time.process_time()
            optimizers[variant].zero_grad()
            passage_loss(model.logits, passage).backward()
            optimizers[variant].step()
            seconds[variant].append(time.process_time() - begin)
    return {
        variant: {
            "seconds_per_step": min(seconds[variant]),
            "saved": saved_bytes(model, passage) / (BATCH * LENGTH),
        }
        for variant, model in models.items()
    }


def run(setting: str, seed: int) -> dict:
    """The costs of one variant."""
    return measured(seed)[setting]


if __name__ == "__main__":
    Study("ch12/step_costs", run, list(VARIANTS)).main()
