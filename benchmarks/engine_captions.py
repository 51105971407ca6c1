"""The shipped translator in the engine beside the library: all test captions, and hostile texts.

    python -m benchmarks.engine_captions
    python -m benchmarks.engine_captions --every 20        # of the beam's texts, for want of time

Texts go one by one through both, greedily and with a beam as wide as the recipe's. What is stored
of the same weights is not done again, unless it was asked for fewer texts. Stored in
benchmarks/results/engine_captions.json: how many came out token for token alike, and for each of
the others its number, and by how much the library prefers the likelier of the two, computed in
double precision: where that is no more than rounding, the two are a tie. No text is stored.
"""

import argparse
import json
import random
from pathlib import Path

import torch

from gates2heads.browser.engine.export import export_model
from gates2heads.data.corpora.multi30k import multi30k
from gates2heads.decoding.translation import write
from gates2heads.training.checkpoints import read_packed, shipped_weights, write_whole
from gates2heads.training.recipes.runs import load, search_of
from tests.browser.engine.in_node import Node, entry_of
from tests.browser.engine.tokens.test_engine_tokens import HOSTILE, draw_text

RESULTS = Path(__file__).with_name("results") / "engine_captions.json"
PATH = shipped_weights("translator")
MANY = 200  # hostile texts
TIE = 1e-4  # nats a token: what rounding moves


def hostile_texts() -> list[str]:
    """Texts that no caption resembles, short enough for the model."""
    draw = random.Random(0)
    texts = [text for text in HOSTILE if len(text) < 100]
    return texts + [draw_text(draw) for _ in range(MANY - len(texts))]


def library_writes(trained, text: str, width: int) -> list[int]:
    """The tokens that the library writes, up to `<eos>`."""
    search = {**search_of(trained.card["recipe"]), "width": width}
    longest = trained.task.max_length
    written = write(
        trained.model, [text], trained.source, trained.target, max_length=longest, **search
    )
    row = written.tokens[0].tolist()
    eos = trained.target.eos
    return row[: row.index(eos) + 1] if eos in row else row


def score(exact, trained, text: str, tokens: list[int], power: float) -> float:
    """What the library's model, in double precision, gives a sequence: log P / L^power."""
    total, last = 0.0, trained.target.bos
    with torch.no_grad():
        state = exact.start(torch.tensor([trained.source.encode(text)]))
        for token in tokens:
            log_probs, state = exact.step(state, torch.tensor([last]))
            total, last = total + log_probs[0, token].item(), token
    return total / len(tokens) ** power


def compare(node: Node, trained, exact, texts: list[str], width: int) -> dict:
    """How many texts come out alike, and which do not."""
    power = trained.card["recipe"]["decoding"]["length_power"] if width > 1 else 0.0
    alike, others = 0, []
    for number, text in enumerate(texts):
        request = {"op": "translate", "key": "translator", "texts": [text]}
        (answer,) = node.ask([{**request, "options": {"width": width}}])
        ours, theirs = answer[0]["tokens"], library_writes(trained, text, width)
        alike += ours == theirs
        if ours != theirs:
            gap = score(exact, trained, text, theirs, power) - score(
                exact, trained, text, ours, power
            )
            others.append({"number": number, "preference": gap, "tie": abs(gap) <= TIE})
    return {"texts": len(texts), "alike": alike, "others": others}


def stored(sha256: str) -> dict:
    """What is known of these weights."""
    known = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    return known if known.get("sha256") == sha256 else {"sha256": sha256}


def main() -> None:
    """Compare, print and store."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--every", type=int, default=1, help="of the texts that a beam is given")
    every = parser.parse_args().every
    torch.set_num_threads(1)
    trained, exact = load(PATH), load(PATH).model.double()
    decoding = {**trained.card["recipe"]["decoding"], "max_length": trained.task.max_length}
    exported = export_model(
        trained.model,
        name="translator",
        source=trained.source,
        target=trained.target,
        decoding=decoding,
        tensors=read_packed(PATH)[0],
    )
    captions = [pair.german for pair in multi30k("test")]
    node, found = Node(), stored(exported.sha256)
    node.one("load", key="translator", entry=entry_of(exported))
    for name, texts in (("captions", captions), ("hostile", hostile_texts())):
        for width in (1, decoding["width"]):
            some = texts if width == 1 else texts[::every]
            part = f"{name}, width {width}"
            if found.get(part, {}).get("texts", 0) >= len(some):
                continue
            found[part] = compare(node, trained, exact, some, width)
            print(part, json.dumps(found[part]), flush=True)
            content = json.dumps(found, indent=1) + "\n"
            write_whole(RESULTS, lambda file, content=content: file.write(content.encode()))
    node.close()


if __name__ == "__main__":
    main()
