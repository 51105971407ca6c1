"""Every number of the appendix of claims is evaluated, and every comparison is true."""

import itertools
import re
import subprocess
import sys
from pathlib import Path

import pytest
from docutils import nodes

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "_ext"))
import claims  # noqa: E402
import page_links  # noqa: E402
import stored_tables  # noqa: E402

from tools.publishing import claims_list  # noqa: E402

EVERY = [(chapter, one) for chapter, found in claims.read_claims().items() for one in found]
each_claim = pytest.mark.parametrize(
    ("chapter", "claim"), EVERY, ids=[one["id"] for _, one in EVERY]
)
KEYS = {"id", "claim", "where", "study", "settings", "data", "numbers", "holds", "attacks"}
KEYS |= {"verdict", "change"}
# What may have a digit although no study stores it: names, sections, and the usual level.
NAMES = re.compile(
    r"\{[^{}]*\}|\b\d-gram|\bGPT-\d|95 %|\b(?:[Cc]hapter|section|Figure) \d[\w.]*"
    r"|\b\d+F? ?[A-Z]?\.\d+|\(\d+\.\d+\)"
)


def sentences(claim):
    """All that an entry says to readers."""
    told = [claim["claim"], claim["data"], claim["change"], *claim["attacks"].values()]
    return told + [claim[key] for key in ("before", "limits", "limited") if key in claim]


def test_there_are_claims_of_every_chapter_and_their_names_differ():
    assert claims.read_claims().keys() == set(range(1, 14))
    names = [one["id"] for _, one in EVERY]
    assert len(names) == len(set(names)) >= 40


@each_claim
def test_an_entry_is_complete(chapter, claim):
    others = {"before", "limits", "limited", "outside", "repeated", "changed"}
    assert KEYS <= claim.keys() <= KEYS | others
    assert not claim["attacks"].keys() & {*claim.get("outside", ())}
    assert claims.ATTACKS.keys() >= {*claim.get("outside", ())}
    assert claim["attacks"].keys() <= claims.ATTACKS.keys()
    assert claim["verdict"] in claims.VERDICTS
    assert "repeated" not in claim or claims.REPEATED[claim["repeated"]]
    # what an attack narrowed or refuted is told, and an attack did it
    if claim["verdict"] in ("narrowed", "refuted"):
        assert "before" in claim
        assert claim["attacks"]
    elif claim["verdict"] != "open":
        assert "before" not in claim
    # a verdict that says that a claim was tested, and no test of it
    assert (claim["verdict"] == "untested") == (not claim["attacks"])


def fits_its_verdict(claim):
    """Whether more training and other learning rates were tried as the verdict says."""
    changed = {*claim.get("changed", ())}
    if not changed <= claims.BUDGET.keys() & claim["attacks"].keys():
        return False
    if claim["verdict"] == "budget":
        return bool(changed or claims.untried(claim))
    return not changed and not (claim["verdict"] == "stands" and claims.untried(claim))


@each_claim
def test_the_verdict_follows_from_what_was_tried(chapter, claim):
    assert fits_its_verdict(claim)
    why = "\n".join(one for one in claims._entry(claim, "1-1") if "**Why for this" in one)
    if claim["verdict"] != "budget":
        assert not why
        return
    assert why.endswith(".")
    for name, (changes, missing) in claims.BUDGET.items():
        assert (changes in why) == (name in claim.get("changed", ()))
        assert (missing in why) == (name in claims.untried(claim))


@pytest.mark.parametrize(
    ("verdict", "tried", "outside", "changed", "fits"),
    [
        ("stands", ["training", "rate"], [], [], True),
        ("stands", ["rate"], ["training"], [], True),
        ("stands", ["test"], ["training", "rate"], [], True),
        ("stands", ["rate"], [], [], False),
        ("stands", ["training", "rate"], [], ["rate"], False),
        ("budget", ["training", "rate"], [], ["rate"], True),
        ("budget", ["rate"], [], [], True),
        ("budget", ["training", "rate"], [], [], False),
        ("budget", ["test"], ["training", "rate"], [], False),
        ("budget", ["training"], [], ["rate"], False),
        ("budget", ["seeds"], [], ["seeds"], False),
        ("narrowed", ["training", "rate"], [], ["rate"], False),
        ("narrowed", ["rate"], [], [], True),
    ],
)
def test_a_verdict_that_does_not_follow_is_found(verdict, tried, outside, changed, fits):
    claim = {"verdict": verdict, "attacks": dict.fromkeys(tried, ""), "outside": outside}
    assert fits_its_verdict({**claim, "changed": changed}) == fits


def test_the_page_says_to_which_claims_neither_more_training_nor_another_rate_applies():
    page = (stored_tables.CHAPTERS / "appendix" / "claims.md").read_text(encoding="utf-8")
    assert "neither applies to any claim with this verdict" in " ".join(page.split())
    for _, claim in EVERY:
        assert claim["verdict"] != "stands" or claims.BUDGET.keys() <= {*claim["outside"]}


NOT_TRIED = re.compile(
    r"\b(was|were|has|have)( been)? not (been )?(run|tried|tested)\b"
    r"|\b(no|none) (other |others )?(was|were|has been|have been) (run|tried|tested)\b"
    r"|\bnot tried\b|\bseeds were run\b"
)


@each_claim
def test_an_attack_was_made(chapter, claim):
    """What was not tried stands under the limits, and is no attack."""
    for told in claim["attacks"].values():
        assert not NOT_TRIED.search(" ".join(told.split())), told


EVERY_RUN = re.compile(r"\b(every|each|all) (of \{\w+\} )?(seeds?|runs?|pairs? of runs)\b")


def tells_of_every_run(claim):
    """Whether a claim gives a bound over runs, or says that it holds in each."""
    text = " ".join(claim["claim"].split())
    over_runs = any(
        re.search(r"\b(least|most)\(", claim["numbers"][found[2]]) and not is_of_means(found)
        for found in claims.BOUND.finditer(text)
    )
    several = max(claims.Stored.seeds(claim["study"], one) for one in claim["settings"]) > 1
    return several and bool(over_runs or EVERY_RUN.search(text))


@each_claim
def test_a_claim_about_every_run_lists_the_attack(chapter, claim):
    assert not tells_of_every_run(claim) or "seeds" in claim["attacks"]


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


@each_claim
def test_the_evidence_lists_every_setting_that_the_numbers_read(chapter, claim):
    read = claims.settings_read(claim)
    assert set(read[claim["study"]]) <= set(claim["settings"])
    page = "\n".join(claims._entry(claim, "1-1"))
    for settings in read.values():
        for setting in settings:
            assert f"`{setting}` (" in page


def test_a_long_list_of_settings_ends_the_entry():
    for _, claim in EVERY:
        page = claims._entry(claim, "1-1")
        counted = sum(len(one) for one in claims.settings_read(claim).values())
        (evidence,) = (line for line in page if line.startswith("- **Evidence:**"))
        assert evidence.count("` (") <= claims.LISTED
        heads = [line for line in page if line.startswith("The settings of entry")]
        assert len(heads) == (counted > claims.LISTED)


def test_the_page_names_its_example_by_its_number():
    page = (stored_tables.CHAPTERS / "appendix" / "claims.md").read_text(encoding="utf-8")
    links = re.findall(r'href="#claim-([\w-]+)">(\d+-\d+)<', page)
    assert links
    for name, number in links:
        assert claims._numbers_of_entries()[name] == number


def test_a_docstring_becomes_prose_with_its_commands():
    told = "One `<eos>`\ntwo <bos>.\n\n    python -m one\n    python -m two\n\n- `a`: *b*;\n- c."
    assert claims._from_docstring(told) == [
        *("One `<eos>`\ntwo &lt;bos>.", ""),
        *("```text", "python -m one", "python -m two", "```", ""),
        *("- `a`: *b*;\n- c.", ""),
    ]


def test_the_page_explains_the_settings_of_every_study_that_it_names():
    told = "\n".join(claims.settings_explained())
    linked = set(re.findall(r'href="#(settings-of-[\w-]+)"', "\n".join(claims.claims())))
    assert linked == set(re.findall(r'<details id="([\w-]+)">', told))
    assert "##" not in told  # no docstring has run into the next
    assert '"causal 158" has' in told
    assert "as many positions count in its loss" in told


OBSERVATION = re.compile(r"\b[Ff]urther\b|\b[Mm]ore\b|\berror\b|\b[Aa]nother\b|\binterval\b")


@each_claim
def test_what_would_overturn_a_claim_is_an_observation(chapter, claim):
    """Such as further seeds; other conditions stand in their own line."""
    assert not claim["change"].startswith("Nothing")
    if claim["verdict"] != "open":
        assert OBSERVATION.search(claim["change"]), claim["change"]
    told = "\n".join(claims._entry(claim, "1-1"))
    label = "decide" if claim["verdict"] == "open" else "overturn"
    assert f"**What would {label} this:**" in told
    assert ("**What would narrow its scope:**" in told) == ("limited" in claim)


def corners(claim, name, kept=()):
    """All values of a number if each least, most or mean of its expressions is that of any run.

    What is `kept`, such as means in a sentence about means, stays as it is.
    """

    def value(asked, picks):
        def pick(*where):
            found = claims.Stored.runs(*where)
            return (min, max)[next(picks)](found)

        names = claims.Stored.names() | dict.fromkeys({"least", "most", "mean"} - set(kept), pick)
        known, numbers = {}, claim["numbers"]

        def needed(one):
            for word in re.findall(r"[a-z_]+", re.sub(r"'[^']*'", "", numbers[one])):
                if word in numbers and word not in known and word != one:
                    needed(word)
            known[one] = eval(numbers[one], {"__builtins__": {}, **names, **known})

        needed(asked)
        return known[asked]

    calls = itertools.count()
    value(name, iter(lambda: next(calls) * 0, None))
    count = next(calls)
    assert count <= 12, f"{name} is made of {count} values: give it a name for each part"
    return [value(name, iter(some)) for some in itertools.product((0, 1), repeat=count)]


def is_of_means(found):
    """Whether a sentence bounds means, "means of at least {x}", and not single runs."""
    told = found.string[: found.start()]
    return bool(re.search(r"\b(means( over the seeds)?|mean accuracy) of\s$", told))


def bounds_that_fail(claim):
    """The bounds in the sentences of an entry that some stored run does not keep."""
    failing = []
    for sentence in sentences(claim):
        text = " ".join(sentence.split())
        for found in claims.BOUND.finditer(text):
            side, name = found[1], found[2]
            of_means = is_of_means(found)
            told = claims.written(found[0], claim).removeprefix(f"at {side} ")
            told = float(told.replace(",", "").rstrip("%")) / (100 if told[-1] == "%" else 1)
            values = corners(claim, name, kept=("mean",) if of_means else ())
            near = 1e-9 * max(1, abs(told))  # a product of floats is not exact
            if not (told <= min(values) + near if side == "least" else told >= max(values) - near):
                failing.append(found[0])
    return failing


@each_claim
def test_every_run_keeps_the_bounds_of_the_sentences(chapter, claim):
    assert bounds_that_fail(claim) == []
    for text in sentences(claim):  # one way to write a bound, so that all are found
        told = " ".join(text.split())
        assert not re.search(
            r"\{[^}]*\}[^.;,{]{0,25} (at most|at least|or more|or less)\b(?! \{)", told
        )
        assert len(re.findall(r"at (?:least|most) \{", told)) == len(claims.BOUND.findall(told))


OTHER = {"at least": "at most", "at most": "at least", "least(": "most(", "most(": "least("}


def mutants(claim):
    """The entry with one word of a bound turned into its opposite, in a sentence or in a number."""
    for key in ("claim", "data", "change", "limited", "before"):
        for found in claims.BOUND.finditer(claim.get(key, "")):
            turned = claim[key][: found.start()] + OTHER[found[0][: len(f"at {found[1]}")]]
            turned += claim[key][found.start() + len(f"at {found[1]}") :]
            yield found, {**claim, key: turned}
    named = {
        one[2]: one
        for text in sentences(claim)
        for one in claims.BOUND.finditer(" ".join(text.split()))
    }
    for name, found in named.items():
        told = claim["numbers"][name]
        for call in re.finditer(r"\b(least|most)\(", told):
            for other in (OTHER[call[0]], "mean("):
                turned = told[: call.start()] + other + told[call.end() :]
                yield found, {**claim, "numbers": {**claim["numbers"], name: turned}}


def test_a_bound_that_is_turned_round_is_found():
    """Mutation testing: of entries with a wrong bound, the test above lets hardly any pass."""
    caught, missed = 0, []
    for _, claim in EVERY:
        as_it_is = [claims.written(one, claim) for one in sentences(claim)]
        for found, mutant in mutants(claim):
            if is_of_means(found):
                continue  # a single number, of which both bounds are true
            values = corners(claim, found[2])
            if max(values) - min(values) < 1e-9:
                continue  # all runs are alike, so both bounds are true
            if [claims.written(one, mutant) for one in sentences(mutant)] == as_it_is:
                continue  # digits that are not shown
            if bounds_that_fail(mutant):
                caught += 1
            else:
                missed.append((claim["id"], found[0]))
    assert caught > 30
    assert missed == []


@pytest.mark.parametrize(
    ("text", "value", "told"),
    [
        ("at least {x:.0f} %", 99.6, "at least 99\N{NO-BREAK SPACE}%"),
        ("at most {x:.0f} %", 12.1, "at most 13\N{NO-BREAK SPACE}%"),
        ("at least {x:.1f}", 1.768, "at least 1.7"),
        ("at most {x:.0%}", 0.121, "at most 13\N{NO-BREAK SPACE}%"),
        ("{x:.0%} of them", 0.5, "50\N{NO-BREAK SPACE}% of them"),
        ("({x:.1f} to {x:+.1f})", -0.26, "(−0.3 to −0.3)"),
        ("GPT-2, 4-gram: {x:.1f}", 2.0, "GPT-2, 4-gram: 2.0"),
        ("at least {x:,}", 5150, "at least 5,150"),
        ("at least {x} names", 5150, "at least 5150 names"),
        ("at most {x:.1f}", 98.60000000000001, "at most 98.6"),
        ("some {x:.0f} %", 99.6, "some 100\N{NO-BREAK SPACE}%"),
    ],
)
def test_a_bound_is_rounded_outwards(text, value, told):
    assert claims.written(text, {"numbers": {"x": repr(value)}}) == told


def test_a_withdrawn_sentence_cannot_be_read_as_a_claim():
    page = "\n".join(claims.claims())
    refuted = [claim for _, claim in EVERY if claim["verdict"] == "refuted"]
    label = "<summary>Replaces a refuted statement: evidence, "
    assert page.count(label) == len(refuted) == page.count('data-verdict="refuted"') > 0
    assert page.count("**Refuted:** the statement") == len(refuted)
    kept = re.sub(r"<del>.*?</del>", "", page)
    for _, claim in EVERY:
        if "before" not in claim:
            continue
        # struck out, and the same line says that it is not claimed
        assert claims.withdrawn(claim) in page.splitlines()
        old = claims.written(claim["before"], claim).removesuffix(".")
        assert old not in kept
        assert re.search(
            r"</del> (is false as worded|says more than .* show)\.$", claims.withdrawn(claim)
        )


def test_the_page_says_all_and_counts_the_verdicts():
    page = "\n".join(claims.claims())
    for _, claim in EVERY:
        assert f'id="{claims.anchor(claim)}"' in page
        assert claims.written(claim["claim"], claim) in page
    chapters = len(claims.read_claims())
    first = [line.strip("| ").split(" | ") for line in claims.tally()[2 : 2 + chapters]]
    assert sum(int(row[1]) for row in first) == len(EVERY)
    all_told = claims.tally()[2 + chapters].strip("| ").split(" | ")
    assert all_told[:2] == ["all", str(len(EVERY))]
    assert "0" not in all_told
    assert sum(map(int, all_told[2:])) == len(EVERY)
    assert "Not tried:" in page
    made = sum(len(claim["attacks"]) for _, claim in EVERY)
    told = re.findall(r": evidence, (\d) of (\d) attempts made</summary>", page)
    assert sum(int(count) for count, _ in told) == made
    applicable = sum(int(count) for _, count in told)
    assert applicable == sum(5 - len(claim.get("outside", ())) for _, claim in EVERY)
    assert "**Does not apply:** more training" in page
    assert re.search(r'numbers also from <a href="#settings-of-ch[\w-]+">`ch', page)
    counted = "\n".join(claims.attempts())
    assert f"Of {applicable} attempts that apply, {made} were made." in counted
    assert sum(map(int, re.findall(r"\| (\d+) of \d+ claims", counted))) == made
    of_each = counted.splitlines()[-1].strip("| ").split(" | ")[1:]
    assert sum(map(int, of_each)) == len(EVERY)


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

**Figure 4.3.** A caption.

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
    here = [one for one in claims.read_claims()[4] if {"4.5", "Figure 4.3"} & set(one["where"])]
    assert set(found) == {claims.anchor(one) for one in here}
    assert len(found) == sum(len({"4.5", "Figure 4.3"} & set(one["where"])) for one in here)
    for anchor in set(found):
        assert f'id="{anchor}"' in built["appendix/claims"]


def section(title, *parts):
    return nodes.section("", nodes.title("", title), *parts)


@pytest.mark.parametrize(
    ("inner", "before"),
    [
        ([], None),
        (["Exercise 9.3 · A task"], "Exercise 9.3 · A task"),
        (["A test", "Exercise 9.4 · A task", "What to report"], None),
        (["A test", "Exercise 9.4 · A task"], "Exercise 9.4 · A task"),
    ],
)
def test_the_claims_of_a_section_follow_its_text_and_precede_its_last_exercises(inner, before):
    whole, line = section("9.6 A section", *map(section, inner)), nodes.paragraph("", "claims")
    claims._close(whole, line)
    order = [one for one in whole.findall() if isinstance(one, nodes.title) or one is line]
    after = order[order.index(line) + 1 :]
    assert (after[0].astext() if after else None) == before


def test_the_list_for_code_hosts_is_the_claims_as_they_are():
    stored = claims_list.PAGE.read_text(encoding="utf-8")
    assert stored == claims_list.fresh(), "run python tools/publishing/claims_list.py"
    assert stored.count("\n- **") == len(EVERY)
