"""The file between library and engine: whole or refused, in the forms in which it travels."""

import hashlib
import json
import random
import re
import subprocess
from itertools import pairwise

import pytest
import torch
from torch import nn

from gates2heads.__main__ import main
from gates2heads.browser.engine.describe import describe_model, describe_tokenizer
from gates2heads.browser.engine.export import Exported, export_model, pack
from gates2heads.browser.engine.rebuild import rebuild
from gates2heads.data.tokens.characters import CharacterTokenizer
from gates2heads.decoding.translation import translate
from gates2heads.models.language.decoder_only import LLAMA, DecoderOnly
from gates2heads.models.transformer.transformer import Transformer
from gates2heads.training.checkpoints import shipped_weights
from gates2heads.training.quantisation import quantise
from tests.browser.engine.in_node import NODE, EngineError, entry_of

SIDE = CharacterTokenizer.from_texts(["abc"])


def small_model():
    sizes = {"d_model": 6, "nhead": 3, "dim_feedforward": 5, "num_encoder_layers": 1}
    return Transformer(6, 6, **sizes, num_decoder_layers=1, max_length=11)


@pytest.fixture(scope="module")
def whole():
    return export_model(small_model(), name="small", source=SIDE, target=SIDE, card={"seed": 3})


def test_the_hash_is_that_of_others(node):
    draw = random.Random(0)
    texts = ["", "abc", "a" * 55, "a" * 56, "a" * 63, "a" * 64, "a" * 65, "é😀" * 333]
    texts += [
        "".join(chr(draw.randrange(1, 0x2000)) for _ in range(length)) for length in range(200)
    ]
    assert node.one("hash", texts=texts) == [
        hashlib.sha256(text.encode()).hexdigest() for text in texts
    ]


def test_the_hash_may_come_in_parts(node):
    draw = random.Random(1)
    text = "".join(draw.choices("0123456789", k=1999))
    cuts = [0, *sorted(draw.choices(range(2000), k=31)), 1999]
    parts = list(pairwise(cuts))
    assert (
        node.one("hashInParts", text=text, parts=parts) == hashlib.sha256(text.encode()).hexdigest()
    )


def test_a_whole_file_is_read(node, whole):
    told = node.one("load", key="small", entry=entry_of(whole))
    assert told["name"] == "small"
    assert told["card"] == {"seed": 3}
    assert told["decoding"] == {"width": 1, "length_power": 1.0, "max_length": 128}
    assert node.one("asBinary", entry=entry_of(whole)) == ["small"] * 3


def test_what_is_not_whole_is_refused_in_one_sentence(node, whole):
    good = entry_of(whole)
    data = good["data"]
    altered = data[:40] + ("A" if data[40] != "A" else "B") + data[41:]
    header = good["header"].replace('"max_length":11', '"max_length":12')
    assert header != good["header"]
    faults = [{"data": altered}, {"data": data[:-8]}, {"header": header}, {"sha256": "0" * 64}]
    # All digits count, the last as much as the first.
    last = "0" if good["sha256"][-1] != "0" else "1"
    faults += [{"sha256": good["sha256"][:-1] + last}, {"sha256": good["sha256"][:8]}]
    answers = node.ask(
        [{"op": "load", "key": "bad", "entry": {**good, **fault}} for fault in faults]
    )
    changed = (
        "The model's file was altered or is not whole: its hash differs from the one inside it."
    )
    assert [str(answer) for answer in answers] == [changed] * 6
    rest = [{"data": "%%%"}, {"data": 7}, {"header": 7}]
    answers = node.ask([{"op": "load", "key": "bad", "entry": {**good, **fault}} for fault in rest])
    assert all(isinstance(answer, EngineError) for answer in answers)
    assert str(answers[0]).startswith("The model's file is not whole: ")
    assert (
        str(answers[1])
        == "The model's file is not whole: data must be base64 text or bytes, got number."
    )
    assert (
        str(answers[2]) == "entry must hold a header, a sha256 and data, as an exported model does"
    )


def test_an_unknown_model_format_or_tensor_is_refused(node, whole):
    def entry(**changes):
        header = json.dumps({**json.loads(whole.header), **changes})
        return entry_of(Exported("small", header, whole.data))

    kinds = {**json.loads(whole.header)["model"], "kind": "constructor"}
    tensors = json.loads(whole.header)["tensors"]
    faults = [entry(model=kinds), entry(format=3), entry(tensors=tensors[1:])]
    faults += [entry(source={"kind": "toString"})]
    answers = node.ask([{"op": "load", "key": "bad", "entry": fault} for fault in faults])
    assert str(answers[0]).startswith("The model's kind must be one of ")
    assert str(answers[1]) == "The model's file has format 3, this engine reads format 2."
    assert str(answers[2]) == f"The model's file lacks {tensors[0]['name']}."
    assert str(answers[3]).startswith("The tokenizer's kind must be one of ")


def test_the_script_registers_what_it_holds(tmp_path, whole):
    nasty = Exported('<!--<script></script>"\u2028', whole.header, whole.data)
    assert nasty.script().isascii()
    assert "<" not in nasty.script()  # `</script>` ends a script, `<!--<script>` hides its end
    file = tmp_path / "two.cjs"
    show = "for (const pair of Object.entries(gates2heads_live)) console.log(JSON.stringify(pair));"
    file.write_text(nasty.script() + whole.script() + show)
    done = subprocess.run(
        [NODE, file], capture_output=True, text=True, encoding="utf-8", check=True
    )
    entries = dict(json.loads(line) for line in done.stdout.strip().split("\n"))
    assert entries == {nasty.name: entry_of(nasty), "small": entry_of(whole)}


def test_small_matrices_travel_as_they_are():
    tensors = {"w": torch.randn(3, 5), "b": torch.randn(7)}
    packed = quantise(tensors)
    listed, data = pack(packed)
    assert [one["name"] for one in listed] == ["b", "w"]
    places = {one["name"]: one for one in listed}
    assert places["w"]["dtype"] == "int8"
    assert places["b"]["offset"] % 4 == places["w"]["scale"] % 4 == 0
    start = places["w"]["offset"]
    assert data[start : start + 15] == packed["w"].numpy().tobytes()
    start = places["w"]["scale"]
    assert data[start : start + 12] == packed["w/scale"].numpy().tobytes()


@pytest.mark.parametrize(
    ("tensors", "sentence"),
    [
        (
            {"w": torch.zeros(2, 3).double()},
            "w must",
        ),
        (
            {"w": torch.zeros(2, 3).to(torch.int8)},
            "w must",
        ),
    ],
)
def test_tensors_that_no_page_reads_are_refused(tensors, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        pack(tensors)


def test_what_has_no_twin_is_refused():
    with pytest.raises(TypeError, match="model must"):
        describe_model(nn.Linear(2, 3))
    with pytest.raises(TypeError, match=r"the engine supports CharacterTokenizer, .*, got str"):
        describe_tokenizer("abc")
    with pytest.raises(TypeError, match="card and words must hold what JSON can hold"):
        export_model(small_model(), name="x", card={"seed": object()})


@pytest.mark.parametrize("setting", [{"rotary_base": 500.0}, {"eps": 1e-3}])
def test_a_setting_that_the_engine_lacks_is_rejected(setting):
    with pytest.raises(ValueError, match=rf"^model must have {next(iter(setting))}="):
        describe_model(DecoderOnly(9, d_model=6, nhead=3, **LLAMA, **setting))
    described = describe_model(DecoderOnly(9, d_model=6, nhead=3, **LLAMA))
    assert not setting.keys() & described["settings"].keys()


def test_the_command_line_writes_the_file(tmp_path, capsys, exported):
    output = tmp_path / "translator.js"
    assert main(["export", str(shipped_weights("translator")), str(output)]) == 0
    assert exported.sha256 in capsys.readouterr().out
    assert output.read_text() == exported.script()


def test_the_small_models_of_the_book_are_rebuilt_and_write_dates(node, tmp_path):
    text = "Mar 5, 2021"
    for path in sorted(shipped_weights("translator").parent.glob("[bl]*.safetensors")):
        output = tmp_path / f"{path.stem}.js"
        assert main(["export", str(path), str(output)]) == 0
        entry = json.loads(output.read_text().partition(" = ")[2].rstrip(";\n"))
        node.one("load", key=path.stem, entry=entry)
        rebuilt = rebuild(path)
        (found,) = node.one("translate", key=path.stem, texts=[text], options={})
        sides, longest = (rebuilt.source, rebuilt.target), rebuilt.decoding["max_length"]
        assert [found["text"]] == translate(rebuilt.model, [text], *sides, max_length=longest)
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", found["text"])


def test_the_command_line_refuses_what_is_no_model(tmp_path, capsys):
    (tmp_path / "x").write_text("nothing")
    assert main(["export", str(tmp_path / "x"), str(tmp_path / "y.js")]) == 2
    assert "is truncated or is not a safetensors file" in capsys.readouterr().err
    assert not (tmp_path / "y.js").exists()
