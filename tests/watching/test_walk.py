"""A walk through a Transformer: sizes, weights, early readouts and cache of the pass that wrote."""

import copy
import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gates2heads.data.tokens.characters import CharacterTokenizer
from gates2heads.decoding.translation import write
from gates2heads.layers.attention.multi_head import MultiHeadAttention
from gates2heads.layers.record import record
from gates2heads.models.transformer.transformer import Transformer
from gates2heads.models.transformer.universal import UniversalTransformer
from gates2heads.models.translation.seq2seq import EncoderDecoder
from gates2heads.watching.observation import observe_heads
from gates2heads.watching.walk import PARTS, logit_lens, walk

SOURCE = CharacterTokenizer.from_texts(["jeudi 14"])
TARGET = CharacterTokenizer.from_texts(["0123-"])
SIDES = SOURCE, TARGET
ENCODERS, DECODERS, H, K = 2, 3, 5, 6  # rotation asks for an even K
TEXT, LONGEST = "jeudi 4", 11


def transformer(kind=Transformer, seed=5, **options):
    torch.manual_seed(seed)
    sizes = len(SOURCE.vocabulary), len(TARGET.vocabulary)
    depths = {"num_encoder_layers": ENCODERS, "num_decoder_layers": DECODERS}
    options = {**depths, **options}
    options |= {"positions": "learned", "max_length": 37}
    model = kind(*sizes, d_model=H * K, nhead=H, dim_feedforward=13, **options).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():  # so that it writes more than one token
            parameter.add_((3 if "positions" in name else 0.3) * torch.randn_like(parameter))
    return model


PLAIN = transformer()
WAYS = pytest.mark.parametrize(
    "options",
    [{}, {"norm_first": False}, {"norm": "rms", "rotary": True}, {"tie": None}],
    ids=["pre-norm", "post-norm", "rms, rotary", "untied"],
)


def forced(model, walked):
    """All steps of the decoder at once, under the causal mask: log_probs (T, V), and the trace."""
    words = TARGET.vocabulary
    target = torch.tensor([[words.bos, *words.encode(walked.target)[:-1]]])
    with record(model) as trace, torch.no_grad():
        source = model.encode(torch.tensor([SOURCE.encode(TEXT)]))
        vectors = model.target_positions(model._embed(target, model.target_table))
        for layer, memory in zip(model.decoder_layers, model._memory(source), strict=True):
            vectors = layer(vectors, memory)
        log_probs = model.readout(vectors).log_softmax(-1)
    return log_probs[0], trace


@WAYS
def test_it_writes_what_the_search_writes_and_looks_where_the_heads_look(options):
    model = transformer(**options)
    walked = walk(model, TEXT, *SIDES, max_length=LONGEST)
    output = write(model, [TEXT], *SIDES, max_length=LONGEST)
    assert TARGET.vocabulary.encode(walked.target) == output.tokens[0].tolist()
    assert len(set(walked.target)) > 2 or not options.get("norm_first", True)
    assert walked.log_prob == pytest.approx(output.log_prob.item(), rel=1e-5)
    seen = observe_heads(model, TEXT, *SIDES, max_length=LONGEST)
    assert (walked.source, walked.target) == (seen.source, seen.target)
    kinds = {"encoder": [], "decoder": [], "cross": []}
    for stage in walked.stages:
        if stage.weights is not None:
            kinds["cross" if stage.part == "cross_attn" else stage.stack].append(stage.weights)
    for kind, weights in kinds.items():
        torch.testing.assert_close(torch.stack(weights), getattr(seen, kind), rtol=0, atol=0)


@WAYS
def test_sizes_are_those_of_the_vectors_that_flow(options):
    model = transformer(**options)
    walked = walk(model, TEXT, *SIDES, max_length=LONGEST)
    names = [(stage.stack, stage.block, stage.part) for stage in walked.stages]
    assert names == [
        (stack, block, part)
        for stack, depth in (("encoder", ENCODERS), ("decoder", DECODERS))
        for block, parts in [(0, ["embedding"]), *((n + 1, PARTS[stack]) for n in range(depth))]
        for part in parts
    ]
    _, trace = forced(model, walked)
    for stage in walked.stages:
        length = len(walked.source if stage.stack == "encoder" else walked.target)
        assert stage.after.shape == (length,)
        if stage.block == 0:
            assert (stage.before, stage.added, stage.weights) == (None, None, None)
            continue
        part = stage.part.removesuffix("_attn")
        notes = trace[f"{stage.stack}_layers.{stage.block - 1}.{part}_residual"]
        for name in ("before", "added", "after"):
            expected = notes[name][0][0].norm(dim=-1) / (H * K) ** 0.5
            torch.testing.assert_close(getattr(stage, name), expected)
    for one, other in itertools.pairwise(walked.stages):
        if one.stack == other.stack:  # what leaves one part comes into the next
            assert torch.equal(one.after, other.before)


def test_sizes_by_hand():
    # The embedding of every token is (3, 4), the sinusoids of position 0 are (0, 1), and nothing
    # is added on the way: √((3² + 5²) / 2) = √17.
    model = Transformer(
        *(len(side.vocabulary) for side in SIDES),
        d_model=2,
        nhead=1,
        dim_feedforward=1,
        num_encoder_layers=1,
        num_decoder_layers=1,
    ).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" not in name:
                parameter.zero_()
        for table in (model.source_table, model.target_table):
            table.copy_(torch.tensor([3.0, 4.0]) / 2**0.5)
    walked = walk(model, "j", *SIDES, max_length=1)
    for stage in walked.stages:
        assert stage.after[0].item() == pytest.approx(17**0.5)
        assert stage.added is None or stage.added.tolist() == [0] * len(stage.added)


@WAYS
def test_after_the_last_layer_it_says_what_the_model_says(options):
    model = transformer(**options)
    words, log_probs, rank, written = (
        walked := walk(model, TEXT, *SIDES, top=4, max_length=LONGEST)
    ).readouts
    expected, _ = forced(model, walked)
    best = expected.topk(4)
    torch.testing.assert_close(log_probs[-1], best.values)
    named = [[TARGET.vocabulary.tokens[token] for token in step] for step in best.indices]
    assert words[-1] == named
    assert rank[-1].tolist() == [0] * len(walked.target)
    assert written[-1].sum().item() == pytest.approx(walked.log_prob, rel=1e-5)
    assert [step[0] for step in words[-1]] == walked.target


@WAYS
@pytest.mark.parametrize("depth", range(DECODERS + 1))
def test_after_a_layer_it_says_what_a_model_that_ends_there_says(options, depth):
    model = transformer(**options)
    walked = walk(model, TEXT, *SIDES, top=3, max_length=LONGEST)
    shorter = copy.deepcopy(model)
    shorter.decoder_layers = shorter.decoder_layers[:depth]
    expected, _ = forced(shorter, walked)
    torch.testing.assert_close(walked.readouts.log_probs[depth], expected.topk(3).values)
    own = torch.tensor(TARGET.vocabulary.encode(walked.target))[:, None]
    own_log_probs = expected.gather(1, own)
    torch.testing.assert_close(walked.readouts.written[depth], own_log_probs[:, 0])
    likelier = (expected > own_log_probs + 1e-5).sum(1)
    assert torch.equal(walked.readouts.rank[depth], likelier)


def test_the_readout_of_a_layer_by_hand():
    # Width 1 under an RMS norm is the sign: the readout of any positive vector is (1, -1, 0, …).
    sizes = {"d_model": 1, "nhead": 1, "dim_feedforward": 1, "norm": "rms", "tie": None}
    model = Transformer(
        3, 3, num_encoder_layers=1, num_decoder_layers=1, positions="learned", **sizes
    )
    with torch.no_grad():
        model.readout_table.copy_(torch.tensor([[1.0], [-1.0], [0.0]]))
        found = logit_lens(model, torch.tensor([[5.0], [-0.5]]))
    total = torch.tensor([1.0, -1.0, 0.0]).exp().sum().log()
    expected = torch.tensor([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0]]) - total
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)


@settings(deadline=None)
@given(st.integers(1, LONGEST), st.sampled_from(["j", "di", "jeudi 14 4"]))
def test_the_cache_counts_keys_and_values(longest, text):
    walked = walk(PLAIN, text, *SIDES, max_length=longest)
    read, steps = len(text) + 1, len(walked.target)
    assert walked.cache.shape == (DECODERS, H, K)
    assert walked.cache.source == DECODERS * 2 * H * K * read
    assert walked.cache.target == [DECODERS * 2 * H * K * (step + 1) for step in range(steps)]


def test_without_a_cache_all_is_computed_again(monkeypatch):
    # A decoder that keeps nothing projects the source and all it has written at each step.
    counted = []

    def count(pair):
        def counting(*args, **options):
            found = pair(*args, **options)
            keys, values = found[1] if pair is whole else found
            counted.append(keys.numel() + values.numel())
            return found

        return counting

    model = transformer()
    walked = walk(model, TEXT, *SIDES, max_length=LONGEST)
    whole, pair = MultiHeadAttention._project_all, MultiHeadAttention._project_pair
    words, without = TARGET.vocabulary, []
    inputs = [words.bos, *words.encode(walked.target)[:-1]]
    with torch.no_grad():
        source = model.encode(torch.tensor([SOURCE.encode(TEXT)]))
        monkeypatch.setattr(MultiHeadAttention, "_project_all", count(whole))
        monkeypatch.setattr(MultiHeadAttention, "_project_pair", count(pair))
        for step in range(1, len(inputs) + 1):
            target = torch.tensor([inputs[:step]])
            vectors = model.target_positions(model._embed(target, model.target_table))
            for layer in model.decoder_layers:
                vectors = layer(vectors, layer.cross_attn.project(source))
            without.append(sum(counted))
    assert walked.cache.without == without
    assert len(without) > 2


@pytest.mark.parametrize(
    ("model", "given", "sentence"),
    [
        (transformer(), {"top": 9}, "top must"),
        (
            EncoderDecoder(9, 8, embedding_size=3, hidden_size=4),
            {},
            "model must",
        ),
        (
            transformer(UniversalTransformer, num_encoder_layers=2, num_decoder_layers=2),
            {},
            "model must",
        ),
    ],
)
def test_what_cannot_be_walked_is_refused(model, given, sentence):
    with pytest.raises((TypeError, ValueError)) as caught:
        walk(model, **{"text": TEXT, "source": SOURCE, "target": TARGET, "max_length": 3, **given})
    assert str(caught.value).startswith(sentence)


def test_a_model_without_a_readout_has_no_lens():
    with pytest.raises(TypeError, match="model must"):
        logit_lens(torch.nn.ReLU(), torch.ones(2, 3))
    with pytest.raises(ValueError, match=r"vectors must"):
        logit_lens(PLAIN, torch.ones(2, 3))
