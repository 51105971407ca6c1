"""Carry the ladder's scores to where the pages of the book read them, Colab's too.

    python benchmarks/carry_ladder.py

The rows of `benchmarks/results/ladder.json`, without translations and curves, go to
`gates2heads/training/results/ladder.json`, in the form of a study. Nothing is trained.
"""

import json
from pathlib import Path

from gates2heads.training.files import write_whole
from gates2heads.training.studies import RESULTS

LADDER = Path(__file__).with_name("results") / "ladder.json"


def carried(row: dict) -> dict:
    """A row of the ladder as a row of a study."""
    return {
        "setting": row["recipe"],
        "seed": row["seed"],
        "command": f"python benchmarks/ladder.py {row['recipe']} --seeds {row['seed']}",
        "seconds": row["seconds"],
        "machine": row["machine"],
        "result": {
            "parameters": row["parameters"],
            "perplexity": row["perplexity"],
            "bleu_greedy": row["test"]["width 1"]["bleu"],
            "bleu": row["test"]["width 5"]["bleu"],
            "chrf": row["test"]["width 5"]["chrf"],
            "chrf_greedy": row["test"]["width 1"]["chrf"],
            "perplexity_free_running": row["perplexity_free_running"],
        },
    }


def main() -> None:
    """Write all rows anew."""
    rows = [carried(row) for row in json.loads(LADDER.read_text(encoding="utf-8"))]
    text = json.dumps(rows, indent=1, ensure_ascii=False) + "\n"
    write_whole(RESULTS / "ladder.json", lambda file: file.write(text.encode()))


if __name__ == "__main__":
    main()
