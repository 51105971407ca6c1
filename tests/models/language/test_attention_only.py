"""A language model of attention alone: its logits are the sum of the direct path and all heads."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.decoding.beam import beam
from gates2heads.layers.attention.heads_off import heads_of, heads_off
from gates2heads.layers.positions import sinusoids
from gates2heads.layers.record import record
from gates2heads.models.language.attention_only import AttentionOnly

V, D, H, LENGTH = 29, 15, 3, 11
K = D // H


def made(num_layers=2):
    torch.manual_seed(4)
    model = AttentionOnly(V, d_model=D, nhead=H, num_layers=num_layers, max_length=LENGTH)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.5)
    return model.double().eval()


def some_tokens(rows=3, length=LENGTH):
    return torch.randint(3, V, (rows, length), generator=torch.Generator().manual_seed(5))


def test_logits_are_the_direct_path_and_the_heads_of_both_layers():
    model, tokens = made(), some_tokens()
    with torch.no_grad():
        wanted = model.logits(tokens)
        table, output = model.token_table.weight, model.output.weight
        embedded = table[tokens] + model.position_table.weight
        terms = [torch.einsum("btd,vd->btv", embedded, output)]
        vectors = embedded
        for layer in model.layers:
            outputs = []
            for head in range(H):
                rows = slice(head * K, (head + 1) * K)
                queries, keys, values = (
                    torch.einsum("btd,kd->btk", vectors, projection.weight[rows])
                    for projection in (layer.q_proj, layer.k_proj, layer.v_proj)
                )
                scores = torch.einsum("btk,bsk->bts", queries, keys) / K**0.5
                later = torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1)
                weights = scores.masked_fill(later, -torch.inf).softmax(dim=-1)
                read = torch.einsum("bts,bsk->btk", weights, values)
                outputs.append(torch.einsum("btk,dk->btd", read, layer.out_proj.weight[:, rows]))
            terms += [torch.einsum("btd,vd->btv", one, output) for one in outputs]
            vectors = vectors + sum(outputs)
        close = {"rtol": 0, "atol": 1e-5}
        torch.testing.assert_close(sum(terms), wanted, **close)
        torch.testing.assert_close(model.terms(tokens), torch.stack(terms), **close)


def test_the_last_layers_heads_are_switched_off_by_leaving_out_their_terms():
    model, tokens = made(), some_tokens()
    heads = heads_of(model)
    assert heads == [(f"layers.{layer}", head) for layer in range(2) for head in range(H)]
    with torch.no_grad():
        whole, terms = model.logits(tokens), model.terms(tokens)
        for number, head in enumerate(heads[H:], start=1 + H):
            with heads_off(model, [head]):
                left, others = model.logits(tokens), model.terms(tokens)
            torch.testing.assert_close(left, whole - terms[number], rtol=0, atol=1e-9)
            torch.testing.assert_close(others, terms, rtol=0, atol=1e-9)  # as it would have been
        with heads_off(model, heads):
            direct = model.logits(tokens)
        torch.testing.assert_close(direct, terms[0], rtol=0, atol=1e-9)


def test_a_head_of_the_first_layer_changes_what_the_second_reads():
    model, tokens = made(), some_tokens()
    with torch.no_grad(), record(model) as usual:
        model.logits(tokens)
    with torch.no_grad(), record(model) as without, heads_off(model, heads_of(model)[:1]):
        model.logits(tokens)
    first, second = (
        [trace[f"layers.{n}"]["weights"][0] for n in range(2)] for trace in (usual, without)
    )
    torch.testing.assert_close(first[0], second[0])
    assert (first[1] - second[1]).abs().max() > 1e-3


def test_matrices_of_a_head_give_its_scores_and_its_output():
    model, tokens = made(1), some_tokens()
    with torch.no_grad(), record(model) as trace:
        model.logits(tokens)
    with torch.no_grad():
        vectors = model.token_table.weight[tokens] + model.position_table.weight
        weights = trace["layers.0"]["weights"][0]
        for head in range(H):
            scores = vectors @ model.qk_matrix(0, head) @ vectors.transpose(1, 2)
            later = torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1)
            found = scores.masked_fill(later, -torch.inf).softmax(dim=-1)
            torch.testing.assert_close(found, weights[:, head])
            term = weights[:, head] @ vectors @ model.ov_matrix(0, head) @ model.output.weight.T
            torch.testing.assert_close(term, model.terms(tokens)[1 + head])


@given(position=st.integers(0, LENGTH - 2), token=st.integers(0, V - 1))
def test_logits_do_not_depend_on_later_tokens(position, token):
    model, tokens = made(), some_tokens()
    changed = tokens.clone()
    changed[:, position + 1] = token
    with torch.no_grad():
        before, after = (model.logits(some)[:, : position + 1] for some in (tokens, changed))
    torch.testing.assert_close(before, after, rtol=0, atol=0)


def test_step_by_step_it_says_the_same():
    model, tokens = made(), some_tokens()
    with torch.no_grad():
        wanted = model.logits(tokens).log_softmax(dim=-1)
        state = model.start(len(tokens))
        for position in range(LENGTH):
            found, state = model.step(state, tokens[:, position])
            torch.testing.assert_close(found, wanted[:, position])
        with pytest.raises(ValueError, match="within 11 tokens, got position 11"):
            model.step(state, tokens[:, 0])


def test_a_search_can_use_it():
    model = made()
    with torch.no_grad():
        found = beam(model.step, model.start(1), bos=1, eos=2, width=2, max_length=5)
    assert found


def test_positions_begin_as_sinusoids_and_nothing_has_a_bias_or_a_norm():
    torch.manual_seed(0)
    model = AttentionOnly(V, d_model=D + 1, nhead=2, num_layers=2, max_length=LENGTH)
    wanted = sinusoids(torch.arange(LENGTH), D + 1)
    torch.testing.assert_close(model.position_table.weight.detach(), wanted)
    assert all(parameter.dim() == 2 for parameter in model.parameters())


@pytest.mark.parametrize(
    ("layer", "head", "message"),
    [
        (2, 0, "layer must"),
        (0, 3, "head must"),
    ],
)
def test_a_head_that_is_not_there_is_rejected(layer, head, message):
    for matrix in (made().ov_matrix, made().qk_matrix):
        with pytest.raises(ValueError, match=message):
            matrix(layer, head)


def test_what_is_too_long_is_rejected():
    for method in (made().logits, made().terms):
        with pytest.raises(ValueError, match="at most 11"):
            method(some_tokens(length=LENGTH + 1))
