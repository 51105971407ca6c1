"""Diagrams of word models: word2vec's predictions, and the Huffman tree."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from gates2heads.accepts import accepts, mapping, natural, string, strings
from gates2heads.accepts.shown import shown
from gates2heads.figures.diagrams.diagram import Diagram

AROUND = ("a", "dog", "through", "snow")  # the window of "a dog runs through snow"
CENTER = "runs"


def skip_gram_and_cbow() -> Figure:
    """Draw both models of word2vec on one window of five words.

    Returns:
        The figure, for `show`.
    """
    d = Diagram()
    d.box("centre", CENTER, at=(0, 1.5))
    d.box("vector", "vector of the centre word", at=(1, 1.5), shape="(D,)")
    for row, word in enumerate(AROUND):
        d.box(f"to {word}", f"P({word} | {CENTER})", at=(2, row), colour="orange")
        d.box(f"from {word}", word, at=(3, row))
    d.box("mean", "mean of the vectors", at=(4, 1.5), shape="(D,)")
    d.box("guess", f"P({CENTER} | context)", at=(5, 1.5), colour="orange")
    d.arrow("centre", "vector")
    for word in AROUND:
        d.arrow("vector", f"to {word}", route="across")
        d.arrow(f"from {word}", "mean", route="across")
    d.arrow("mean", "guess")
    d.group("Skip-gram", "centre", "vector", *(f"to {word}" for word in AROUND))
    d.group("CBOW", "mean", "guess", *(f"from {word}" for word in AROUND))
    return d.draw()


@accepts(words=strings(least=2), size=natural)
def sliding_window(words: Sequence[str], size: int) -> Figure:
    """Draw the window at each position of a sentence, and what skip-gram predicts there.

    Args:
        words: the sentence, one row for each of its words.
        size: how many words the window covers on either side of the centre word.

    Returns:
        The figure, for `show`: the centre word in orange, its context words in blue, the other
        words without a frame; on the right the centre word and the words predicted from it.
    """
    d = Diagram(row_gap=0.12)
    for row, centre in enumerate(words):
        for column, word in enumerate(words):
            kind = "box" if abs(column - row) <= size else "plain"
            colour = "orange" if column == row else "blue"
            d.box(f"{row} {column}", word, at=(column, row), kind=kind, colour=colour)
        context = [*words[max(0, row - size) : row], *words[row + 1 : row + 1 + size]]
        predicted = f"{centre} → {', '.join(context)}"
        d.box(f"predicted {row}", predicted, at=(len(words), row), kind="plain")
    return d.draw()


@accepts(paths=mapping("words to lists of (node, turn)"), shown_word=string)
def word_tree(paths: Mapping[str, Sequence[tuple[int, int]]], shown_word: str) -> Figure:
    """Draw a tree of words, and in orange the path to one of them.

    Args:
        paths: word → its path from the root, (inner node, turn) at each step, turn +1 = left, as
            `HuffmanTree.path` gives it.
        shown_word: whose path is marked.

    Returns:
        The figure, for `show`.

    Raises:
        ValueError: there are fewer than two words, or `shown_word` is not among them.
    """
    _check_paths(paths, shown_word)
    places = _columns(paths)
    marked = {node for node, _ in paths[shown_word]}
    d = Diagram()
    depth = {node: step for way in paths.values() for step, (node, _) in enumerate(way)}
    for node, step in depth.items():
        colour = "orange" if node in marked else "blue"
        d.box(f"node {node}", f"u{node}", at=(places[node], step), kind="round", colour=colour)
    for word, way in paths.items():
        colour = "orange" if word == shown_word else "blue"
        d.box(f"word {word}", word, at=(places[word], len(way)), colour=colour)
    for (node, _), end in _edges(paths).items():
        name = f"word {end}" if isinstance(end, str) else f"node {end}"
        d.arrow(f"node {node}", name, route="across then down")
    return d.draw()


def _edges(paths: Mapping[str, Sequence[tuple[int, int]]]) -> dict[tuple[int, int], str | int]:
    """The child of each inner node for each turn: an inner node or a word."""
    found: dict[tuple[int, int], str | int] = {}
    for word, way in paths.items():
        ends = [*(node for node, _ in way[1:]), word]
        found |= {tuple(step): end for step, end in zip(way, ends, strict=True)}
    return found


def _columns(paths: Mapping[str, Sequence[tuple[int, int]]]) -> dict[str | int, float]:
    """The column of each word, from left to right, and of each inner node, between its sides."""
    in_order = sorted(paths, key=lambda word: [-turn for _, turn in paths[word]])
    found: dict[str | int, float] = {word: 2.0 * place for place, word in enumerate(in_order)}
    edges = _edges(paths)
    depth = {node: step for way in paths.values() for step, (node, _) in enumerate(way)}
    for node in sorted(depth, key=depth.get, reverse=True):
        found[node] = (found[edges[node, 1]] + found[edges[node, -1]]) / 2
    return found


def _check_paths(paths: Mapping, shown_word: str) -> None:
    """Reject anything but the set of paths of one tree."""
    if len(paths) < 2 or len({tuple(map(tuple, way)) for way in paths.values()}) < len(paths):
        raise ValueError(
            f"paths must lead to two words or more, each its own way, got {len(paths)}"
        )
    turns = {(node, turn) for way in paths.values() for node, turn in way}
    if any((node, -turn) not in turns for node, turn in turns):
        raise ValueError("paths must be those of a whole tree, but at one node a side is missing")
    if shown_word not in paths:
        raise ValueError(f"shown_word must be one of the words of paths, got {shown(shown_word)}")
