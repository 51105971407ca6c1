"""What all tests share: one thread, one seed, reproducible examples, and the table of parities."""

import os

import pytest
import torch
from accelerate.state import AcceleratorState, PartialState
from hypothesis import HealthCheck, settings

# "book" draws the same few examples each time, so that a change is what breaks a test; "weekly"
# (pytest --hypothesis-profile weekly) draws others each time, and many.
settings.register_profile("book", deadline=None, derandomize=True, database=None, max_examples=30)
settings.register_profile(
    "weekly",
    deadline=None,
    max_examples=500,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("book")
torch.set_num_threads(1)

PARITIES = {}  # (ours, reference) -> [largest output difference, largest gradient difference]


def pytest_addoption(parser):
    parser.addoption("--parity", action="store_true", help="print the table of parity tests")
    parser.addoption("--store-weights", metavar="FILE", help="write the weights of the pages here")


def pytest_terminal_summary(terminalreporter, config):
    if config.getoption("--parity"):
        terminalreporter.section("largest difference from the reference: output, gradient")
        for (ours, reference), (output, gradient) in sorted(PARITIES.items()):
            terminalreporter.line(f"{ours:34} {reference:48} {output:.1e} {gradient:.1e}")


@pytest.fixture(scope="session")
def transformers():
    """The reference library, kept from looking for anything on the network."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    return pytest.importorskip("transformers", reason="transformers is not installed")


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(41)


@pytest.fixture(autouse=True)
def _forget_accelerate():
    """Accelerate keeps the first precision of the process for all later ones."""
    yield
    AcceleratorState._reset_state()
    PartialState._reset_state()


def largest_difference(ours, theirs):
    assert len(ours) == len(theirs) > 0
    gaps = []
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.shape == other.shape
        assert mine.isfinite().all()
        gaps.append((mine - other).abs().max().item())
    return max(gaps)


@pytest.fixture
def parity():
    """Assert that outputs and gradients agree with a reference, and note by how much.

    Tests compute in double precision, where agreement means agreement to 1e-12 or so; two
    formulas that differ in the mathematics cannot hide behind rounding.
    """

    def check(ours, reference, outputs, gradients, *, tolerance=1e-12):
        differences = [largest_difference(*outputs), largest_difference(*gradients)]
        assert max(differences) <= tolerance, (ours, reference, differences)
        known = PARITIES.get((ours, reference), [0.0, 0.0])
        PARITIES[ours, reference] = [max(pair) for pair in zip(known, differences, strict=True)]

    return check
