"""Two small models of attention alone, for the live view of chapter 13: one layer and two.

    python -m shipping.induction

Each is trained on words of a Markov chain in which passages are repeated (see
`gates2heads.book.ch13.induction`), and written to
`src/gates2heads/models/weights/induction_one.safetensors` and `induction_two.safetensors`: the
parameters in one byte each, and a card. The scores are those of the parameters as they are written.
`--to FOLDER` writes elsewhere.
"""

import argparse
from pathlib import Path

import torch

from gates2heads.book.ch12.exchanges import parameters
from gates2heads.book.ch13.induction import BATCH, STEPS, head_scores, scores, train_induction
from gates2heads.book.ch13.repeats import LENGTH, held_out, word_tokenizer
from gates2heads.book.studies import device_name
from gates2heads.training.cards import save_model
from gates2heads.training.quantisation import dequantise, quantise

LAYERS = {"induction_one": 1, "induction_two": 2}
WEIGHTS = Path(__file__).parents[1] / "src/gates2heads/models/weights"


def main() -> None:
    """Train both models, quantise and score them, and write the files."""
    parser = argparse.ArgumentParser(prog="python -m shipping.induction")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--to", type=Path, default=WEIGHTS)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    for name, layers in LAYERS.items():
        model, history = train_induction(layers, asked.seed, steps=asked.steps)
        model.load_state_dict(dequantise(quantise(model.state_dict())))
        heads = head_scores(model, held_out("random"))
        card = {
            "data": "Words of a Markov chain that the library samples, with repeated passages",
            "terms": "The data are generated; no text of others was used.",
            "limits": f"Knows 100 words and reads at most {LENGTH} tokens. Its training data have "
            "no meaning, so that it knows nothing about the words.",
            "command": f"python -m shipping.induction --steps {asked.steps} --seed {asked.seed}",
            "seed": asked.seed,
            "steps": asked.steps,
            "tokens": asked.steps * BATCH * LENGTH,
            "parameters": parameters(model),
            "chain": scores(model, held_out("chain"))._asdict(),
            "random": scores(model, held_out("random"))._asdict(),
            "heads": [list(head) for head in heads.heads],
            "prefix_matching": heads.prefix_matching,
            "previous": heads.previous,
            "seconds": round(history.seconds),
            "machine": {"device": device_name(), "threads": torch.get_num_threads()},
        }
        path = asked.to / f"{name}.safetensors"
        save_model(path, model, source=word_tokenizer(), card=card, small=True)
        print(f"{path}: {path.stat().st_size:,} bytes, {card['random']}", flush=True)


if __name__ == "__main__":
    main()
