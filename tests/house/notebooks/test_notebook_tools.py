"""Notebooks are stored byte for byte, and a changed result does not pass unseen."""

import json
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tools import execute_notebooks
from tools.checks import test_all
from tools.notebooks import notebook_report, output_rules, rounding
from tools.notebooks.output_rules import FIGURE_MIME, Rules

ROOT = Path(__file__).resolve().parents[3]
FULL = [
    "import ipywidgets, torch\n"
    "from tqdm import tqdm\n"
    "from gates2heads.figures.figures import heatmap, show\n"
    "from gates2heads.figures.source import prose\n"
    "torch.manual_seed(7);",
    "for step in tqdm(range(3)):\n    print('step', step)",
    "values = torch.rand(2, 3)\nvalues.sum()",
    "figure = heatmap(values, xlabel='x', ylabel='y', value_label='v')\n"
    "show(figure, alt='Six cells.', caption='A.')",
    "one, two = ipywidgets.IntSlider(), ipywidgets.IntText()\n"
    "link = ipywidgets.jslink((one, 'value'), (two, 'value'))\n"
    "ipywidgets.VBox([one, two])",
    "prose('The sum is {total:.3f}.', total=values.sum())",
]
BAD = {
    "error": ("1 / 0", "cell 2 failed: ZeroDivisionError: division by zero"),
    "address": ("object()", "cell 2 shows a memory address, which changes with every run"),
    "boxes": (
        "import warnings; from gates2heads.figures.glyphs import MissingGlyphWarning\n"
        "warnings.warn('no font of this machine has Æ: boxes', MissingGlyphWarning)",
        "cell 2: no font of this machine has Æ: boxes",
    ),
    "dead": ("import os; os._exit(1)", "the kernel died at cell 2"),
}
# One output of each kind, made without heavy imports.
LIGHT = [
    "import sys\nimport ipywidgets\nfrom IPython.display import display\n5;",
    "for step in range(3):\n    print('step', step, flush=True)\nprint('bar', file=sys.stderr)",
    "0.75 * 3",
    "axes = {'words': ['loss (nats)'], 'numbers': [[[1.0, 2.0], [1.0, 50.0]]]}\n"
    "content = {'axes': [axes], 'legend': []}\n"
    "said = {'svg': '<svg/>', 'alt': 'A.', 'caption': 'B.', 'content': content}\n"
    f"display({{{FIGURE_MIME!r}: said, 'image/png': 'AAAA', 'text/plain': 'A.'}}, raw=True)",
    "ipywidgets.IntSlider()",
    "display({'text/markdown': 'The sum is 1.500 on 2024-03-17.'}, raw=True)",
]


def write(path, sources, tags=None):
    cells = [nbformat.v4.new_markdown_cell("# A title", id="title")]
    for index, source in enumerate(sources):
        cell = nbformat.v4.new_code_cell(source, id=f"cell-{index}")
        if tags and index in tags:
            cell.metadata.tags = tags[index]
        cells.append(cell)
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return path


def code_cells(path):
    return [c for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"]


def command(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """A notebook with every kind of output, run twice, and what the second run printed."""
    path = write(tmp_path_factory.mktemp("executed") / "full.ipynb", FULL)
    first = command("tools.execute_notebooks", path)
    assert first[0] == 0, first[1]
    before = path.read_bytes()
    return path, before, command("tools.execute_notebooks", path)


@pytest.mark.slow
class TestExecute:
    def test_twice_gives_the_same_bytes_and_says_how_long_it_took(self, executed):
        path, first, (code, said) = executed
        assert path.read_bytes() == first
        assert code == 0
        assert re.fullmatch(rf"{re.escape(str(path))}: \d+\.\d s\n", said)

    def test_what_varies_is_gone_and_what_matters_is_there(self, executed):
        path, text = executed[0], executed[1].decode()
        cells = code_cells(path)
        assert [len(cell.outputs) for cell in cells] == [0, 1, 1, 2, 1, 1]
        assert [cell.execution_count for cell in cells] == [1, 2, 3, 4, 5, 6]
        assert [cell.id for cell in cells] == [f"cell-{n}" for n in range(6)]
        assert cells[1].outputs[0].text == "step 0\nstep 1\nstep 2\n"
        assert not re.search(r'stderr|iopub|"version"|it/s', text)

    def test_widgets_are_numbered_and_every_reference_leads_somewhere(self, executed):
        notebook = nbformat.read(executed[0], as_version=4)
        state = notebook.metadata.widgets[execute_notebooks.WIDGET_STATE].state
        assert sorted(state) == [f"{n:032x}" for n in range(1, len(state) + 1)]
        assert {"LinkModel", "IntSliderModel", "VBoxModel"} <= {
            model.model_name for model in state.values()
        }
        view = code_cells(executed[0])[4].outputs[0].data
        view = view["application/vnd.jupyter.widget-view+json"]["model_id"]
        assert state[view].model_name == "VBoxModel"
        assert set(re.findall(r"IPY_MODEL_(\w+)", json.dumps(state))) <= set(state)

    def test_a_failure_names_the_cell_and_keeps_the_file(self, tmp_path):
        paths = [write(tmp_path / f"{n}.ipynb", ["print(1)", bad]) for n, (bad, _) in BAD.items()]
        before = [path.read_bytes() for path in paths]
        (tmp_path / "no.ipynb").write_text("not json")
        code, said = command("tools.execute_notebooks", *paths, tmp_path / "no.ipynb")
        assert code == 1
        for path, (_, message) in zip(paths, BAD.values(), strict=True):
            assert f"{path}: {message}\n" in said
        assert "no.ipynb: cannot be read as a notebook" in said
        assert [path.read_bytes() for path in paths] == before
        assert len(list(tmp_path.iterdir())) == len(BAD) + 1

    def test_a_cell_that_hangs_is_ended_and_named(self, tmp_path):
        path = write(tmp_path / "hangs.ipynb", ["import time; time.sleep(3600)"])
        before = path.read_bytes()
        code, said = command("tools.execute_notebooks", "--timeout=2", path)
        assert code == 1
        assert f"{path}: cell 1 took more than 2 s\n" in said
        assert path.read_bytes() == before


class TestStore:
    def test_an_interrupted_write_keeps_the_file(self, tmp_path, monkeypatch):
        path = write(tmp_path / "a.ipynb", ["1"])
        before = path.read_bytes()

        def interrupted(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr(execute_notebooks.os, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            execute_notebooks.write(path, nbformat.v4.new_notebook())
        assert path.read_bytes() == before
        assert list(tmp_path.iterdir()) == [path]

    def test_an_invalid_notebook_is_not_written(self, tmp_path):
        path = write(tmp_path / "a.ipynb", ["1"])
        notebook = nbformat.v4.new_notebook()
        notebook.cells = [nbformat.from_dict({"cell_type": "song", "id": "a"})]
        before = path.read_bytes()
        with pytest.raises(execute_notebooks.NotebookError, match="not a valid notebook"):
            execute_notebooks.write(path, notebook)
        assert path.read_bytes() == before

    def test_progress_is_dropped_and_a_warning_is_passed_on(self, capsys):
        output = nbformat.v4.new_output("stream", name="stderr")
        output.text = "\r 50%|##  | 1/2\r100%|####| 2/2\nUserWarning: look\n"
        assert execute_notebooks._settled_outputs([output], "a: cell 3") == []
        assert capsys.readouterr().err == "a: cell 3 on stderr: UserWarning: look\n"


def set_text(cells):
    """Change every kind of output that a reader reads."""
    cells[1].outputs[0].text = "step 0\nstep 1\nstep 3\n"
    cells[2].outputs[0].data["text/plain"] = "2.26"
    content = cells[3].outputs[0].data[FIGURE_MIME]["content"]
    content["axes"][0]["numbers"][0][0][1] += 0.01
    cells[4].outputs[0].data["text/plain"] = "IntSlider(value=1)"
    said = cells[5].outputs[0].data
    said["text/markdown"] = said["text/markdown"].replace("17", "18")


def set_pictures(cells):
    """Change what is not compared."""
    figure = cells[3].outputs[0].data
    figure["image/png"] = "BBBB"
    figure[FIGURE_MIME]["svg"] = "<svg></svg>"
    view = cells[4].outputs[0].data["application/vnd.jupyter.widget-view+json"]
    view["model_id"] = "f" * 32
    bar = nbformat.v4.new_output("stream", name="stderr", text="\r100%|###| 3/3 [9 it/s]")
    cells[1].outputs.append(bar)


def set_near(share):
    """Scale the numbers and allow two percent."""

    def change(cells):
        for cell in (cells[2], cells[3], cells[5]):
            cell.metadata.tags = ["approx-0.02"]
        cells[2].outputs[0].data["text/plain"] = f"{2.25 * share:.4f}"
        numbers = cells[3].outputs[0].data[FIGURE_MIME]["content"]["axes"][0]["numbers"]
        numbers[0][1] = [x * share for x in numbers[0][1]]
        said = cells[5].outputs[0].data
        said["text/markdown"] = said["text/markdown"].replace("1.500", f"{1.5 * share:.4f}")

    return change


VARYING = "import time; print('the clock says', time.time())"
LAX = [
    VARYING,
    VARYING,
    "print(3)",
    "print(4)",
    "# NBVAL_IGNORE_OUTPUT\nprint(5)",
]
LAX_TAGS = {
    0: ["varying-numbers"],
    1: ["varying-numbers"],
    2: ["varying-numbers"],
    3: ["nbval-ignore-output"],
}


def set_exempt(path):
    """Say why a cell is exempt, and change a word of another."""
    notebook = nbformat.read(path, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    cells[0].metadata.exempt_reason = "the clock"
    cells[2].metadata.exempt_reason = "no good one"
    cells[2].outputs[0].text = "three\n"
    nbformat.write(notebook, path)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """One nbval run over notebooks whose stored outputs are right, near, or wrong."""
    folder = tmp_path_factory.mktemp("compared")
    write(folder / "fresh.ipynb", LIGHT)
    write(folder / "lax.ipynb", LAX, LAX_TAGS)
    assert execute_notebooks_in(folder) == 0
    set_exempt(folder / "lax.ipynb")
    changes = {"wrong": set_text, "pictures": set_pictures}
    changes |= {"within": set_near(1.015), "beyond": set_near(1.03)}
    for name, change in changes.items():
        notebook = nbformat.read(folder / "fresh.ipynb", as_version=4)
        change([cell for cell in notebook.cells if cell.cell_type == "code"])
        nbformat.write(notebook, folder / f"{name}.ipynb")
    write(folder / "empty.ipynb", ["x = 1"])
    plugin = ["-p", "tools.notebooks.notebook_report", "--nbval", "--nbval-current-env"]
    settings = ["-c", ROOT / "pyproject.toml", "-p", "no:cacheprovider", "--color=no", "-q"]
    return command("pytest", *plugin, *settings, "-n", "2", "--dist", "loadfile", folder)[1]


def execute_notebooks_in(folder):
    return command("tools.execute_notebooks", *sorted(folder.glob("*.ipynb")))[0]


def failed(report, name):
    return set(re.findall(rf"^FAILED \S*{name}\.ipynb::(?:Cell )?(\w+)", report, re.M))


def row(report, name):
    return re.search(rf"^{name} +(.*)$", report, re.M)[1].split()


@pytest.mark.slow
class TestReport:
    def test_a_fresh_run_agrees_and_is_counted(self, report):
        assert failed(report, "fresh") == set()
        assert row(report, "fresh")[:8] == ["6", "14", "5", "5", "0", "0", "0", "(0%)"]

    def test_every_kind_of_changed_output_fails(self, report):
        assert failed(report, "wrong") == {"1", "2", "3", "4", "5"}

    def test_pictures_ids_and_stderr_do_not_fail(self, report):
        assert failed(report, "pictures") == set()

    def test_a_tolerance_holds_as_far_as_the_tag_says(self, report):
        assert failed(report, "within") == set()
        assert row(report, "within")[3:5] == ["5", "3"]
        assert failed(report, "beyond") == {"2", "3", "5"}

    def test_an_exempt_cell_still_compares_its_words(self, report):
        assert failed(report, "lax") == {"2", "measures"}

    def test_too_much_exempt_fails_the_notebook_and_reasons_are_asked_for(self, report):
        assert "3 of 5 cells with output are exempt (60%), at most 20% may be" in report
        assert "cell 1 is exempt and must say why" in report
        assert "lax cell 0 exempt: the clock" in report
        assert row(report, "lax")[:8] == ["5", "6", "5", "3", "3", "0", "3", "(60%)"]

    def test_nbvals_own_ways_to_compare_nothing_are_refused(self, report):
        for cell in (3, 4):
            assert f"cell {cell} is not compared at all: tag it varying-numbers" in report

    def test_a_notebook_that_shows_nothing_fails(self, report):
        assert failed(report, "empty") == {"measures"}
        assert "no output was compared" in report


KERNEL = "import os; print({!r} in os.environ.get('DNNL_MAX_CPU_ISA', ''))"


@pytest.mark.slow
class TestRounding:
    def test_a_cell_that_hangs_on_the_kernel_is_named_with_it(self, tmp_path, monkeypatch, capfd):
        write(tmp_path / "steady.ipynb", ["print(1)"])
        write(tmp_path / "hangs.ipynb", ["print(2)", KERNEL.format("AVX2")])
        assert execute_notebooks_in(tmp_path) == 0
        kernels = {name: rounding.KERNELS[name] for name in ("the oldest", "AVX2, two threads")}
        monkeypatch.setattr(rounding, "KERNELS", kernels)
        assert rounding.main([str(tmp_path)]) == 1
        said = capfd.readouterr().out.partition("what other kernels change\n")[2].splitlines()
        assert said[0] == "the oldest: nothing"
        assert re.fullmatch(r"AVX2, two threads: \S*hangs.ipynb::Cell 1", said[1])
        assert len(said) == 2

    def test_a_run_that_does_not_begin_fails(self, tmp_path, monkeypatch):
        kernel = next(iter(rounding.KERNELS.values()))
        assert rounding.differences(kernel, [tmp_path / "none.ipynb"]) != []


class TestSteps:
    def test_what_runs_weekly_runs_only_by_name(self, monkeypatch):
        ran = []
        monkeypatch.setattr(test_all, "run", lambda step: ran.append(step.name))
        monkeypatch.setattr(test_all, "report", lambda done: 0)
        for arguments in ([], ["rounding"]):
            monkeypatch.setattr(sys, "argv", ["test_all.py", *arguments])
            with pytest.raises(SystemExit):
                test_all.main()
        every = [step.name for step in test_all.steps()]
        assert ran == [*(name for name in every if name != "rounding"), "rounding"]

    def test_the_summary_names_what_failed(self, tmp_path, capfd):
        (tmp_path / "test_two.py").write_text("def test_a(): assert 1 == 2\ndef test_b(): pass\n")
        pytest_with_its_flags = test_all.steps()[1].command[:6]
        command = [*pytest_with_its_flags, "-p", "no:cacheprovider", str(tmp_path)]
        step = test_all.Step("short", command)
        test_all.run(step)
        capfd.readouterr()
        assert test_all.report([step]) == 1
        said = capfd.readouterr().out
        assert "test_two.py::test_a - assert 1 == 2" in said
        assert "test_b" not in said
        assert said.rstrip().endswith("1 passed, 1 failed, 0 skipped")

    def test_one_that_is_ended_early_tells_what_it_had_done(self):
        program = (
            "import sys; from tools.checks import test_all\n"
            "say = 'print(1, end=chr(46), flush=True);'\n"
            "sleep = say + 'import time; time.sleep(1000)'\n"
            "test_all.steps = lambda: [test_all.Step('short', [sys.executable, '-c', say]),\n"
            "  test_all.Step('long', [sys.executable, '-c', sleep])]\n"
            "sys.argv = ['test_all']; test_all.main()"
        )
        with subprocess.Popen(
            [sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True
        ) as process:
            for line in iter(process.stdout.readline, ""):
                if "──── long" in line:
                    break
            assert process.stdout.read(2) == "1."  # before the line ends
            process.terminate()
            said = process.stdout.read()
        assert process.returncode == 143
        assert re.search(r"^short +ok ", said, re.M)
        assert re.search(r"^long +UNFINISHED ", said, re.M)


class TestTally:
    def test_time_is_told_and_fails_nothing(self):
        seconds, calibrations = {0: 40.0, 3: 5000.5}, [1.0, 3.0]
        tally = notebook_report.Tally(compared=1, seconds=seconds, calibrations=calibrations)
        assert tally.faults() == []
        assert tally.describe_seconds() == (
            " 5040.5 s =  2520 × calibration, slowest cell 3 (5000.5 s)"
        )

    def test_a_fifth_may_be_exempt_and_no_more(self):
        tally = notebook_report.Tally(with_output=10, compared=8, reasons={1: "a", 2: "b"})
        assert tally.faults() == []
        tally.reasons[3] = "c"
        assert tally.faults() == ["3 of 10 cells with output are exempt (30%), at most 20% may be"]


class TestRules:
    @pytest.mark.parametrize(
        ("tags", "stored", "new", "same"),
        [
            ([], "loss 1.0", "loss 1.00", False),
            (["approx-0.1"], "loss 1.0 nats", "loss 1.09 nats", True),
            (["approx-0.1"], "loss 1.0 nats", "loss 1.2 nats", False),
            (["approx-0.1"], "loss 1.0 nats", "cost 1.0 nats", False),
            (["approx-0.1"], "-0.50, 1,000 and 3e-4.", "-0.52, 1,010 and 3.1e-4.", True),
            (["approx-0.1"], "-0.50", "0.50", False),
            (["approx-0.1"], "2024-03-17", "2024-03-18", False),
            (["approx-0.1"], "lengths 10–20", "lengths 10–21", False),
            (["approx-0.1"], "GRU128 v1.2.3", "GRU129 v1.2.3", False),
            (["approx-0.1"], "a 1 b 2", "a 1 b", False),
            (["approx-abs-0.5"], "99.5 %", "99.1 %", True),
            (["approx-abs-0.5"], "99.5 %", "98.9 %", False),
            (["approx-abs-0.5", "approx-0.1"], "0.1 and 100", "0.5 and 108", True),
            (["varying-seconds"], "took 12.3 s, 3 steps", "took 9 s, 3 steps", True),
            (["varying-seconds"], "took 12.3 s, 3 steps", "took 9 s, 4 steps", False),
            (["varying-seconds"], "took 12s, 1.5 min", "took 9s, 2 min", True),
            (["varying-numbers"], "| a | -0.5 | 1,000 |", "| a | 7e-09 | 2 |", True),
            (["varying-numbers"], "read 2032-04-09", "read 1999-06-00", False),
            (["varying-numbers"], "GRU128 has 7 %", "GRU129 has 7 %", False),
            (["varying-numbers"], "loss 0.5", "cost 0.5", False),
            (["varying-numbers"], "loss 0.5", "loss", False),
        ],
    )
    def test_texts(self, tags, stored, new, same):
        assert Rules.of(tags, "cell").same_text(stored, new) is same

    @pytest.mark.parametrize(
        ("column", "changed", "same"),
        [(2, "a man", True), (2, "", True), (1, "9", False), (0, "top-q", False)],
    )
    @pytest.mark.parametrize("heads", [["way", "loss", "drawn"], ["way", "loss", "written"]])
    def test_a_last_column_may_be_any_below_its_head(self, column, changed, same, heads):
        row, other = ["top-p", "0.5", "2032-04-09"], ["top-p", "0.5", "2032-04-09"]
        other[column] = changed
        rules = Rules.of(["varying-last-column"], "cell")
        stored, new = (
            "\n".join(
                "| " + " | ".join(cells) + " |"
                for cells in (named, [":--", "--:", ":--"], first, one)
            )
            for named, first, one in (
                (["way", "loss", "drawn"], row, row),
                (heads, other, row),
            )
        )
        assert rules.same_text(stored, new) is (same and heads[-1] == "drawn")

    @given(st.floats(1e-3, 1e6), st.floats(-0.2, 0.2))
    def test_relative_tolerance_is_what_it_says(self, number, change):
        stored, new = f"{number:.6e}", f"{number * (1 + change):.6e}"
        gap = abs(float(stored) - float(new)) / max(float(stored), float(new))
        assume(abs(gap - 0.1) > 1e-9)
        near = Rules.of(["approx-0.1"], "cell").same_text(f"x {stored}", f"x {new}")
        assert near is (gap <= 0.1)

    @pytest.mark.parametrize("tag", ["approx", "approx-", "approx-2%", "approx-abs-x"])
    def test_a_tag_that_nearly_is_one_is_refused(self, tag):
        with pytest.raises(ValueError, match=f"cell 3: tag must be approx-0.02 .* got '{tag}'"):
            Rules.of([tag], "cell 3")

    @pytest.mark.parametrize(
        ("tags", "change", "same"),
        [
            ([], {}, True),
            ([], {"numbers": [[[1.0, 2.0], [1.0, 50.01]]]}, True),
            ([], {"numbers": [[[1.0, 2.0], [1.0, 51.0]]]}, False),
            ([], {"numbers": [[[1.0, 2.0], [1.0, None]]]}, False),
            (["approx-0.05"], {"numbers": [[[1.0, 2.0], [1.0, 51.0]]]}, True),
            (["trained-figure"], {"numbers": [[[1.0, 2.0], [7.0, 90.0]]]}, True),
            (["trained-figure"], {"numbers": [[[1.0, 2.0], [7.0]]]}, False),
            (["trained-figure"], {"numbers": []}, False),
            (["trained-figure"], {"words": ["loss (nats)", "step 90"]}, True),
            (["trained-figure"], {"words": ["loss (bits)", "step 50"]}, False),
            (["varying-numbers"], {"numbers": [[[1.0, 2.0], [7.0, 90.0]]]}, True),
            (["varying-numbers"], {"words": ["loss (bits)", "step 50"]}, False),
        ],
    )
    def test_figures(self, tags, change, same):
        axes = {"words": ["loss (nats)", "step 50"], "numbers": [[[1.0, 2.0], [1.0, 50.0]]]}
        stored, new = (
            {"alt": "a", "caption": "c", "content": {"axes": [one], "legend": []}}
            for one in (axes, axes | change)
        )
        assert Rules.of(tags, "cell").same_figure(stored, new) is same

    def test_a_figures_words_around_it_count_too(self):
        one = {"alt": "a", "caption": "c", "content": {}}
        assert not Rules.of(["trained-figure"], "cell").same_figure(one, one | {"alt": "b"})

    def test_outputs_are_not_changed_by_comparing(self):
        output = nbformat.v4.new_output(
            "display_data", {FIGURE_MIME: {"svg": "x"}, "image/png": ""}
        )
        assert output_rules.comparable([output])[0].data == {FIGURE_MIME: {}}
        assert set(output.data) == {FIGURE_MIME, "image/png"}
