"""Three small networks for the unroller of chapter 4: trained with a teacher, without, and mixed.

    python -m shipping.forced teacher
    python -m shipping.forced free
    python -m shipping.forced mixed

Each run trains a network of `studies/ch04/teacher_forcing.py`, seed 0, and writes it as
`src/gates2heads/models/weights/forced_NAME.safetensors`: the weights in one byte each, and a card
with data, command, seed and its accuracy on the test dates, by the weights as they are
written.
"""

import argparse
from pathlib import Path

import torch

from gates2heads.book.studies import device_name
from gates2heads.training.cards import save_model
from gates2heads.training.quantisation import dequantise, quantise
from studies.ch04.teacher_forcing import SETTINGS, SHARES, batch_of, judge, train

WEIGHTS = Path(__file__).parents[1] / "src/gates2heads/models/weights"
MOST_WRITTEN = 8 * 11 + 1  # eight dates, each with the space behind it
TESTED = 1000


def main() -> None:
    """Train one of the three networks and write it with its card."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("way", choices=tuple(SHARES))
    way = parser.parse_args().way
    torch.set_num_threads(1)
    model, source, target, history = train(way, seed=0)
    model.load_state_dict(dequantise(quantise(model.state_dict())))
    with torch.no_grad():
        found = judge(model, batch_of("test", TESTED, source, target))
    card = {
        "data": "CLDR dates, en, fr, de, es, zh, ja, ru, ar",
        "terms": "Written by Babel from the Unicode CLDR, under the Unicode licence.",
        "limits": "Knows the languages and forms that it was trained on, and no short numeric "
        "dates; 400 steps of training.",
        "command": f"python -m shipping.forced {way}",
        "seed": 0,
        "settings": SETTINGS,
        "scores": {"test": found},
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "seconds": round(history.seconds),
        "machine": {"device": device_name(), "threads": torch.get_num_threads()},
    }
    save_model(
        WEIGHTS / f"forced_{way}.safetensors",
        model,
        source=source,
        target=target,
        decoding={"width": 1, "length_power": 1.0, "max_length": MOST_WRITTEN},
        card=card,
        small=True,
    )
    print(card)


if __name__ == "__main__":
    main()
