"""Grouped-query attention: as multi-head attention where it is that, and its cache."""

import pytest
import torch

from gates2heads.layers.attention.grouped_query import GroupedQueryAttention
from gates2heads.layers.attention.heads import scaled_dot
from gates2heads.layers.attention.key_values import KeyValues
from gates2heads.layers.attention.multi_head import MultiHeadAttention
from gates2heads.layers.masks import prefix_mask
from gates2heads.layers.record import record

D, H, T = 24, 4, 9


def made(**how):
    torch.manual_seed(1)
    return GroupedQueryAttention(D, H, **how).double()


def inputs(rows=2, length=T):
    return torch.randn(rows, length, D, generator=torch.Generator().manual_seed(2)).double()


@pytest.mark.parametrize("rotary", [False, True])
def test_with_a_group_for_each_head_it_is_multi_head_attention(rotary):
    layer, twin = made(rotary=rotary), MultiHeadAttention(D, H, rotary=rotary).double()
    projections = (layer.q_proj, layer.k_proj, layer.v_proj)
    twin.load_state_dict(
        {
            "in_proj_weight": torch.cat([one.weight for one in projections]),
            "in_proj_bias": torch.cat([one.bias for one in projections]),
            "out_proj.weight": layer.out_proj.weight,
            "out_proj.bias": layer.out_proj.bias,
        }
    )
    torch.testing.assert_close(layer(inputs()), twin(inputs(), causal=True))


@pytest.mark.parametrize("groups", [1, 2])
def test_the_heads_of_a_group_read_the_same_keys_and_values(groups):
    layer, x = made(num_key_value_heads=groups), inputs()
    width = D // H
    queries = layer.q_proj(x).view(2, T, H, width)
    keys, values = (one(x).view(2, T, groups, width) for one in (layer.k_proj, layer.v_proj))
    heads = []
    for head in range(H):
        group = head // (H // groups)
        mask = torch.ones(T, T, dtype=torch.bool).tril()
        context, _ = scaled_dot(
            queries[:, :, head], keys[:, :, group], values[:, :, group], mask=mask
        )
        heads.append(context)
    torch.testing.assert_close(layer(x), layer.out_proj(torch.cat(heads, dim=-1)))
    assert layer.k_proj.weight.shape == (groups * width, D)


@pytest.mark.parametrize("window", [1, 3, 20])
def test_a_window_ends_what_a_query_sees(window):
    layer, x = made(window=window), inputs(1)
    with record(layer) as trace:
        layer(x)
    weights = trace[""]["weights"][0]  # (1, H, T, T)
    distance = torch.arange(T)[:, None] - torch.arange(T)
    assert torch.equal(weights[0, 0] > 0, (distance >= 0) & (distance < window))


@pytest.mark.parametrize("window", [None, 1, 3])
@pytest.mark.parametrize("cut", [[T], [1] * T, [4, 1, 4]])
def test_reading_in_steps_gives_the_same(window, cut):
    layer, x = made(rotary=True, num_key_value_heads=2, window=window), inputs()
    past, start, found = None, 0, []
    for part in x.split(cut, dim=1):
        output, past = layer.extend(part, past, start=start)
        found.append(output)
        start += part.shape[1]
    torch.testing.assert_close(torch.cat(found, dim=1), layer(x))
    assert past.keys.shape == (2, 2, T if window is None else window - 1, D // H)


def test_a_mask_takes_the_place_of_the_causal_one():
    layer, x = made(), inputs()
    longer = x.clone()
    longer[:, 2] += 1  # inside the prefix of 4 tokens
    mask = prefix_mask(torch.tensor([4, 4]), T)
    changed = (layer(x, mask=mask) != layer(longer, mask=mask)).any(dim=-1)
    assert changed.all()
    assert not (layer(x) != layer(longer))[:, :2].any()


@pytest.mark.parametrize(
    ("how", "name"),
    [
        ({"num_key_value_heads": 3}, "num_key_value_heads"),
        ({"num_heads": 5}, "num_heads"),
        ({"num_heads": 8, "rotary": True}, "rotary"),
    ],
)
def test_what_does_not_fit_is_refused(how, name):
    with pytest.raises(ValueError, match=f"^{name} "):
        GroupedQueryAttention(D, **{"num_heads": H, **how})


def test_a_cache_of_other_heads_is_refused():
    wrong = KeyValues(*(torch.zeros(2, H, 3, D // H).double() for _ in range(2)))
    with pytest.raises(ValueError, match=r"^past "):
        made(num_key_value_heads=2).extend(inputs(), wrong, start=3)
