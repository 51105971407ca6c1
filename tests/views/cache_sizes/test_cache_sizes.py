"""Cache sizes: the page's arithmetic beside the library's, its words, wrong arguments."""

import random

import pytest

from gates2heads.models.costs import (
    BITS,
    GPT2_XL,
    LLAMA2_70B,
    MISTRAL_7B,
    PUBLISHED,
    Configuration,
    decoding_step,
    kv_cache_bytes,
    read_parameters,
    stack_parameters,
)
from gates2heads.views import CacheSizes, ShowMe
from tests.javascript import LIBRARY, run_javascript

MODULES = {"sizes": LIBRARY / "views/cache_sizes/sizes.js"}
OURS = Configuration("ours", 4, 4, 2, 32, 256, parameters=1_200_000)


def in_node(body, given=None):
    return run_javascript(body, MODULES, given)


def setting(draw):
    """A setting of the view, with a divisor of the heads as key-value heads."""
    heads = draw.randint(1, 128)
    return {
        "layers": draw.randint(1, 128),
        "heads": heads,
        "kv_heads": draw.choice([one for one in range(1, heads + 1) if heads % one == 0]),
        "head_width": draw.randint(1, 256),
        "length": draw.choice([draw.randint(1, 5000), 2 ** draw.randint(0, 20)]),
        "window": draw.choice([0, draw.randint(1, 5000)]),
        "batch": 2 ** draw.randint(0, 10),
        "number_format": draw.choice(list(BITS)),
        "bandwidth": draw.uniform(1, 20_000),
        "arithmetic": 10 ** draw.uniform(-3, 4),
    }


def test_the_page_computes_what_the_library_does():
    draw = random.Random(12)
    settings = [setting(draw) for _ in range(600)]
    for one in settings[:200]:  # some of a known number of parameters
        one["parameters"] = draw.randint(0, 10**12)
        one["looked_up"] = draw.randint(0, one["parameters"])
    told = in_node(
        "return given.map((one) => {"
        " const stack = sizes.stackParameters(one);"
        " const found = { parameters: one.parameters ?? stack, lookedUp: one.looked_up ?? 0 };"
        " return { stack, one: sizes.bytesPerToken(one), ...sizes.decodingStep(one, found) }; });",
        settings,
    )
    for one, found in zip(settings, told, strict=True):
        sizes = [one[name] for name in ("layers", "heads", "kv_heads", "head_width")]
        model = Configuration(
            "",
            *sizes,
            one["length"],
            one["window"] or None,
            one.get("parameters"),
            one.get("looked_up", 0),
        )
        step = decoding_step(
            model,
            one["length"],
            batch=one["batch"],
            number_format=one["number_format"],
            bandwidth=one["bandwidth"],
            arithmetic=one["arithmetic"],
        )
        wanted = {
            "stack": stack_parameters(*sizes),
            "one": kv_cache_bytes(
                one["layers"],
                one["kv_heads"],
                one["head_width"],
                1,
                number_format=one["number_format"],
            ),
            "parameterBytes": step.parameter_bytes,
            "cacheBytes": step.cache_bytes,
            "bytesPerToken": step.bytes_per_token,
            "macsPerToken": step.macs_per_token,
            "intensity": step.intensity,
            "attentionMacs": step.macs_per_token - read_parameters(model),
            "leastSeconds": step.least_seconds,
        }
        for name in ("products", "attention"):
            time = getattr(step, name)
            told = found.pop(name)
            assert told == pytest.approx(time._asdict() | {"seconds": time.seconds}, rel=1e-12), one
        assert found == pytest.approx(wanted, rel=1e-12), one


def test_the_page_knows_the_same_formats():
    assert in_node("return sizes.BITS;") == BITS


def test_divisors_and_the_groups_within_them():
    told = in_node(
        "return given.map((heads) => [sizes.divisors(heads),"
        " Array.from({ length: heads + 3 }, (_, asked) => sizes.groupsWithin(heads, asked))]);",
        list(range(1, 129)),
    )
    for heads, (divisors, within) in enumerate(told, start=1):
        assert divisors == [one for one in range(1, heads + 1) if heads % one == 0]
        for asked, found in enumerate(within):
            assert found == max(one for one in divisors if one <= max(asked, 1))


def test_where_the_parameters_come_from():
    models = CacheSizes([*PUBLISHED, OURS]).models
    like = LLAMA2_70B._asdict()
    known, changed, unknown = in_node(
        "return given[1].map((one) => sizes.parametersOf(one, given[0]));",
        [models, [like, like | {"kv_heads": 64}, like | {"layers": 79}]],
    )
    assert (known["parameters"], known["origin"]) == (68_976_648_192, "known")
    # 80 layers, two matrices of 8,192 · 128 · 56 more
    assert changed["parameters"] == 68_976_648_192 + 80 * 2 * 8192 * 128 * 56
    assert (changed["origin"], changed["name"]) == ("changed", "Llama 2 70B")
    assert changed["lookedUp"] == LLAMA2_70B.looked_up
    assert unknown["parameters"] == stack_parameters(79, 64, 8, 128)
    assert (unknown["origin"], unknown["lookedUp"]) == ("estimate", 0)


def test_sizes_in_words():
    sizes = [0, 1, 2.5, 999, 999.5, 1000, 327_680, 1_342_177_280, 999.6e9, 1.23e15, 5e18]
    assert in_node("return given.map(sizes.sizeInWords);", sizes) == [
        *("0 bytes", "1 byte", "2.5 bytes", "999 bytes", "1 kB", "1 kB", "328 kB", "1.34 GB"),
        *("1 TB", "1.23 PB", "5,000 PB"),
    ]
    counts = [7, 12_345, 8_182_000_000, 68_976_648_192]
    told = in_node("return given.map(sizes.countInWords);", counts)
    assert told == ["7", "12.3 thousand", "8.18 billion", "69 billion"]
    times = [2e-9, 3.1e-5, 0.1477, 0.9999, 1.39, 1234]
    told = in_node("return given.map(sizes.timeInWords);", times)
    assert told == ["2 ns", "31 µs", "148 ms", "1,000 ms", "1.39 s", "1,234 s"]


def test_the_setting_in_words():
    like = LLAMA2_70B._asdict() | {"length": 4096, "batch": 1, "number_format": "bf16"}
    like["window"] = 0
    grouped, multi, single = in_node(
        "return given.map((one) => [sizes.cacheInWords(one), sizes.sharingInWords(one)]);",
        [like, like | {"kv_heads": 64}, like | {"kv_heads": 1, "window": 512, "batch": 3}],
    )
    assert grouped == [
        "KV cache: 2 · 80 layers · 8 key–value heads · width 128 · 4,096 positions · 1 sequence"
        " · 2 bytes = 1.34 GB, 328 kB per token of a sequence.",
        "8 query heads share one key–value head (grouped-query attention with 8 groups): the cache"
        " is 1/8 of that of multi-head attention.",
    ]
    assert multi[1] == "Every query head has its own key–value head: multi-head attention."
    assert "· 1 key–value head · width 128 · min(4,096; 512) positions · 3 seq" in single[0]
    assert single[1].startswith("64 query heads share one key–value head (multi-query attention)")


def test_the_axis_ends_at_powers_of_a_thousand_around_all_sizes():
    told = in_node(
        "return given.map((all) => { const { share, ticks } = sizes.axis(all);"
        " return [ticks.map(({ name }) => name), all.map(share)]; });",
        [[262_144, 138e9], [1e3, 1e6], [1e6], [5, 700], [3, 3.6e16]],
    )
    assert told[0] == [
        ["1 kB", "1 MB", "1 GB", "1 TB"],
        pytest.approx([0.26873, 0.90443], abs=1e-5),
    ]
    assert told[1] == [["1 kB", "1 MB"], pytest.approx([0, 1])]
    assert told[2][0] == ["1 MB", "1 GB"]
    assert told[3][0] == ["1 byte", "1 kB"]
    assert told[4][0] == ["1 byte", "1 kB", "1 MB", "1 GB", "1 TB", "1 PB", "1 EB"]
    assert all(0 <= one <= 1 + 1e-9 for _, shares in told for one in shares)


def test_what_the_page_gets():
    view = CacheSizes([*PUBLISHED, OURS], start=1, title="T", number_format="int8", bandwidth=3350)
    assert (view.layers, view.heads, view.kv_heads, view.head_width) == (32, 32, 8, 128)
    assert (view.length, view.window, view.batch) == (8192, 4096, 1)
    assert (view.number_format, view.bandwidth, view.title) == ("int8", 3350.0, "T")
    assert view.models[0]["window"] == 0
    assert view.models[2] == LLAMA2_70B._asdict() | {"window": 0}
    assert repr(view) == "CacheSizes(GPT-2 XL, Mistral 7B, Llama 2 70B, ours)"


def test_a_page_that_asks_for_too_much_is_moved_into_bounds():
    view = CacheSizes([LLAMA2_70B])
    view.set_state({"layers": 9999, "length": 0, "window": -3, "bandwidth": 1e9, "batch": 2.5})
    assert (view.layers, view.length, view.window, view.batch) == (128, 1, 0, 2)
    assert view.bandwidth == 20_000.0
    view.set_state({"kv_heads": 63})
    assert view.kv_heads == 32
    view.set_state({"heads": 24})
    assert (view.heads, view.kv_heads) == (24, 24)
    view.set_state({"heads": 25, "kv_heads": 6})
    assert (view.heads, view.kv_heads) == (25, 5)
    with pytest.raises(TypeError, match="sync_data must"):
        view.set_state({"heads": "x"})
    with pytest.raises(ValueError, match="number_format must"):
        view.set_state({"number_format": "int3"})


def test_python_is_told_what_does_not_fit():
    view = CacheSizes([LLAMA2_70B])
    with pytest.raises(ValueError, match="kv_heads must"):
        view.kv_heads = 7
    with pytest.raises(ValueError, match="heads must"):
        view.heads = 25
    with pytest.raises(ValueError, match="layers must"):
        view.layers = 0
    with view.hold_trait_notifications():
        view.heads, view.kv_heads = 25, 5
    assert (view.heads, view.kv_heads) == (25, 5)


@pytest.mark.parametrize(
    ("changes", "kind", "message"),
    [
        ({"models": [OURS._replace(kv_heads=3)]}, ValueError, "kv_heads must"),
        ({"models": [OURS._replace(layers=129)]}, ValueError, "layers must"),
        ({"models": [OURS._replace(window=0)]}, ValueError, r"models\[0\].window must"),
        ({"models": [OURS._replace(looked_up=2 * 10**6)]}, ValueError, "looked_up must"),
        ({"models": [OURS._replace(parameters="7B")]}, TypeError, "parameters must"),
        ({"models": [OURS._replace(name=" ")]}, ValueError, "name must"),
        ({"start": 1}, ValueError, "start must"),
        ({"batch": 4096}, ValueError, "batch must"),
        ({"bandwidth": 0.5}, ValueError, "bandwidth must"),
        ({"arithmetic": 0.0001}, ValueError, "arithmetic must"),
        ({"show_me": [ShowMe("a", "b", {"colour": 1})]}, ValueError, "must set traits of Cache"),
    ],
)
def test_wrong_arguments_get_a_sentence(changes, kind, message):
    given = {"models": [OURS], **changes}
    with pytest.raises(kind, match=message):
        CacheSizes(given.pop("models"), **given)


def test_published_models_fit_into_the_view():
    view = CacheSizes([GPT2_XL, LLAMA2_70B, MISTRAL_7B])
    assert [one["source"] for one in view.models] == [
        *("Radford et al. 2019", "Touvron et al. 2023b", "Jiang et al. 2023")
    ]
