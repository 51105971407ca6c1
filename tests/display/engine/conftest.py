"""One Node process for all tests of the engine, and the shipped translator in it."""

import pytest

from gates2heads.display.engine.export import export_model
from gates2heads.training.checkpoints import read_packed, shipped_weights
from gates2heads.training.recipes.runs import load
from tests.display.engine.in_node import Node, entry_of


@pytest.fixture(scope="session")
def node():
    process = Node()
    yield process
    process.close()


@pytest.fixture(scope="session")
def trained():
    """The shipped translator as the library loads it."""
    return load(shipped_weights("translator"))


@pytest.fixture(scope="session")
def exported(trained):
    """The same as the command line exports it."""
    packed, _ = read_packed(shipped_weights("translator"))
    decoding = {**trained.card["recipe"]["decoding"], "max_length": trained.task.max_length}
    sides = {"source": trained.source, "target": trained.target}
    return export_model(
        trained.model,
        name="translator",
        decoding=decoding,
        card=trained.card,
        tensors=packed,
        **sides,
    )


@pytest.fixture(scope="session")
def translator(node, exported):
    """The key of the same in Node."""
    node.one("load", key="translator", entry=entry_of(exported))
    return "translator"


@pytest.fixture(scope="session")
def plain_translator(node, exported):
    """The same without WebAssembly."""
    node.one("load", key="plain translator", entry=entry_of(exported), fast=False)
    return "plain translator"
