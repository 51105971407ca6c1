"""What the Further page of chapter 12 says of the first token, on other modules."""

import inspect
import json

import pytest
import torch
import torch.nn.functional as F

from gates2heads.browser.engine.rebuild import shipped
from gates2heads.data.corpora.python.source import known_characters
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.decoding import beam
from gates2heads.models.language import pruned
from gates2heads.models.translation import decoders
from tests.chapters.solutions.test_solutions import CHAPTERS

PAGE = "12_one_stack_further.ipynb"


@pytest.mark.slow
@pytest.mark.parametrize("module", [beam, pruned, decoders])
def test_only_the_first_token_makes_up_for_a_window(module):
    """The cell itself, with another module in place of its own."""
    cells = json.loads((CHAPTERS / PAGE).read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    (found,) = [one for one in code if "def surprisal(" in one]
    space = {
        "torch": torch,
        "F": F,
        "inspect": inspect,
        "shipped": shipped,
        "known_characters": known_characters,
        "Vocabulary": Vocabulary,
        "decoder_only": module,
    }
    exec(found, space)
    whole, alone, sink, control = (space[one] for one in ("whole", "alone", "sink", "control"))
    assert whole < sink < alone
    assert alone - sink > 5 * abs(control - alone)
