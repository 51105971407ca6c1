"""One Node process for all tests of the engine, and the shipped translator in it."""

import pytest

from gates2heads.browser.engine.export import export_model
from gates2heads.training.cards import rebuild
from gates2heads.training.checkpoints import read_packed, shipped_weights
from gates2heads.training.recipes.runs import load
from tests.browser.engine.in_node import Node, entry_of


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
def exported():
    """The same as the command line exports it."""
    packed, _ = read_packed(shipped_weights("translator"))
    model, source, target, decoding, card = rebuild(shipped_weights("translator"))
    return export_model(
        model,
        name="translator",
        source=source,
        target=target,
        decoding=decoding,
        card=card,
        tensors=packed,
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
