"""A decoder whose hand is taken: the same as steps by hand, and as the model's teacher forcing."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.data.batches.pairs import collate
from gates2heads.data.tokens.characters import CharacterTokenizer
from gates2heads.data.tokens.vocabulary import Vocabulary
from gates2heads.decoding.translation import translate
from gates2heads.models.transformer.transformer import Transformer
from gates2heads.models.translation.by_name import recurrent_translator
from gates2heads.models.translation.seq2seq import EncoderDecoder
from gates2heads.watching.forced_tokens import observe_forcing, run_held

SOURCE = CharacterTokenizer(Vocabulary("abcde"))
TARGET = CharacterTokenizer(Vocabulary("0123-"))
SIZES = len(SOURCE.vocabulary), len(TARGET.vocabulary)
U = 14


def model_of(kind="plain", seed=0):
    torch.manual_seed(seed)
    if kind == "plain":
        return EncoderDecoder(*SIZES, embedding_size=5, hidden_size=U, score=None).eval()
    options = {"embedding_size": 5, "hidden_size": U, "num_layers": 2}
    return recurrent_translator(*SIZES, cell=kind, **options).eval()


def counting(state, last):
    """A step that says one more than it has read, of seven tokens; the state counts the steps."""
    return torch.eye(7)[(last + 1) % 7].log_softmax(-1), state + 1


def test_a_held_token_is_read_by_hand():
    begin = torch.tensor([0, 3])
    free = run_held(counting, 0, begin, 4)
    assert free.tolist() == [[1, 2, 3, 4], [4, 5, 6, 0]]
    held = run_held(counting, 0, begin, 4, held={1: torch.tensor([5, 2])})
    assert held.tolist() == [[1, 5, 6, 0], [4, 2, 3, 4]]


def test_every_step_can_be_watched():
    seen = []
    run_held(
        counting, 0, torch.tensor([2]), 3, watch=lambda state, said: seen.append((state, said))
    )
    assert [state for state, _ in seen] == [1, 2, 3]
    assert [int(said.argmax()) for _, said in seen] == [3, 4, 5]


@pytest.mark.parametrize("kind", ["plain", "gru", "lstm"])
def test_the_free_line_is_what_translate_writes(kind):
    for seed in range(5):
        model = model_of(kind, seed)
        seen = observe_forcing(model, "abce", SOURCE, TARGET, max_length=7)
        (text,) = translate(model, ["abce"], SOURCE, TARGET, max_length=7)
        numbers = TARGET.vocabulary.encode(seen.free.tokens)
        assert TARGET.decode(numbers) == text
        assert seen.source == [*"abce", "<eos>"]
        assert seen.states.shape == (5, U)
        assert seen.free.hidden.shape == (len(numbers), U)
        assert seen.held is seen.free


@pytest.mark.parametrize("kind", ["plain", "gru"])
def test_the_taught_line_is_the_model_s_teacher_forcing(kind):
    model = model_of(kind)
    seen = observe_forcing(model, "dcb", SOURCE, TARGET, taught="31-20")
    batch = collate([(SOURCE.encode("dcb"), TARGET.encode("31-20"))])
    with torch.no_grad():
        wanted = model(batch).log_softmax(-1)[0]
    assert seen.taught.tokens == [*"31-20", "<eos>"]
    torch.testing.assert_close(seen.taught.log_probs, wanted)


def test_a_teacher_who_says_what_is_written_changes_nothing():
    model = model_of(seed=3)
    seen = observe_forcing(model, "ab", SOURCE, TARGET, max_length=6)
    length = len(seen.free.tokens)
    torch.testing.assert_close(seen.taught.log_probs[:length], seen.free.log_probs)


@given(st.integers(0, 5), st.sampled_from([*"0123-", "<eos>"]), st.integers(0, 20))
def test_what_is_before_a_hold_is_as_in_the_free_line(step, token, seed):
    model = model_of(seed=seed)
    seen = observe_forcing(model, "abc", SOURCE, TARGET, held={step: token}, max_length=6)
    before = min(step, len(seen.free.tokens))
    assert seen.held.tokens[:before] == seen.free.tokens[:before]
    if step < len(seen.held.tokens):
        assert seen.held.tokens[step] == token
        # What it expected there does not know of the hold; only what comes after can.
        torch.testing.assert_close(seen.held.log_probs[: step + 1], seen.free.log_probs[: step + 1])
    if "<eos>" in seen.held.tokens:
        assert seen.held.tokens.index("<eos>") == len(seen.held.tokens) - 1


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"text": "x"}, ValueError, "never saw"),
        ({"held": {-1: "0"}}, ValueError, "each step of held must"),
        ({"held": {0: "9"}}, ValueError, r"held\[0\] must"),
        ({"held": {0: "<bos>"}}, ValueError, r"held\[0\] must"),
        ({"taught": "9"}, ValueError, "never saw"),
    ],
)
def test_a_mistake_gets_one_sentence(given, error, message):
    arguments = {"text": "ab", "source": SOURCE, "target": TARGET} | given
    with pytest.raises(error, match=message):
        observe_forcing(model_of(), **arguments)


def test_a_model_whose_state_cannot_be_seen_is_refused():
    sizes = {"d_model": 8, "nhead": 2, "num_encoder_layers": 1, "num_decoder_layers": 1}
    model = Transformer(*SIZES, dim_feedforward=8, **sizes).eval()
    with pytest.raises(TypeError, match="model must"):
        observe_forcing(model, "ab", SOURCE, TARGET)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"bos": "a"}, TypeError, "bos must"),
        ({"held": {9: torch.tensor([1])}}, ValueError, "each step of held must"),
        ({"held": {0: torch.tensor([1, 2])}}, ValueError, r"held\[0\] must"),
    ],
)
def test_a_run_refuses_what_does_not_fit(given, error, message):
    arguments = {"step": counting, "state": 0, "bos": torch.tensor([0]), "length": 3} | given
    with pytest.raises(error, match=message):
        run_held(**arguments)
