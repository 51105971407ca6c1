"""JSON of others: read as it stands, or refused in one sentence, however deep it goes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gates2heads.training.plain_json import DEEPEST, read_json

leaves = st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False)
values = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


@given(values)
def test_plain_values_come_back(value):
    assert read_json(json.dumps(value), what="it must") == value


@pytest.mark.parametrize("opened", ["[", '{"a":'])
@pytest.mark.parametrize("depth", [DEEPEST + 1, 900, 20_000])
def test_what_is_nested_too_deeply_is_refused(opened, depth):
    closed = {"[": "]", '{"a":': "}"}[opened]
    text = opened * depth + "1" + closed * depth
    with pytest.raises(ValueError, match=r"^it must"):
        read_json(text, what="it must")
    least = opened * DEEPEST + "1" + closed * DEEPEST
    assert json.dumps(read_json(least, what="")).replace(" ", "") == least


@pytest.mark.parametrize("text", ["", "{", b"\xff\xfe\xff", "9" * 5_000])
def test_no_json_is_refused_in_one_line(text):
    with pytest.raises(ValueError, match=r"^it must") as refused:
        read_json(text, what="it must")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', '[{"b": {"c": 1, "a": 2, "a": 3}}]'])
def test_a_name_that_stands_twice_is_refused(text):
    with pytest.raises(ValueError, match=r"^it must"):
        read_json(text, what="it must")
    assert read_json('{"a": {"a": 1}, "b": [{"a": 2}]}', what="") == {
        "a": {"a": 1},
        "b": [{"a": 2}],
    }
