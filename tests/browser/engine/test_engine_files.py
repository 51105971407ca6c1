"""The engine's files: short, joined into one text they do the same, and no two names collide."""

import json
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

import gates2heads.browser.engine
from gates2heads.browser.modules import join_modules
from tests.browser.engine.in_node import NODE, entry_of

ROOT = Path(gates2heads.browser.engine.__file__).parent
FILES = sorted(ROOT.rglob("*.js"))
TOP = re.compile(r"^(?:export )?(?:async )?(?:function\*?|class|const) ([\w$]+)", re.M)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_module_can_be_read(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 250
    assert max(map(len, lines)) <= 120
    assert lines[0].startswith("// ")


def test_no_two_names_collide():
    found = Counter(
        name for path in FILES for name in TOP.findall(path.read_text(encoding="utf-8"))
    )
    assert len(found) > 100
    assert [name for name, times in found.items() if times > 1] == []


def test_nothing_depends_on_where_it_runs():
    for path in FILES:
        code = re.sub(r"//.*|/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
        code = "\n".join(re.sub(r"//.*", "", line) for line in code.splitlines())
        assert not re.search(r"\b(document|window|process|require|fetch|self)\b[.(]", code), path


def test_every_file_is_reached_from_the_entry():
    joined = join_modules(ROOT / "engine.js")
    assert [
        path for path in FILES if path.read_text(encoding="utf-8").splitlines()[0] not in joined
    ] == []


def test_joined_it_does_the_same(node, translator, exported, tmp_path):
    text = "Ein Hund läuft durch den Schnee."
    (expected,) = node.one("translate", key=translator, texts=[text], options={"width": 1})
    joined, entry = tmp_path / "joined.mjs", tmp_path / "entry.json"
    entry.write_text(json.dumps(entry_of(exported)))
    joined.write_text(
        f"{join_modules(ROOT / 'engine.js')}\n"
        f'import {{ readFileSync }} from "node:fs";\n'
        f"const loaded = loadModel(JSON.parse(readFileSync({json.dumps(str(entry))})));\n"
        f"const found = await engine.translate(loaded, {json.dumps(text)}, {{ width: 1 }});\n"
        "console.log(JSON.stringify(found.tokens));\n",
        encoding="utf-8",
    )
    done = subprocess.run([NODE, joined], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == expected["tokens"]
