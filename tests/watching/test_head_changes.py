"""A translation beside that of the changed model: heads off, words moved, no positions."""

import copy

import pytest
import torch

from gates2heads.data.batches.pairs import collate
from gates2heads.layers.attention.heads_off import heads_off
from gates2heads.watching.head_changes import in_order, observe_change
from gates2heads.watching.observation import observe_heads
from tests.watching.test_observation import SOURCE, TARGET, two_layers
from tests.without_positions import without_positions

TEXT, OFF = "ju 14 i", [("encoder_layers.1.self_attn", 2), ("decoder_layers.0.cross_attn", 0)]
SIDES = {"source": SOURCE, "target": TARGET, "max_length": 7}


def same(one, other):
    assert one[:2] == other[:2]
    for ours, theirs in zip(one[2:], other[2:], strict=True):
        torch.testing.assert_close(torch.as_tensor(ours), torch.as_tensor(theirs))


@pytest.mark.parametrize("rotary", [False, True])
@pytest.mark.parametrize("positions", [False, True])
def test_each_part_is_what_the_changed_model_gives(rotary, positions):
    model = two_layers(rotary=rotary)
    changed = copy.deepcopy(model)
    if not positions:
        without_positions(changed)
    found = observe_change(model, TEXT, off=OFF, order=[2, 0, 1], positions=positions, **SIDES)
    assert (found.off, found.order, found.positions) == (OFF, [2, 0, 1], positions)
    base = observe_heads(model, TEXT, **SIDES)  # it is not changed any more
    same(found.base.seen, base)
    with heads_off(changed, OFF):
        same(found.now.seen, observe_heads(changed, "i ju 14", **SIDES))
        if positions:
            assert found.unshuffled is None
        else:
            same(found.unshuffled.seen, observe_heads(changed, TEXT, **SIDES))
        numbers = TARGET.vocabulary.encode(base.target)
        with torch.no_grad():  # all steps at once
            logits = changed(collate([(SOURCE.encode("i ju 14"), numbers)]))
    wanted = logits.log_softmax(-1)[0, range(len(numbers)), numbers]
    torch.testing.assert_close(torch.tensor(found.judged), wanted)
    assert [one.text for one in (found.base, found.now)] == [TEXT, "i ju 14"]
    assert found.base.written == TARGET.decode(numbers)


def test_without_changes_both_are_the_same():
    found = observe_change(two_layers(), TEXT, **SIDES)
    same(found.base.seen, found.now.seen)
    assert sum(found.judged) == pytest.approx(found.base.seen.log_prob, abs=1e-5)


@pytest.mark.parametrize(
    ("text", "order", "wanted"),
    [
        ("Ein Hund bellt.", [2, 0, 1], "bellt Ein Hund."),
        ("Ein Hund bellt !", [1, 0, 2], "Hund Ein bellt !"),
        ("Ein Hund", [], "Ein Hund"),
    ],
)
def test_the_end_stays_where_it_is(text, order, wanted):
    assert in_order(text, order) == wanted


@pytest.mark.parametrize("order", [[0, 1], [0, 0, 1], [1, 2, 3]])
def test_an_order_that_is_none_is_told(order):
    with pytest.raises(ValueError, match="order must contain each number from 0 to 2 once, got"):
        observe_change(two_layers(), TEXT, order=order, **SIDES)
