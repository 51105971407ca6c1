"""Diagrams of a search, of a score, and of two sources of random variation."""

from matplotlib.figure import Figure

from gates2heads.figures.diagrams.diagram import Diagram


def step_of_a_beam() -> Figure:
    """Draw one step of a beam search of width k, `decoding.beam.beam`, for one source.

    Returns:
        The figure, for `show`.
    """
    d = Diagram()
    d.box("prefixes", "prefixes", at=(0, 0), shape="tokens (k, t), log P (k, 1)", kind="plain")
    d.box("model", "model", at=(1, 0), shape="log P of the next (k, V)")
    d.box("sums", "add cumulative log P", at=(2, 0), shape="candidates (k·V)", colour="green")
    d.box("best", "the k most probable", at=(2, 1), shape="prefix, token (k)", colour="green")
    d.box("end", "finished", at=(2, 2), shape="ranked by score", colour="orange")
    d.box("order", "reorder", at=(1, 1), shape="state of each (k, …)")
    d.box("next", "longer prefixes", at=(0, 1), shape="tokens (k, t + 1)", kind="plain")
    d.arrow("prefixes", "model", "last token")
    d.arrow("model", "sums")
    d.arrow("sums", "best")
    d.arrow("best", "end", "<eos>")
    d.arrow("best", "order", "the others")
    d.arrow("order", "next")
    return d.draw()


def two_chances() -> Figure:
    """Draw the computation of one score of the leaderboard from runs of a model and captions.

    Returns:
        The figure, for `show`.
    """
    d = Diagram()
    d.box("model", "configuration", at=(0, 0), shape="fixed training budget", kind="plain")
    d.box("runs", "runs", at=(1, 0), shape="R seeds")
    d.box("texts", "their outputs", at=(2, 0), shape="R × C translations", colour="orange")
    d.box("captions", "test captions", at=(1, 1), shape="C, sampled once", kind="plain")
    d.box("counts", "n-gram counts", at=(2, 1), shape="(R, C, 10)", colour="green")
    d.box("scores", "BLEU of each run", at=(3, 1), shape="q_1 … q_R", colour="green")
    d.box("report", "mean and interval", at=(3, 0), shape="three numbers", colour="green")
    d.arrow("model", "runs", "source 1")
    d.arrow("runs", "texts", "beam of five")
    d.arrow("captions", "counts", "source 2")
    d.arrow("texts", "counts")
    d.arrow("counts", "scores", "summed over C")
    d.arrow("scores", "report")
    return d.draw()


def counts_of_bleu() -> Figure:
    """Draw the computation of `metrics.bleu.Bleu`, from texts to the score.

    Returns:
        The figure, for `show`.
    """
    d = Diagram()
    d.box("x", "hypothesis x", at=(0, 0), shape="tokens", kind="plain", colour="orange")
    d.box("s", "references s", at=(0, 1), shape="K × tokens", kind="plain")
    d.box("own", "n-grams of x", at=(1, 0), colour="orange")
    d.box("most", "maximum count in\nany one reference", at=(1, 1))
    d.box("found", "clipped\nmatches", at=(2, 0), shape="N counts", kind="round", colour="green")
    d.box("share", "precisions", at=(3, 0), shape="P₁, P₂, …", colour="green")
    d.box("short", "penalty b", at=(2, 2), colour="green")
    d.box("score", "BLEU", at=(4, 0), colour="green")
    d.box("length", "lengths", at=(0, 2), kind="plain")
    d.arrow("x", "own")
    d.arrow("s", "most")
    d.arrow("own", "found")
    d.arrow("most", "found", route="across then down")
    d.arrow("found", "share", "÷ n-grams in x")
    d.arrow("share", "score", "geometric mean")
    d.arrow("length", "short")
    d.arrow("short", "score", route="across then down")
    return d.draw()
