"""Sequences with repeated passages, their scores, and the circuits of models."""

from itertools import pairwise

import pytest
import torch

from gates2heads.book.ch13.induction import (
    changed_accuracy,
    composition,
    copying,
    head_scores,
    induction_model,
    plain_loss,
    scores,
    scores_without,
    train_induction,
)
from gates2heads.book.ch13.repeats import (
    FIRST_WORD,
    HELD_OUT,
    KINDS,
    LENGTH,
    LONGEST,
    OFFSETS,
    SHORTEST,
    SUCCESSORS,
    WORDS,
    held_out,
    random_twice,
    repeats,
    successors,
    word_tokenizer,
)
from gates2heads.browser.engine.rebuild import shipped
from gates2heads.layers.attention.heads_off import heads_of
from gates2heads.models.language.attention_only import AttentionOnly


def sampled(**how):
    return next(repeats(200, seed=3, **how))


def test_the_vocabulary_is_a_hundred_words_after_the_special_tokens():
    assert len(WORDS) == len(set(WORDS)) == len({word.lower() for word in WORDS}) == 100
    assert word_tokenizer().vocabulary.tokens[FIRST_WORD:] == list(WORDS)
    assert word_tokenizer().encode("moon Anna", eos=False) == [
        FIRST_WORD + WORDS.index("moon"),
        FIRST_WORD,
    ]


def test_every_word_has_as_many_predecessors_as_successors():
    for column in successors().T:
        assert column.sort().values.tolist() == list(range(100))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("offsets", OFFSETS)
def test_the_passage_is_repeated_where_it_is_said(kind, offsets):
    found = sampled(kind=kind, offsets=offsets)
    assert found.tokens.shape == (200, LENGTH + 1)
    assert (found.tokens[:, 0] == 1).all()
    assert found.tokens[:, 1:].min() >= FIRST_WORD
    assert found.tokens.max() < FIRST_WORD + 100
    for row, begin, length, offset in zip(*found, strict=True):
        passage = row[begin : begin + length]
        assert passage.tolist() == row[begin - offset : begin - offset + length].tolist()
        assert SHORTEST <= length <= LONGEST
        assert length <= offset < begin
        assert (int(offset) in HELD_OUT) == (offsets == "held")
        if kind == "random":
            others = [*row[1:begin].tolist(), *row[begin + length :].tolist()]
            assert len(set(others)) == len(others)


def test_queries_are_the_positions_before_the_repeated_tokens_but_the_first():
    found = sampled()
    for row, (begin, length) in enumerate(zip(found.begin, found.length, strict=True)):
        wanted = list(range(int(begin), int(begin + length) - 1))
        assert found.queries[row].nonzero().flatten().tolist() == wanted


def test_offsets_and_lengths_vary():
    found = sampled()
    assert len(found.offset.unique()) > 30
    assert len(found.length.unique()) == LONGEST - SHORTEST + 1
    usual = {int(offset) for offset in sampled(times=3).offset}
    assert not usual & set(HELD_OUT)


def test_words_follow_each_other_as_the_chain_says():
    tokens = torch.cat([sampled(times=0).tokens, next(repeats(800, times=0, seed=5)).tokens])
    words, following = tokens[:, 1:] - FIRST_WORD, successors()
    now, after = words[:, :-1].flatten(), words[:, 1:].flatten()
    rest = (1 - sum(SUCCESSORS)) / 100
    for column, probability in zip(following.T, SUCCESSORS, strict=True):
        share = (column[now] == after).double().mean().item()
        assert share == pytest.approx(probability + rest, abs=0.01)


def test_a_seed_gives_the_same_batches_and_another_seed_others():
    first, again, other = (repeats(4, seed=seed) for seed in (1, 1, 2))
    for _ in range(3):
        tokens = next(first).tokens
        assert torch.equal(tokens, next(again).tokens)
        assert not torch.equal(tokens, next(other).tokens)


def test_random_tokens_twice():
    found = random_twice(5, 7, 30, seed=0)
    assert found.tokens.shape == (5, 15)
    assert torch.equal(found.tokens[:, 1:8], found.tokens[:, 8:])
    assert all(len(set(row.tolist())) == 7 for row in found.tokens[:, 1:8])
    assert found.tokens[:, 1:].min() >= 3
    assert found.queries.sum(dim=1).tolist() == [6] * 5
    with pytest.raises(ValueError, match="length must"):
        random_twice(5, 28, 30, seed=0)


def by_hand():
    """Two layers of one head: the first moves the previous word, the second matches and copies."""
    words, length = 5, 9
    size = FIRST_WORD + words
    width = 2 * size + length  # words, moved words, positions
    model = AttentionOnly(size, d_model=width, nhead=1, num_layers=2, max_length=length).eval()
    word, moved, place = (
        slice(0, size),
        slice(size, 2 * size),
        slice(2 * size, width),
    )
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        model.token_table.weight[:, word] = torch.eye(size)
        model.position_table.weight[:, place] = torch.eye(length)
        first, second = model.layers
        first.q_proj.weight[:length, place] = 300 * torch.eye(length)
        first.k_proj.weight[1:length, place] = torch.eye(length)[: length - 1]
        first.v_proj.weight[word, word] = torch.eye(size)
        first.out_proj.weight[moved, word] = torch.eye(size)
        second.q_proj.weight[word, word] = 300 * torch.eye(size)
        second.k_proj.weight[word, moved] = torch.eye(size)
        second.v_proj.weight[word, word] = torch.eye(size)
        second.out_proj.weight[word, word] = torch.eye(size)
        model.output.weight[:, word] = 20 * torch.eye(size)
    return model


def test_the_scores_of_a_model_that_was_built_by_hand():
    model, found = by_hand(), random_twice(6, 4, 8, seed=2)
    found.tokens[:, 1:] += 1  # random tokens begin at 3, and the words at 4
    told = head_scores(model, found)
    assert told.heads == [("layers.0", 0), ("layers.1", 0)]
    assert told.previous[0] == pytest.approx(1, abs=1e-6)
    assert told.prefix_matching[1] > 0.8
    assert told.best("previous") == ("layers.0", 0)
    assert told.best("prefix_matching") == ("layers.1", 0)


def test_the_circuits_of_a_model_that_was_built_by_hand():
    model = by_hand()
    first, second = heads_of(model)
    assert copying(model, [second]) == (1, pytest.approx(1))
    assert copying(model, [first]).largest < 1  # it writes where the output does not read
    assert composition(model, second, [first]) == 1
    with torch.no_grad():
        model.layers[1].v_proj.weight.neg_()
    assert copying(model, [second]).eigenvalues == pytest.approx(-1)


def test_losses_are_split_at_the_repeat():
    torch.manual_seed(0)
    model, found = induction_model(1).eval(), sampled()
    with torch.no_grad():
        log_probs = model.logits(found.tokens[:, :-1]).log_softmax(-1)
    inside, outside, right = [], [], []
    for row, (tokens, begin, length, _) in enumerate(zip(*found, strict=True)):
        for position, (_, wanted) in enumerate(pairwise(tokens.tolist())):
            nats = -log_probs[row, position, wanted].item()
            repeated = begin <= position < begin + length - 1
            (inside if repeated else outside).append(nats)
            if repeated:
                right.append(log_probs[row, position].argmax().item() == wanted)
    told = scores(model, found)
    assert told.repeat == pytest.approx(sum(inside) / len(inside), abs=1e-4)
    assert told.first == pytest.approx(sum(outside) / len(outside), abs=1e-4)
    assert told.accuracy == pytest.approx(sum(right) / len(right), abs=1e-9)
    assert scores_without(model, found, []) == told
    assert scores_without(model, found, heads_of(model)).repeat != told.repeat


def test_tests_differ_from_training_and_from_each_other():
    random, held = held_out("random", size=20), held_out("random", "held", size=20)
    assert not set(held.offset.tolist()) - set(HELD_OUT)
    assert not set(random.offset.tolist()) & set(HELD_OUT)
    assert held_out("random", size=20) is random
    torch.manual_seed(1)
    assert 4 < plain_loss(induction_model(1).eval()) < 6


def test_a_short_training_lowers_the_loss_and_repeats_itself():
    models = []
    for _ in range(2):
        model, history = train_induction(1, 5, steps=12, progress=False)
        assert sum(history.loss[-3:]) < sum(history.loss[:3])
        assert not model.training
        models.append(model.state_dict())
    assert all(torch.equal(models[0][name], models[1][name]) for name in models[0])


def test_unchanged_heads_predict_as_the_model_does():
    model, found = induction_model(2), sampled()
    torch.nn.init.normal_(model.output.weight)  # so that the predictions differ
    right = model.logits(found.tokens[:, :-1]).argmax(-1) == found.tokens[:, 1:]
    assert torch.equal(changed_accuracy(model, found), right[found.queries].double())


def test_a_head_whose_output_is_zero_is_switched_off():
    model, found = shipped("induction_two").model, sampled(kind="random")
    for off in heads_of(model)[::3]:
        zero = changed_accuracy(
            model, found, output=lambda head, output, off=off: output * (head != off)
        )
        assert zero.mean().item() == pytest.approx(scores_without(model, found, [off]).accuracy)


def test_weights_of_a_head_can_be_replaced():
    model, found = shipped("induction_two").model, sampled(kind="random")
    uniform = changed_accuracy(
        model,
        found,
        weights=lambda head, weights: (weights > 0) / (weights > 0).sum(-1, keepdim=True),
    )
    assert uniform.mean() < 0.1 < changed_accuracy(model, found).mean()
