"""Write docs/claims.md: every claim with its verdict, as a code host shows it without a build.

    python tools/publishing/claims_list.py

The page of claims in the built book has the evidence and the attempts too; it is made from
chapters/appendix/claims.yaml and the stored studies when the book is built. This list is made from
the same, and a test compares the two.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "_ext"))
import claims  # noqa: E402

PAGE = ROOT / "docs" / "claims.md"
INTRODUCTION = """# The claims in short

This list contains each claim of the book about trained models, its verdict, and the wider or
former statement where one was narrowed or refuted. The page of claims in the built book adds
the evidence, the attempts to refute each claim, and what we did not try;
[claims.yaml](../chapters/appendix/claims.yaml) is its source. To update this list, run
`python tools/publishing/claims_list.py`.
"""


def fresh() -> str:
    """Return the text of the list as the claims and the stored studies are now."""
    every = [one for entries in claims.read_claims().values() for one in entries]
    count = Counter(one["verdict"] for one in every)
    lines = [INTRODUCTION, f"| verdict | of {len(every)} claims |", "|---|--:|"]
    lines += [f"| {label} | {count[name]} |" for name, label in claims.VERDICTS.items()]
    lines.append("")
    for chapter, entries in claims.read_claims().items():
        lines += [f"## Chapter {chapter}", "", *map(_line, entries), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _line(claim: dict) -> str:
    """Tell a claim in one item of a list."""
    verdict = claims.VERDICTS[claim["verdict"]].capitalize()
    made = f"{len(claim['attacks'])} of {len(claims.applicable(claim))} attempts"
    text = f"- **{verdict}** ({made}). {claims.written(claim['claim'], claim)}"
    return f"{text} {claims.withdrawn(claim)}" if "before" in claim else text


if __name__ == "__main__":
    PAGE.write_text(fresh(), encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)}: {PAGE.stat().st_size:,} bytes")
