"""Every number of the appendix of claims is evaluated, and every comparison is true."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "_ext"))
import claims  # noqa: E402
import page_links  # noqa: E402
import stored_tables  # noqa: E402

EVERY = [(chapter, one) for chapter, found in claims.read_claims().items() for one in found]
each_claim = pytest.mark.parametrize(
    ("chapter", "claim"), EVERY, ids=[one["id"] for _, one in EVERY]
)
KEYS = {"id", "claim", "where", "study", "settings", "data", "numbers", "holds", "attacks"}
KEYS |= {"verdict", "change"}
# What may have a digit although no study stores it: names, sections, and the usual level.
NAMES = re.compile(
    r"\{[^{}]*\}|\b\d-gram|95 %|\b(?:[Cc]hapter|section|Figure) \d[\w.]*"
    r"|\b\d+F? ?[A-Z]?\.\d+|\(\d+\.\d+\)"
)


def sentences(claim):
    """All that an entry says to readers."""
    told = [claim["claim"], claim["data"], claim["change"], *claim["attacks"].values()]
    return told + ([claim["before"]] if "before" in claim else [])


def test_there_are_claims_of_every_chapter_and_their_names_differ():
    assert claims.read_claims().keys() == set(range(1, 12))
    names = [one["id"] for _, one in EVERY]
    assert len(names) == len(set(names)) >= 40


@each_claim
def test_an_entry_is_complete(chapter, claim):
    assert KEYS <= claim.keys() <= KEYS | {"before"}
    assert claim["attacks"].keys() <= claims.ATTACKS.keys()
    assert claim["verdict"] in claims.VERDICTS
    # what an attack refuted was said before, and an attack did it
    assert ("before" in claim) >= (claim["verdict"] == "refuted")
    if claim["verdict"] in ("narrowed", "refuted"):
        assert claim["attacks"]


@each_claim
def test_its_places_exist(chapter, claim):
    notebooks = sorted(stored_tables.CHAPTERS.glob("[01]*.ipynb"))
    figures = {f"Figure {one}" for path in notebooks for one in page_links.figures_of(path)}
    known = stored_tables.places().keys() | figures
    assert set(claim["where"]) <= known
    assert any(re.search(r"\d+", where)[0] == str(chapter) for where in claim["where"])


@each_claim
def test_every_number_is_of_a_stored_study_and_every_comparison_true(chapter, claim):
    known = claims.numbers_of(claim)
    assert claim["holds"], "a claim without a comparison says nothing that can fail"
    assert [one for one, is_true in claims.holds(claim).items() if not is_true] == []
    for setting in claim["settings"]:
        assert claims.Stored.seeds(claim["study"], setting) > 0
    used = {name for text in sentences(claim) for name in re.findall(r"\{(\w+)", text)}
    assert used <= known.keys()
    compared = " ".join([*claim["holds"], *map(str, claim["numbers"].values())])
    assert {name for name in known if not re.search(rf"\b{name}\b", compared)} <= used


@each_claim
def test_no_sentence_has_a_typed_number(chapter, claim):
    for text in sentences(claim):
        assert not re.search(r"\d", NAMES.sub("", " ".join(text.split()))), text
        assert not re.search(r"[{}]", claims.written(text, claim))


def test_the_page_says_all_and_counts_the_verdicts():
    page = "\n".join(claims.claims())
    for _, claim in EVERY:
        assert f'id="{claims.anchor(claim)}"' in page
        assert claims.written(claim["claim"], claim) in page
    first = [line.strip("| ").split(" | ") for line in page.splitlines()[2 : 2 + 11]]
    assert sum(int(row[1]) for row in first) == len(EVERY)
    assert "Not tried:" in page


def test_an_expression_sees_the_studies_and_nothing_else():
    claim = {
        "numbers": {"a": "seeds('ch10/translators', 'captions-gru')", "b": "2 * a"},
        "holds": ["b > a"],
    }
    assert claims.numbers_of(claim) == {"a": 3, "b": 6}
    assert claims.holds(claim) == {"b > a": True}
    with pytest.raises(NameError):
        claims.numbers_of({"numbers": {"a": "open('/etc/hostname')"}})
    with pytest.raises(KeyError, match="no setting nothing"):
        claims.numbers_of({"numbers": {"a": "least('ch10/translators', 'nothing', 'bleu')"}})


@pytest.mark.slow
def test_sections_and_figures_lead_to_their_claims(tmp_path):
    pages = {
        "conf.py": f"""
import sys
sys.path.insert(0, {str(ROOT / "_ext")!r})
extensions = ["myst_nb", "page_links", "stored_tables", "claims"]
nb_execution_mode = "off"
root_doc = "chapters/04_sequence_to_sequence"
""",
        "chapters/04_sequence_to_sequence.md": """# Page

## 4.5 Exposure bias: one wrong character

Text.

**Figure 4.2.** A caption.

### Exercise 4.4

```{toctree}
appendix/claims
```
""",
        "chapters/appendix/claims.md": """# Claims

```{stored-table} claims
```
""",
    }
    for name, text in pages.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    build = [sys.executable, "-m", "sphinx", "-q", "-b", "html", str(tmp_path), str(tmp_path / "o")]
    subprocess.run(build, check=True, capture_output=True, text=True)
    built = {
        name: (tmp_path / "o" / "chapters" / f"{name}.html").read_text(encoding="utf-8")
        for name in ("04_sequence_to_sequence", "appendix/claims")
    }
    found = re.findall(
        r'href="appendix/claims\.html#(claim-[\w-]+)"', built["04_sequence_to_sequence"]
    )
    here = [one for one in claims.read_claims()[4] if {"4.5", "Figure 4.2"} & set(one["where"])]
    assert set(found) == {claims.anchor(one) for one in here}
    assert len(found) == sum(len({"4.5", "Figure 4.2"} & set(one["where"])) for one in here)
    for anchor in set(found):
        assert f'id="{anchor}"' in built["appendix/claims"]
