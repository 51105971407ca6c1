"""Both sides of the port, in Node: loading, running, progress, cancelling, and every refusal."""

import base64
import hashlib

import pytest

from gates2heads.browser.engine.export import Exported
from gates2heads.browser.live import models as library
from gates2heads.views.kit.live_view import named
from tests.javascript import LIBRARY, run_javascript

LIVE = LIBRARY / "browser" / "live"
MODULES = {"served": LIVE / "serve.js", "files": LIVE / "files.js"}

# A port whose two ends are in one thread, and requests by number.
PORT = """
const said = [];
const waiting = new Map();
const postMessage = (message) => { said.push(message); waiting.get(message.id)?.(message); };
const port = { postMessage };
const send = (message) => port.onmessage({ data: message });
const answer = (message) => new Promise((done) => {
  waiting.set(message.id, (told) => told.progress === undefined && done(told));
  send(message);
});
const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
"""
TASKS = """
let steps = 0;
function* count(loaded, { upTo, busy = 0 }) {
  for (let number = 1; number <= upTo; number++) {
    const begin = performance.now();
    while (performance.now() - begin < busy);
    steps = number;
    yield { number };
  }
  return upTo;
}
function* fail() { throw new Error("It cannot be."); }
served.serve(port, { count, fail });
"""


def run(body: str, given: object = None):
    return run_javascript(PORT + TASKS + body, MODULES, given)


def test_it_says_that_it_is_there():
    assert run("return said;") == [{"ready": True}]


def test_progress_comes_in_order_and_the_result_last():
    said = run(
        'await answer({ id: 7, task: "count", payload: { upTo: 3 } }); return said.slice(1);'
    )
    assert said == [
        *({"id": 7, "progress": {"number": number}} for number in (1, 2, 3)),
        {"id": 7, "result": 3},
    ]


def test_an_error_is_told_by_its_sentence():
    assert run('return answer({ id: 1, task: "fail" });') == {"id": 1, "error": "It cannot be."}


def test_a_cancelled_run_stops_after_the_step_at_hand():
    body = """
      const long = answer({ id: 1, task: "count", payload: { upTo: 100, busy: 15 } });
      await wait(60);
      send({ cancel: 1 });
      const told = await long;
      const then = steps;
      await wait(60);
      return { told, then, later: steps };
    """
    found = run(body)
    assert found["told"] == {"id": 1}
    assert 1 <= found["then"] < 100
    assert found["later"] == found["then"]


def test_a_run_that_is_cancelled_at_once_never_begins():
    body = """
      const told = answer({ id: 1, task: "count", payload: { upTo: 5 } });
      send({ cancel: 1 });
      return { told: await told, steps };
    """
    assert run(body) == {"told": {"id": 1}, "steps": 0}


def test_two_runs_take_turns():
    body = """
      const payload = { upTo: 4, busy: 15 };
      const both = [1, 2].map((id) => answer({ id, task: "count", payload }));
      await Promise.all(both);
      return said.filter((message) => message.progress).map((message) => message.id);
    """
    order = run(body)
    assert sorted(order) == [1] * 4 + [2] * 4
    assert order != sorted(order)


def test_an_altered_model_is_refused():
    body = 'return answer({ id: 1, model: "m", entry: { header: "{}", sha256: "0", data: "" } });'
    assert "error" in run(body)


@pytest.mark.parametrize(
    ("root", "page", "file"),
    [
        ("../", "http://a.org/book/chapters/x.html", "http://a.org/book/live/m-0a.js"),
        ("./", "file:///home/b%20c/index.html", "file:///home/b%20c/live/m-0a.js"),
        ("../../", "https://a.org/x/y/z.html#w", "https://a.org/live/m-0a.js"),
    ],
)
def test_the_file_lies_beside_the_pages(root, page, file):
    body = "return files.address('m-0a.js', given.root, given.page);"
    assert run(body, {"root": root, "page": page}) == file


def test_where_there_is_no_book_there_is_no_file():
    assert run('return files.address("m-0a.js", undefined, "http://a.org/");') is None


def test_megabytes_never_exceed_the_whole():
    body = "return given.map(([some, all]) => files.megabytes(some, all));"
    told = run(body, [[0, 6_400_000], [3_149_999, 6_400_000], [9e9, 6_400_000]])
    assert told == ["0.0 of 6.4 MB", "3.1 of 6.4 MB", "6.4 of 6.4 MB"]


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ({"header": "{}"}, "The file of the model (m-0a.js) is damaged."),
        ({"header": 3, "data": "AA=="}, "The file of the model (m-0a.js) is damaged."),
        (
            {"header": "{}", "data": "AA==", "sha256": "ff"},
            "The file of the model (m-0a.js) holds another model.",
        ),
        (
            {"header": "{}", "data": "AA=="},
            "The file of the model (m-0a.js) holds another model.",
        ),
    ],
)
def test_another_models_entry_is_refused(entry, sentence):
    body = """
      const model = { name: "m", hash: "0a" };
      try { files.checkEntry(given, model); } catch (error) { return error.message; }
    """
    assert run(body, entry) == sentence


def test_of_a_hash_that_is_known_whole_every_digit_counts():
    body = """
      const model = { name: "m", hash: "0a", sha256: "0abc" };
      return given.map((sha256) => {
        try { return Boolean(files.checkEntry({ header: "{}", data: "AA==", sha256 }, model)); }
        catch (error) { return error.message; }
      });
    """
    other = "The file of the model (m-0a.js) holds another model."
    assert run(body, ["0abc", "0abd", "0a"]) == [True, other, other]


@pytest.mark.parametrize("name", ["m", '"] = {"</script>', "a\\b\u2028é"])
def test_what_a_file_registers_is_read_without_running_it(name):
    model = Exported(name, '{"format": 2, "x": "</script>"}', b"\x00\xff" * 7)
    text = model.script()
    whole = {
        "header": model.header,
        "sha256": model.sha256,
        "data": base64.b64encode(model.data).decode(),
    }
    spoilt = [text + "run();", f"run();{text}", text[:-9], "", text.replace("{", "{run()", 2)]
    spoilt += [text.replace('"header"', "header"), "<!DOCTYPE html>"]
    found = run("return given.map(files.registeredBy);", [text, *spoilt])
    assert found == [whole, *[None] * len(spoilt)]


def test_an_engine_is_what_the_name_of_its_file_says():
    source = "(() => { /* é */ })();"
    digits = hashlib.sha256(source.encode()).hexdigest()
    body = """
      return given.map(([source, file]) => {
        try { return files.checkEngine(source, file) === source; }
        catch (error) { return error.message; }
      });
    """
    file = f"engine-{digits}.js"
    asked = [[source, file], [source + " ", file], [source, "engine.js"]]
    assert run(body, asked) == [True, f"The engine's file (live/{file}) is damaged.", True]


def test_a_refusal_comes_with_its_data():
    body = """
      function* refuse() { throw Object.assign(new Error("No."), { refused: { most: 5 } }); }
      served.serve(port, { refuse });
      return answer({ id: 1, task: "refuse" });
    """
    assert run(body) == {"id": 1, "error": "No.", "refused": {"most": 5}}


def test_the_size_that_a_reader_is_told_is_that_of_the_files():
    models = [library.live_model(name) for name in library.LIVE]
    body = 'return given.map((bytes) => files.sizeOf({ bytes }, "http"));'
    told = run(body, [named(model)["bytes"] for model in models])
    written = [len(model.script().encode()) for model in models]
    assert told == pytest.approx(written, rel=0.015)
    body = 'return [files.ENGINE_SIZE, files.sizeOf({ bytes: 700 }, "python")];'
    engine, from_python = run(body)
    assert engine == pytest.approx(library.bytes_to_load(), rel=0.05)
    assert from_python == 700  # as it is sent, not as a file


def test_very_little_is_not_told_as_nothing():
    told = run("return given.map(files.inMegabytes);", [49_999, 50_000, 8_962_000])
    assert told == ["less than 0.1 MB", "0.1 MB", "9.0 MB"]
