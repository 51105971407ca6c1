"""Prose out of docstrings: what stays, what goes, and where a sentence ends."""

import re

from hypothesis import given
from hypothesis import strategies as st

from gates2heads.data.corpora.prose import paragraphs, sentences

NUMPYDOC = """
    Return the largest value of an array, as `~numpy.max` does.

    It reads every value once and keeps
    the largest one.

    Parameters
    ----------
    values : array_like
        The values that are to be compared.
    axis, out : int, optional
        Along which axis to look.  See :func:`the guide <guide>` [1]_ and :class:`.Axes`.

    .. versionadded:: 1.2
       It was not there before this version came out.

    .. note:: short
       This note is prose and it stays.

    See Also
    --------
    argmax : Where the largest value stands first.
    argmin : Where the smallest value stands first.
    nanmax, fmax

    Examples
    --------
    A loop over all values does the same::

        best = values[0]

    Try it on *three* values:

    >>> largest([1, 3, 2])
    3

    ====  =====
    a     table
    ====  =====

    References
    ----------
    .. [1] A. Author, "A book about largest values", 1999.
       Continued here on a second line.
    A second book with a title.
    """


def test_numpydoc_by_hand():
    assert paragraphs(NUMPYDOC) == [
        "Return the largest value of an array, as max does.",
        "It reads every value once and keeps the largest one.",
        "The values that are to be compared.",
        "Along which axis to look. See the guide and Axes.",
        "This note is prose and it stays.",
        "argmax: Where the largest value stands first.",
        "argmin: Where the smallest value stands first.",
        "A loop over all values does the same:",
        "Try it on three values:",
    ]


def test_lists_and_fields_by_hand():
    text = """Do one of these things:

    - read the file and
      close it again
    - write **all** of the ``lines``, see https://example.org/page for more
    - the method `emptyline' may be overridden

    :param name: what the file is called
    :returns: nothing of any use
    Use %(title)s as the title here.
    """
    assert paragraphs(text) == [
        "Do one of these things:",
        "read the file and close it again",
        "write all of the lines, see for more",
        "the method emptyline may be overridden",
        "what the file is called",
        "nothing of any use",
    ]


def test_what_is_too_short_or_no_prose_goes():
    assert paragraphs("") == []
    assert paragraphs("See below.") == []
    assert paragraphs("a = b + c * (d[3] / e[4]) ** 2 - f(g) with that one") == []


def test_sentences_by_hand():
    text = 'Use a set, e.g. A or B. It is "fast." Is it? (Yes! see it.) Mr. The v1.2 ends'
    assert sentences(text) == [
        *("Use a set, e.g. A or B.", 'It is "fast."', "Is it?", "(Yes! see it.)", "Mr."),
        "The v1.2 ends",
    ]


@given(st.text("ab A.\n\t-:`*~>|=%()[]_", max_size=97))
def test_no_docstring_breaks_it(text):
    for paragraph in paragraphs(text):
        assert "\n" not in paragraph
        assert paragraph == " ".join(paragraph.split())
        assert len(re.findall(r"[^\W\d_]{2,}", paragraph)) >= 4
        assert " ".join(sentences(paragraph)) == paragraph
