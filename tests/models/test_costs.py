"""What a prompt and decoding cost: by hand, by sizes of published matrices, by a model of ours."""

import pytest
import torch

from gates2heads.layers.attention.multi_head import MultiHeadAttention
from gates2heads.models.costs import (
    BITS,
    GPT2_XL,
    LLAMA2_70B,
    MISTRAL_7B,
    PUBLISHED,
    Configuration,
    decoding_bytes,
    decoding_macs,
    decoding_step,
    kv_cache_bytes,
    stack_parameters,
)
from gates2heads.models.prompt_costs import prefill

VOCABULARY = {"GPT-2 XL": 50_257, "Llama 2 70B": 32_000, "Mistral 7B": 32_000}
HIDDEN = {"Llama 2 70B": 28_672, "Mistral 7B": 14_336}  # width of the feed-forward layers


def test_the_cache_by_hand():
    # 2 · 3 layers · 2 heads · 4 entries · 5 tokens are 240 numbers
    assert kv_cache_bytes(3, 2, 4, 5) == 480
    assert kv_cache_bytes(3, 2, 4, 5, batch=7) == 3360
    assert kv_cache_bytes(3, 2, 4, 5, window=2) == 192
    assert kv_cache_bytes(3, 2, 4, 5, window=5) == kv_cache_bytes(3, 2, 4, 5, window=9) == 480
    sizes = [kv_cache_bytes(3, 2, 4, 5, number_format=one) for one in BITS]
    assert sizes == [960, 480, 240, 120]
    assert kv_cache_bytes(1, 1, 1, 1, number_format="int4") == 1


@pytest.mark.parametrize(
    ("model", "length", "gigabytes"),
    [(GPT2_XL, 1024, 0.3145728), (LLAMA2_70B, 4096, 1.34217728), (MISTRAL_7B, 8192, 0.536870912)],
    ids=lambda one: getattr(one, "name", None),
)
def test_the_caches_of_published_models(model, length, gigabytes):
    assert model.max_length == length
    found = kv_cache_bytes(
        model.layers, model.kv_heads, model.head_width, length, window=model.window
    )
    assert found == pytest.approx(gigabytes * 1e9, abs=0.5)


def published_parameters(model):
    """All parameters of a published model, matrix by matrix, and those that are looked up."""
    width = model.heads * model.head_width
    table = VOCABULARY[model.name] * width
    if model.name not in HIDDEN:  # GPT-2: biases, two norms with biases, tied embedding
        matrices = width * 3 * width + width * width + 2 * width * 4 * width
        biases = 3 * width + width + 4 * width + width + 2 * 2 * width
        positions = model.max_length * width
        layers = model.layers * (matrices + biases)
        return layers + table + positions + 2 * width, positions
    groups = model.kv_heads * model.head_width
    attention = 2 * width * width + 2 * width * groups
    layer = attention + 3 * width * HIDDEN[model.name] + 2 * width
    return model.layers * layer + 2 * table + width, table


@pytest.mark.parametrize("model", PUBLISHED, ids=lambda one: one.name)
def test_the_parameters_of_published_models_follow_from_their_sizes(model):
    assert (model.parameters, model.looked_up) == published_parameters(model)
    assert model.heads % model.kv_heads == 0
    sizes = (model.layers, model.heads, model.kv_heads, model.head_width)
    # An estimate without embeddings: Mistral and Llama have wider feed-forward layers
    assert 0.75 < stack_parameters(*sizes) / model.parameters < 1


def test_the_operations_of_an_attention_layer_are_counted():
    # One query over a context of 6: two products of 8 entries a position, in all heads together
    heads, head_width, length = 2, 4, 6
    layer = MultiHeadAttention(heads * head_width, heads)
    scores = torch.ones(heads, 1, head_width) @ torch.ones(heads, head_width, length)
    macs = 2 * scores.numel() * head_width
    weights = sum(one.numel() for one in layer.parameters() if one.ndim == 2)
    assert decoding_macs(weights, 1, heads, head_width, length) == weights + macs
    assert decoding_macs(0, 3, heads, head_width, length, window=2) == 3 * macs // 3
    assert weights + 8 * 64 == stack_parameters(1, heads, heads, head_width)


def test_a_step_by_hand():
    model = Configuration("one", 3, 4, 2, 4, 5, parameters=1000, looked_up=40)
    one = decoding_step(model, 5, number_format="bf16", bandwidth=0.001)
    assert one.parameter_bytes == 1920
    assert one.cache_bytes == 480
    assert one.bytes_per_token == decoding_bytes(960, 480) == 2400
    assert one.macs_per_token == 960 + 2 * 3 * 4 * 4 * 5 == 1440
    assert one.intensity == 0.6
    assert one.products == (pytest.approx(1920 / 1e6), 0)
    assert one.attention == (pytest.approx(480 / 1e6), 0)
    assert one.least_seconds == pytest.approx(2400 / 1e6)
    slow = decoding_step(model, 5, bandwidth=0.001, arithmetic=1e-7)
    assert slow.products.seconds == slow.products.arithmetic == pytest.approx(960 / 1e5)
    assert slow.attention.seconds == slow.attention.arithmetic == pytest.approx(480 / 1e5)
    assert slow.least_seconds == pytest.approx(1440 / 1e5)
    # Large batches: arithmetic limits the products, and the memory still limits the attention
    fast = decoding_step(model, 5, batch=4, bandwidth=0.001, arithmetic=1.5e-6)
    assert fast.products == pytest.approx((1920 / 1e6, 4 * 960 / 1.5e6))
    assert fast.attention == pytest.approx((4 * 480 / 1e6, 4 * 480 / 1.5e6))
    assert fast.least_seconds == pytest.approx(4 * 960 / 1.5e6 + 4 * 480 / 1e6)
    assert fast.bytes_per_token == (1920 + 4 * 480) / 4
    assert fast.intensity == 1.5


def test_a_model_of_unknown_size_is_estimated():
    model = Configuration("one", 2, 4, 4, 8, 10)
    assert decoding_step(model, 10).parameter_bytes == 2 * 2 * 12 * 32**2


def test_a_prompt_by_hand():
    # Width 8, two key-value heads of 4 in place of two query heads: here as many, and one layer
    model = Configuration("one", 1, 2, 2, 4, 5, parameters=1000, looked_up=40)
    plain = prefill(model, 5, hidden=10)
    assert plain.parameter_bytes == 1920
    assert plain.attention_macs == 2 * 2 * 5 * 5 * 4
    assert plain.macs == 5 * 960 + plain.attention_macs
    # Each of seven matrices reads its input and writes its output; the attention reads the query
    # and writes a vector of as many entries
    linear = 4 * (8 + 8) + 2 * (8 + 10) + (10 + 8)
    assert plain.activation_bytes == 5 * (linear + 2 * 8) * 2
    assert plain.kv_bytes == 5 * 2 * 8 * 2
    # Two heads; scores written and read, weights written and read
    assert plain.score_bytes == 2 * 5 * 5 * 4 * 2
    total = plain.parameter_bytes + plain.activation_bytes + plain.kv_bytes
    assert plain.intensity == plain.macs / (total + plain.score_bytes)
    # Five queries are three blocks of two: all keys and values are read three times
    blocks = prefill(model, 5, hidden=10, query_block=2)
    assert blocks == plain._replace(
        score_bytes=0,
        kv_bytes=3 * plain.kv_bytes,
        intensity=plain.macs / (total + 2 * plain.kv_bytes),
    )


def test_every_query_head_reads_the_keys_that_it_shares_again():
    model = Configuration("one", 3, 4, 2, 4, 5, parameters=1000)
    whole = prefill(model, 6, hidden=10, query_block=6)
    assert whole.kv_bytes == 2 * prefill(model, 6, hidden=10).kv_bytes
    assert prefill(model, 6, hidden=10, query_block=100) == whole
    with pytest.raises(ValueError, match="query_block must be"):
        prefill(model, 6, hidden=10, query_block=0)


def test_a_batch_of_prompts_reads_the_parameters_once():
    model = Configuration("one", 3, 4, 2, 4, 5, parameters=1000)
    one, four = (prefill(model, 6, hidden=10, batch=batch) for batch in (1, 4))
    assert four.parameter_bytes == one.parameter_bytes
    assert four.macs == 4 * one.macs
    assert four.activation_bytes == 4 * one.activation_bytes
    assert four.score_bytes == 4 * one.score_bytes
    assert four.intensity > one.intensity


def test_a_prompt_of_one_token_costs_the_operations_of_a_decoding_step():
    assert prefill(LLAMA2_70B, 1, hidden=28_672).macs == (
        decoding_step(LLAMA2_70B, 1).macs_per_token
    )
