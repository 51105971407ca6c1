"""What the book claims of trained models, how each claim was attacked, and what came of it.

chapters/appendix/claims.yaml has one entry for each claim, by chapter:

- id, claim: a name for links, and the sentence, with {numbers}; a number after "at least" is
  rounded down and one after "at most" up, so that the sentence stays true;
- where: sections ("4.5") and figures ("Figure 4.2") that rest on it;
- study, settings, data: the stored study, all its settings that the numbers read, and what was
  tested; the settings of other studies are found in the numbers;
- numbers: names to expressions over the stored study, see `Stored`; the sentences name them;
- holds: comparisons of these numbers, each of which must be true;
- attacks: what was tried, under the names in `ATTACKS`, with the result; a name that is missing was
  not tried;
- limits: what the evidence does not cover, if there is more to say than which attacks are missing;
- outside: the attacks that do not apply, such as more training of a count;
- repeated: one of `REPEATED` if the runs under "seeds" are not training runs;
- before: a wider or false statement, which a claim that is narrowed or refuted has, and one that
  is open may have; the page strikes it out, and says in the same sentence that it is not claimed;
- verdict: one of `VERDICTS`, the first that applies: open if the main statement of the claim is
  that something is not shown, because our experiments cannot decide it; refuted if a result under
  the conditions of the claim contradicts `before`, or if that excludes exceptions and the entry
  reports one; narrowed if `before` fails elsewhere or was not shown; budget if longer training or
  another learning rate changes the claim, or if one of the two applies and was not tried; stands if
  both were tried as far as they apply, and no attempt changed the claim;
- changed: the attacks, of those in `BUDGET`, that change a claim with the verdict "budget"; without
  this field, one of them was not tried;
- change: an observation that would contradict the claim as it is worded, such as further seeds with
  another result; for an open claim, what would decide it;
- limited: an observation under other conditions, such as a larger corpus, that would leave the
  claim true of these data and restrict it to them.

The page is made when the book is built ({stored-table} claims-attempts, claims-tally, claims and
claims-settings), and every section and figure that a claim names gets a link to its entry.
tests/house/appendix/test_claims.py evaluates every expression, and tries wrong versions of the
sentences.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from statistics import mean, median, stdev
from textwrap import dedent

import yaml
from docutils import nodes
from page_links import MENTION
from sphinx.application import Sphinx
from stored_tables import CHAPTERS, TABLES, link, places, table, titles

from gates2heads.book.studies import read_study
from gates2heads.figures.charts.bounds import outwards
from gates2heads.metrics.seeds import seed_interval

CLAIMS = CHAPTERS / "appendix" / "claims.yaml"
PAGE = "chapters/appendix/claims"
TASKS = ("Exercise", "Explore")  # parts of a section in which the reader works
ATTACKS = {
    "training": "More training",
    "rate": "Other learning rates",
    "seeds": "Single runs or further training seeds",
    "test": "Other test data or another score",
    "rival": "An alternative explanation",
}
# What replaces the label of "seeds" in an entry whose runs are not training runs.
REPEATED = {
    "sampling": "Further sampling seeds, without further training",
    "timings": "Repeated timings",
}
# The attacks that decide between "budget" and "stands", with what an entry says if one of them
# changes the claim, and if it was not tried.
BUDGET = {
    "training": ("more training changes the claim", "more training was not tried"),
    "rate": ("another learning rate changes the claim", "other learning rates were not tried"),
}
LISTED = 8  # settings that the line of evidence names at most; longer lists end the entry
VERDICTS = {  # the first that applies
    "open": "open",
    "refuted": "replaces a refuted statement",
    "narrowed": "narrowed",
    "budget": "stands for this training budget",
    "stands": "stands",
    "untested": "untested",
}
# The same as heads of a table that fits the screen of a telephone; the page explains two of them.
# A soft hyphen marks where a head may be divided.
HEADS = {
    **VERDICTS,
    "budget": "bud\N{SOFT HYPHEN}get",
    "narrowed": "nar\N{SOFT HYPHEN}rowed",
    "refuted": "re\N{SOFT HYPHEN}futed",
}
# A number that bounds others, and how its digits are written: "at least {x:.1f}", "at most {x:.0%}"
BOUND = re.compile(r"\bat (least|most) \{(\w+)(?::(,?)(?:\.(\d+))?([f%d])?)?\}")


class Stored:
    """The functions that an expression of claims.yaml may use; each reads a stored study.

    All but `half_width` take a study, a setting and the way to a value in the result of a run, such
    as `least("forcing", "teacher", "test", "right")`. A list of truth values stands for how many of
    them are true.
    """

    @staticmethod
    def runs(study: str, setting: str, *way: str | int) -> list[float]:
        """Return the value of every run of a setting."""
        rows = _study(study)
        found = [_follow(row["result"], way) for row in rows if row["setting"] == setting]
        if not found:
            raise KeyError(f"{study} has no setting {setting}")
        return found

    @classmethod
    def seeds(cls, study: str, setting: str) -> int:
        """Return the number of runs of a setting."""
        return len(cls.runs(study, setting))

    @classmethod
    def least(cls, *where: str | int) -> float:
        """Return the smallest value of the runs."""
        return min(cls.runs(*where))

    @classmethod
    def most(cls, *where: str | int) -> float:
        """Return the largest value of the runs."""
        return max(cls.runs(*where))

    @classmethod
    def mean(cls, *where: str | int) -> float:
        """Return the mean of the runs."""
        return mean(cls.runs(*where))

    @classmethod
    def median(cls, *where: str | int) -> float:
        """Return the median of the runs."""
        return median(cls.runs(*where))

    @classmethod
    def error(cls, *where: str | int) -> float:
        """Return the standard error of the mean of the runs."""
        values = cls.runs(*where)
        return stdev(values) / len(values) ** 0.5

    @staticmethod
    def half_width(values: Sequence[float]) -> float:
        """Return half of the 95 % interval of the mean of `values`, such as one per seed."""
        low, high = seed_interval(values)
        return (high - low) / 2

    @classmethod
    def names(cls) -> dict[str, Callable]:
        """Map each function's name to it, as expressions find them."""
        own = ("runs", "seeds", "least", "most", "mean", "median", "error", "half_width")
        return {name: getattr(cls, name) for name in own} | {
            "abs": abs,
            "min": min,
            "max": max,
            "sum": sum,
            "zip": zip,
            "len": len,
            "all": all,
        }


_study = cache(read_study)  # a page of claims asks for each study many times


def _follow(value: object, way: tuple) -> object:
    for part in way:
        value = value[part]
    is_marks = isinstance(value, list) and value and all(isinstance(one, bool) for one in value)
    return sum(value) if is_marks else value


@cache
def read_claims(path: Path = CLAIMS) -> dict[int, list[dict]]:
    """Return the claims, by chapter."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def numbers_of(claim: dict, stored: type[Stored] = Stored) -> dict[str, float]:
    """Evaluate the numbers of a claim, in their order; one may use those before it."""
    known = {}
    for name, expression in claim.get("numbers", {}).items():
        known[name] = _evaluate(expression, known, stored)
    return known


@cache
def _numbers_in(expressions: tuple[tuple[str, str], ...]) -> dict[str, float]:
    """Evaluate numbers once for all sentences of an entry."""
    return numbers_of({"numbers": dict(expressions)})


def settings_read(claim: dict) -> dict[str, list[str]]:
    """Return the settings that the numbers of a claim read, by study."""
    read = {}

    class Noting(Stored):
        @staticmethod
        def runs(study: str, setting: str, *way: str | int) -> list[float]:
            read.setdefault(study, {})[setting] = None
            return Stored.runs(study, setting, *way)

    numbers_of(claim, Noting)
    return {study: list(settings) for study, settings in read.items()}


def holds(claim: dict) -> dict[str, bool]:
    """Evaluate every comparison of a claim."""
    known = numbers_of(claim)
    return {one: bool(_evaluate(one, known)) for one in claim.get("holds", [])}


def _evaluate(expression: str, known: dict, stored: type[Stored] = Stored) -> object:
    # The file is the book's own; only the functions of `Stored` are in reach.
    return eval(expression, {"__builtins__": {}, **stored.names(), **known})


def written(text: str, claim: dict) -> str:
    """Put the numbers of a claim into one of its sentences; a bound is never rounded inwards."""
    known = _numbers_in(tuple(claim.get("numbers", {}).items()))
    text = BOUND.sub(lambda found: _bound(found, known), " ".join(text.split()))
    text = re.sub(r"(?<=\d) ?%", "\N{NO-BREAK SPACE}%", text.format(**known))
    return re.sub(r"(?<![\w-])-(?=\d)", "\N{MINUS SIGN}", text)


def _bound(found: re.Match, known: dict) -> str:
    side, name, comma, digits, kind = found.groups()
    value, places = known[name], int(digits or 0) + (2 if kind == "%" else 0)
    if isinstance(value, float):
        value = outwards(value, places, side)
    comma = comma or ""
    return f"at {side} " + format(value, f"{comma}.{digits or 0}{kind}" if kind else comma)


def _every() -> list[dict]:
    """Return the claims of all chapters."""
    return [entry for entries in read_claims().values() for entry in entries]


def tally() -> list[str]:
    """Count the verdicts of each chapter, and of all."""
    rows, every = [], _every()
    count = Counter(entry["verdict"] for entry in every)
    given = {verdict: count[verdict] for verdict in VERDICTS if count[verdict]}
    for chapter, entries in read_claims().items():
        count = Counter(entry["verdict"] for entry in entries)
        name = f'<a href="#{nodes.make_id(heading(chapter))}">{chapter}</a>'
        rows.append((name, len(entries), *(count[verdict] for verdict in given)))
    rows.append(("all", len(every), *(given[verdict] for verdict in given)))
    return table(("ch.", "all", *(HEADS[verdict] for verdict in given)), rows)


def applicable(claim: dict) -> list[str]:
    """Return the names of the attacks that apply to a claim."""
    return [name for name in ATTACKS if name not in claim.get("outside", ())]


def untried(claim: dict) -> list[str]:
    """Return those attacks in `BUDGET` that apply to a claim and were not tried."""
    return [name for name in applicable(claim) if name in BUDGET and name not in claim["attacks"]]


def reasons(claim: dict) -> list[str]:
    """Tell why a claim stands for this training budget only."""
    told = {name: BUDGET[name][0] for name in claim.get("changed", ())}
    told |= {name: BUDGET[name][1] for name in untried(claim)}
    return [told[name] for name in BUDGET if name in told]


def attempts() -> list[str]:
    """Count the attempts that were made, of each kind and for each claim."""
    every = _every()
    kinds = Counter(name for entry in every for name in entry["attacks"])
    made = Counter(len(entry["attacks"]) for entry in every)
    applies = Counter(name for entry in every for name in applicable(entry))
    for entry in every:  # samples and timings have rows of their own
        if "repeated" in entry:
            for count in (kinds, applies):
                count["seeds"] -= 1
                count[entry["repeated"]] += 1
    return [
        f"Of {sum(len(applicable(entry)) for entry in every)} attempts that apply, "
        f"{kinds.total()} were made.",
        "",
        *table(
            ("attempt", "made for"),
            [
                (label, f"{kinds[name]} of {applies[name]} claims")
                for name, label in (ATTACKS | REPEATED).items()
            ],
        ),
        "",
        *table(
            ("attempts made", *map(str, range(len(ATTACKS) + 1))),
            [("claims", *(made[count] for count in range(len(ATTACKS) + 1)))],
        ),
    ]


def claims() -> list[str]:
    """Show all claims, by chapter."""
    lines = []
    for chapter, entries in read_claims().items():
        lines += [f"## {heading(chapter)}", ""]
        for entry in entries:
            lines += [*_entry(entry, _numbers_of_entries()[entry["id"]]), ""]
    return lines


@cache
def heading(chapter: int) -> str:
    """Return the heading of a chapter's entries, such as "Chapter 6: Self-attention"."""
    notebook = next(
        path for path in CHAPTERS.glob(f"{chapter:02}_*.ipynb") if "_further" not in path.name
    )
    return f"Chapter {chapter}: {titles(notebook)[0].partition('·')[2].strip()}"


def anchor(claim: dict) -> str:
    """Return the anchor of an entry on the page."""
    return f"claim-{claim['id']}"


def _entry(claim: dict, number: str) -> list[str]:
    """Show a claim, with the statement that it replaces; evidence and attempts are folded up."""
    where = ", ".join(one if one.startswith("Figure") else link(one) for one in claim["where"])
    study, read = claim["study"], settings_read(claim)
    counted = {study: claim["settings"]} | {
        one: settings for one, settings in read.items() if one != study
    }
    is_long = sum(map(len, counted.values())) > LISTED
    told_of = _number_of_settings if is_long else _counted
    evidence = told_of(study, claim["settings"])
    tried = {name: claim["attacks"][name] for name in ATTACKS if name in claim["attacks"]}
    labels = ATTACKS | ({"seeds": REPEATED[claim["repeated"]]} if "repeated" in claim else {})
    missing = [labels[name].lower() for name in applicable(claim) if name not in tried]
    outside = [ATTACKS[name].lower() for name in claim.get("outside", ())]
    others = [
        f"{_named(one)}: {told_of(one, settings)}"
        for one, settings in counted.items()
        if one != study
    ]
    also = f"; numbers also from {'; '.join(others)}" if others else ""
    details = [
        f"- **Where in the book:** {where}.",
        f"- **Evidence:** {written(claim['data'], claim)}; study {_named(study)}, "
        f"{'' if is_long else 'with the number of runs of each setting: '}{evidence}{also}"
        f"{'; all are listed below, with the number of runs' if is_long else ''}.",
        *(f"- **{labels[name]}:** {written(text, claim)}" for name, text in tried.items()),
    ]
    if "limits" in claim:
        details.append(f"- **Limits:** {written(claim['limits'], claim)}")
    if claim["verdict"] == "budget":
        details.append(f"- **Why for this training budget only:** {'; '.join(reasons(claim))}.")
    if missing:
        details.append(f"- **Not tried:** {', '.join(missing)}.")
    if outside:
        details.append(f"- **Does not apply:** {', '.join(outside)}.")
    label = "decide" if claim["verdict"] == "open" else "overturn"
    details.append(f"- **What would {label} this:** {written(claim['change'], claim)}")
    if "limited" in claim:
        told = written(claim["limited"], claim)
        details.append(f"- **What would narrow its scope:** {told}")
    if is_long:
        details += ["", f"The settings of entry {number}, with the number of runs:", ""]
        details += [f"- `{one}`: {_counted(one, settings)}" for one, settings in counted.items()]
    verdict = claim["verdict"]
    before = [withdrawn(claim), ""] if "before" in claim else []
    made = f"{len(tried)} of {len(applicable(claim))} attempts made"
    return [
        f'<div class="g2h-entry" data-verdict="{verdict}" id="{anchor(claim)}">',
        "",
        f'<a href="#{anchor(claim)}">{number}</a> **{written(claim["claim"], claim)}**',
        "",
        *before,
        f"<details><summary>{VERDICTS[verdict].capitalize()}: evidence, {made}</summary>",
        "",
        *details,
        "",
        "</details>",
        "",
        "</div>",
    ]


def settings_explained() -> list[str]:
    """Show what every study of the page says about its settings, folded up."""
    lines = []
    for study in sorted({one for entry in _every() for one in settings_read(entry)}):
        module = CHAPTERS.parent / "studies" / f"{study}.py"
        told = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8")))
        opened = f'<details id="{_anchor_of(study)}"><summary>{study}</summary>'
        lines += [opened, "", *_from_docstring(told), "</details>", ""]
    return lines


def _from_docstring(told: str) -> list[str]:
    """Turn a docstring into Markdown: its indented paragraphs are commands, the others prose."""
    lines = []
    for paragraph in told.split("\n\n"):
        if all(line.startswith("    ") for line in paragraph.splitlines()):
            lines += ["```text", *dedent(paragraph).splitlines(), "```", ""]
        else:  # a "<" outside of code is not the beginning of a tag
            lines += [re.sub(r"(`[^`]*`)|<", lambda found: found[1] or "&lt;", paragraph), ""]
    return lines


def _anchor_of(study: str) -> str:
    return nodes.make_id(f"settings of {study}")


def _named(study: str) -> str:
    """Name a study with a link to what its settings mean."""
    return f'<a href="#{_anchor_of(study)}">`{study}`</a>'


def _counted(study: str, settings: Sequence[str]) -> str:
    """Name the settings of a study, each with the number of its runs."""
    return ", ".join(f"`{one}` ({Stored.seeds(study, one)})" for one in settings)


def _number_of_settings(study: str, settings: Sequence[str]) -> str:
    """Say how many settings of a study an entry reads."""
    return f"{len(settings)} setting{'' if len(settings) == 1 else 's'}"


def withdrawn(claim: dict) -> str:
    """Tell the wider or former statement, struck out, so that nobody takes it for a claim."""
    old = written(claim["before"], claim).removesuffix(".")
    for outer, inner in zip("“”", "‘’", strict=True):
        old = old.replace(outer, inner)
    label, fault = (
        ("Refuted", "is false as worded")
        if claim["verdict"] == "refuted"
        else ("Not claimed", "says more than the experiments show")
    )
    return f"**{label}:** the statement <del>“{old}”</del> {fault}."


TABLES["claims"] = claims
TABLES["claims-tally"] = tally
TABLES["claims-attempts"] = attempts
TABLES["claims-settings"] = settings_explained


@cache
def _claims_at() -> dict[str, list[dict]]:
    found = {}
    for entries in read_claims().values():
        for entry in entries:
            for where in entry["where"]:
                found.setdefault(where, []).append(entry)
    return found


def mark(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Lead from the sections and figures of a chapter to the claims that rest on them."""
    if app.builder.format != "html" or not page.startswith("chapters/") or "appendix" in page:
        return
    address = app.builder.get_relative_uri(page, PAGE)
    anchors = {target.partition("#")[2]: where for where, target in _targets(page).items()}
    for section in list(doctree.findall(nodes.section)):
        for name in section["ids"]:
            if found := _claims_at().get(anchors.get(name, "")):
                section_name = re.sub(r"^\d+F ", "", anchors[name])  # "1F H" is H on its page
                label = f"Claims of section {section_name}, and how we tested them: "
                _close(section, _links(label, address, found))
    for caption in list(doctree.findall(nodes.strong)):
        mention = MENTION.match(caption.astext())
        if mention and (found := _claims_at().get(f"Figure {mention[1]}")):
            caption.parent += [
                *_links(" Claims, and how we tested them: ", address, found).children
            ]


def _close(section: nodes.section, line: nodes.paragraph) -> None:
    """Put a line at the end of a section's text, before the exercises that follow it."""
    inner = [one for one in section if isinstance(one, nodes.section)]
    told = [one for one in inner if not one.next_node(nodes.title).astext().startswith(TASKS)]
    if told:
        _close(told[-1], line)
    else:
        section.insert(section.index(inner[0]) if inner else len(section), line)


def _targets(page: str) -> dict[str, str]:
    """The sections of a page, "4.5" to its address."""
    stem = page.rpartition("/")[2]
    return {where: to for where, to in places().items() if f"/{stem}.html#" in to}


def _links(label: str, address: str, found: list[dict]) -> nodes.paragraph:
    line = nodes.paragraph(classes=["g2h-claims"])
    line += nodes.Text(label)
    for claim in found:
        if claim is not found[0]:
            line += nodes.Text(", ")
        target = f"{address}#{anchor(claim)}"
        title = written(claim["claim"], claim)
        line += nodes.reference(
            "",
            _numbers_of_entries()[claim["id"]],
            internal=True,
            refuri=target,
            reftitle=title,
            classes=["g2h-claim"],
        )
    return line


@cache
def _numbers_of_entries() -> dict[str, str]:
    """Map the name of each claim to its number on the page, such as "1-7"."""
    return {
        entry["id"]: f"{chapter}-{number}"
        for chapter, entries in read_claims().items()
        for number, entry in enumerate(entries, start=1)
    }


def setup(app: Sphinx) -> dict:
    """Register with Sphinx."""
    app.connect("doctree-resolved", mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
