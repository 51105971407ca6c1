"""The "Reproduce" line below a figure or table: where its numbers come from, in one small line.

A chapter's sentences say what was measured. How to measure it again is said here, and nowhere else.
"""

from collections.abc import Mapping, Sequence

from IPython.display import display

from gates2heads.book.studies import ROWS, origin

__all__ = ["reproduce", "reproduce_line"]


def reproduce(*studies: Sequence[Mapping]) -> None:
    """Display one small line with the command, seeds, duration and machine behind stored runs.

    Call it last in the cell that shows the figure or table, with the rows that are shown there:
    `reproduce(read_study("ch08/beam_widths"))`.

    Args:
        studies: rows of one study each, as `read_study` gives.

    Raises:
        TypeError: no study is given, or one is not a list of rows.
        ValueError: a study has no rows.
    """
    line = reproduce_line(*studies)
    display({"text/markdown": line, "text/plain": line}, raw=True)


def reproduce_line(*studies: Sequence[Mapping]) -> str:
    """Write the same line as Markdown, for the end of a folded text that `prose` displays.

    Returns:
        such as "**Reproduce:** `python -m studies.ch10.translators gru --seeds 0 1`, 7 min (Intel
        Xeon)", in small type; several studies are separated by semicolons.

    Raises:
        TypeError, ValueError: as in `reproduce`.
    """
    if not studies:
        raise TypeError("reproduce needs the rows of at least one study, got none")
    for place, rows in enumerate(studies):
        ROWS(least=1).check(f"studies[{place}]", rows)
    origins = "; ".join(origin(rows) for rows in studies)
    return f"<small>**Reproduce:** {origins}</small>"
