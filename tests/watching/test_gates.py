"""What gates did while a text was read: in one pass, as the layer and the model say themselves."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from gates2heads.data.tokens.characters import CharacterTokenizer
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.layers.record import record
from gates2heads.layers.recurrent import clamp_gates
from gates2heads.models.language.neural import RecurrentLanguageModel, TransformerLanguageModel
from gates2heads.watching.gates import observe_gates

TOKENIZER = CharacterTokenizer(Vocabulary("abc()"))
V, U = 8, 7
QUANTITIES = {
    "lstm": {"input", "forget", "candidate", "output", "cell", "hidden"},
    "gru": {"reset", "update", "candidate", "hidden"},
    "rnn": {"hidden"},
}


def model_of(cell, **options):
    torch.manual_seed(0)
    sizes = {"embedding_size": 5, "hidden_size": U, **options}
    return RecurrentLanguageModel(V, cell=cell, **sizes).eval()


@pytest.mark.parametrize("cell", QUANTITIES)
def test_it_is_what_the_model_does_step_by_step(cell):
    model, text = model_of(cell), "a(b)c"
    seen = observe_gates(model, text, TOKENIZER)
    numbers = TOKENIZER.encode(text, eos=False)
    assert seen.tokens == list(text)
    assert seen.vocabulary == TOKENIZER.vocabulary.tokens
    assert seen.quantities.keys() == QUANTITIES[cell]
    assert all(table.shape == (5, U) for table in seen.quantities.values())
    state = model.start()
    with torch.no_grad():
        for place, number in enumerate([Vocabulary.bos, *numbers]):
            with record(model) as trace:
                log_probs, state = model.step(state, torch.tensor([number]))
            torch.testing.assert_close(seen.log_probs[place], log_probs[0])
            for name, table in seen.quantities.items():
                if place:
                    noted = trace["recurrent"][f"{name}_l0"][0][0, 0]
                    torch.testing.assert_close(table[place - 1], noted)


def test_bits_by_hand():
    # A model whose readout knows nothing gives each of 8 tokens an eighth: three bits.
    model = model_of("gru")
    nn.init.zeros_(model.readout.weight)
    nn.init.zeros_(model.readout.bias)
    seen = observe_gates(model, "abc", TOKENIZER)
    torch.testing.assert_close(seen.bits, torch.full((3,), 3.0))
    torch.testing.assert_close(seen.log_probs.exp(), torch.full((4, V), 1 / 8))


@given(st.text("abc()", min_size=1, max_size=11), st.integers(0, 10))
def test_nothing_depends_on_what_comes_later(text, cut):
    model = model_of("lstm")
    cut = 1 + cut % len(text)
    whole, part = (observe_gates(model, some, TOKENIZER) for some in (text, text[:cut]))
    torch.testing.assert_close(whole.bits[:cut], part.bits)
    for name, table in part.quantities.items():
        torch.testing.assert_close(whole.quantities[name][:cut], table)


def test_a_gate_that_is_held_is_seen_held():
    model = model_of("lstm")
    with clamp_gates(model.recurrent, {"forget": 0.25}, units=[3]):
        seen = observe_gates(model, "a(b)", TOKENIZER)
    free = observe_gates(model, "a(b)", TOKENIZER)
    assert (seen.quantities["forget"][:, 3] == 0.25).all()
    assert not (free.quantities["forget"] == 0.25).any()
    assert not torch.allclose(seen.log_probs, free.log_probs)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"text": ""}, ValueError, "text is empty"),
        ({"text": "x"}, ValueError, "text holds 'x', which this tokenizer never saw"),
        ({"model": TransformerLanguageModel(V, d_model=4)}, TypeError, "got TransformerLanguage"),
        ({"model": "x"}, TypeError, "model must"),
        ({"model": model_of("gru", num_layers=2)}, ValueError, "one recurrent layer, got 2"),
        ({"tokenizer": None}, TypeError, "tokenizer must"),
    ],
)
def test_a_mistake_gets_one_sentence(given, error, message):
    arguments = {"model": model_of("lstm"), "text": "ab", "tokenizer": TOKENIZER} | given
    with pytest.raises(error, match=message):
        observe_gates(*arguments.values())
