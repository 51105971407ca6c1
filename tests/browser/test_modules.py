"""Modules joined into one text do in Node what they do apart, and say what cannot be joined."""

from pathlib import Path

import pytest

from gates2heads.browser.modules import join_modules
from tests.javascript import LIBRARY, run_javascript

# A diamond: both neighbours have a private SCALE of their own and share one counter.
DIAMOND = {
    "counter.js": "let count = 0;\nexport function next() {\n  count += 1;\n  return count;\n}\n",
    "left.js": (
        'import { next } from "./counter.js";\n'
        "const SCALE = 2;\n"
        "export const left = (x) => SCALE * x + 100 * next();\n"
    ),
    "right.js": (
        "import {\n  next as following,\n} from './counter.js';\n"
        "const SCALE = 3;\n"
        "function right(x) {\n  return SCALE * x + 100 * following();\n}\n"
        "export class Right {\n  of(x) { return right(x); }\n}\n"
        "export async function later(x) { return right(x); }\n"
        "export { right, SCALE as scale };\n"
    ),
    "views/entry.js": (
        '// import "nothing" is only a comment\n'
        'import { left } from "../left.js";\n'
        'import * as other from "../right.js";\n'
        "export default async () => "
        "[left(5), other.right(5), new other.Right().of(7), await other.later(1), other.scale];\n"
    ),
}


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder / list(files)[-1]


def test_joined_modules_do_what_they_do_apart(tmp_path):
    entry = write(tmp_path / "apart", DIAMOND)
    joined = write(tmp_path / "joined", {"all.js": join_modules(entry)})
    # 2·5 + 100·1, 3·5 + 100·2, 3·7 + 100·3, 3·1 + 100·4: one counter, a scale for each
    expected = [110, 215, 321, 403, 3]
    for path in (entry, joined):
        assert run_javascript("return entry.default();", {"entry": path}) == expected


def test_each_module_stands_once_after_what_it_imports(tmp_path):
    text = join_modules(write(tmp_path, DIAMOND))
    heads = [line for line in text.splitlines() if line.startswith("// ") and ".js" in line]
    assert [head.rpartition("/")[2] for head in heads] == ["counter.js", "left.js", "right.js"]
    assert "\nimport" not in text
    assert text.count("export") == 1


# What exports nothing only runs: Node takes its joined text for no module and lists other names.
_SCRIPTS = sorted(LIBRARY.rglob("*.js"))
EXPORTING = [path for path in _SCRIPTS if "\nexport " in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", EXPORTING, ids=lambda path: path.name)
def test_every_module_of_the_library_can_be_joined_and_read(path, tmp_path):
    late = path.parent.name == "host"
    joined = write(tmp_path, {"all.js": join_modules(path, late=late)})
    names = run_javascript("return Object.keys(it);", {"it": joined})
    assert names == run_javascript("return Object.keys(it);", {"it": path})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('import { a } from "https://x.org/a.js";', r'from "\./…" or "\.\./…", got .https'),
        ('import { a } from "lodash";', r"got 'lodash'"),
        ('import { a } from "./gone.js";', r"a file that is there, got '\./gone\.js'"),
        ('import { b } from "./a.js";', "what a.js exports, got 'b'"),
        ('import a from "./a.js";', r"must import \{ names \} from files, got import a"),
        ('import { default as a } from "./a.js";', "got 'default as a'"),
        ('import { a!b } from "./a.js";', "got 'a!b'"),
        ('import "./a.js";', r"must import \{ names \} from files, got 'import"),
        ('const a = await import("./a.js");', "got 'const a = await import"),
        ('import { own } from "./entry.js";', "without a circle, got entry.js → entry.js"),
        ('import { x } from "./exports_default.js";', "must export functions"),
        ('import { x } from "./exports_let.js";', "got 'export let x = 1;'"),
    ],
)
def test_what_cannot_be_joined_is_said_in_one_sentence(tmp_path, line, message):
    files = {
        "a.js": "export const a = 1;\n",
        "exports_default.js": "export default 1;\n",
        "exports_let.js": "export let x = 1;\n",
        "entry.js": f"{line}\nexport const own = 1;\n",
    }
    with pytest.raises(ValueError, match=message) as caught:
        join_modules(write(tmp_path, files))
    assert "\n" not in str(caught.value)


def test_a_late_import_is_kept_where_it_is_admitted(tmp_path):
    late = 'export const later = (text) => import("data:text/javascript," + text);\n'
    entry = write(tmp_path, {"entry.js": late})
    joined = write(tmp_path, {"all.js": join_modules(entry, late=True)})
    body = "return (await it.later('export const x = 7')).x;"
    assert run_javascript(body, {"it": joined}) == 7


def test_a_longer_circle_is_named(tmp_path):
    files = {
        "one.js": 'import { two } from "./two.js";\nexport const one = 1;\n',
        "two.js": 'import { one } from "./one.js";\nexport const two = 2;\n',
        "entry.js": 'import { one } from "./one.js";\n',
    }
    with pytest.raises(ValueError, match=r"got one\.js → two\.js → one\.js"):
        join_modules(write(tmp_path, files))
