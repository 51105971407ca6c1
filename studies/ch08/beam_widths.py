"""Effect of the beam width. Sections 8.6 and 8.7 show the results.

    GATES2HEADS_DATA=… python -m studies.ch08.beam_widths
    python -m studies.ch08.beam_widths --table

A setting is a split of the captions. The translator of the book searches for every caption with
beams of several widths. Finished hypotheses keep their slots, so that width 1 is greedy search. All
finished hypotheses are stored, so that every exponent α of the length penalty chooses among the
same sequences. On the test captions of 2016, an exact search then tests whether any sequence is
more probable than the best of all widths; if it finishes, the most probable sequence is known.

`widths` holds, for each width and α: BLEU with its brevity penalty, lengths, the log-probability,
and the difference in BLEU to widths 1, 2 and 5 under the same α with the 95 % interval of a paired
bootstrap (`over`). For each width it also has the search errors, and `oracle`: BLEU if the
hypothesis with the best sentence BLEU were chosen. `nothing` is about the log-probability of the
empty translation.
"""

import sys
import time
from collections.abc import Sequence

import numpy as np
import torch

from gates2heads.book.studies import Study
from gates2heads.data.batches.pairs import pad
from gates2heads.decoding.beam import beam
from gates2heads.decoding.lengths import Power
from gates2heads.decoding.references.exact import exact
from gates2heads.metrics.bleu import Bleu
from gates2heads.metrics.significance import paired_bootstrap
from gates2heads.training.checkpoints import shipped_weights
from gates2heads.training.recipes.runs import load

WIDTHS = (1, 2, 3, 5, 10, 20, 50)
RIVALS = (1, 2, 5)  # widths that the wider ones are compared with
ALPHAS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.2, 1.5)
LONGEST = 64  # tokens that are written at most; the longest caption has fewer
ROWS = 1000  # sequences that are searched in parallel
LIMIT, NEAR = 3000, 1e-3  # prefixes of an exact search; log-probabilities that rounding moves


class Searched:
    """The finished hypotheses of one beam for every caption of a split."""

    def __init__(self, trained, texts: Sequence[str], width: int):
        self.width, self.found = width, [[]] * len(texts)  # (tokens, log_prob), the best first
        self.scored = 0
        begin, words = time.perf_counter(), trained.target.vocabulary
        read = [trained.source.encode(text) for text in texts]
        order = sorted(range(len(texts)), key=lambda number: len(read[number]))
        together = max(1, ROWS // width)
        for start in range(0, len(order), together):
            some = order[start : start + together]
            tokens, mask = pad([read[number] for number in some])
            with torch.no_grad():
                state = trained.model.start(tokens, mask=mask)
            best = beam(
                trained.model.step,
                state,
                bos=torch.full((len(some),), words.bos),
                eos=words.eos,
                max_length=LONGEST,
                width=width,
                n_best=width,
            )
            self.scored += int(best.scored.sum())
            for place, number in enumerate(some):
                self.found[number] = [
                    (row[:length], log_prob)
                    for row, length, log_prob in zip(
                        *(part[place].tolist() for part in best[:3]), strict=True
                    )
                    if length
                ]
        self.seconds = time.perf_counter() - begin
        print(f"width {width}: {self.seconds:.0f} s", file=sys.stderr, flush=True)

    def chosen(self, alpha: float) -> list[tuple[list[int], float]]:
        """The best of each caption under L^alpha."""
        rule = Power(alpha)
        return [max(some, key=lambda one: rule.score(one[1], len(one[0]))) for some in self.found]


class Judge:
    """Scores the translations of the captions of a split."""

    def __init__(self, trained, wanted: Sequence[str]):
        self.bleu, self.target, self.wanted = Bleu(), trained.target, [[text] for text in wanted]
        self.single = Bleu(effective_order=True)

    def statistics(self, tokens: Sequence[Sequence[int]]) -> np.ndarray:
        """The counts of BLEU, a row a caption."""
        return self.bleu.statistics([self.target.decode(one) for one in tokens], self.wanted)

    def score(self, sums) -> float:
        """BLEU of counts that were added up."""
        return self.bleu.from_statistics(sums).score

    def of_each(self, statistics: np.ndarray) -> np.ndarray:
        """BLEU of each caption by itself."""
        return np.array([self.single.from_statistics(row).score for row in statistics])

    def oracle(self, searched: Searched) -> float:
        """BLEU, if the best of all finished hypotheses could be identified by its own score."""
        best = []
        for number, some in enumerate(searched.found):
            texts = [self.target.decode(tokens) for tokens, _ in some]
            rows = self.bleu.statistics(texts, [self.wanted[number]] * len(texts))
            best.append(rows[self.of_each(rows).argmax()])
        return self.score(np.sum(best, axis=0))


def summary(judge: Judge, chosen, counts: np.ndarray, rivals: dict[int, np.ndarray]) -> dict:
    """The results of one choice for each caption, beside the counts of some other widths."""
    whole = judge.bleu.from_statistics(counts.sum(axis=0))
    over = {}
    for width, others in rivals.items():
        compared = paired_bootstrap(counts, others, judge.score, seed=0)
        over[width] = [compared.difference, *compared.interval_difference]
    return {
        "bleu": whole.score,
        "brevity_penalty": whole.brevity_penalty,
        "precision": whole.score / whole.brevity_penalty,
        "length_ratio": whole.hypothesis_length / whole.reference_length,
        "over": over,
        "log_prob": float(np.mean([log_prob for _, log_prob in chosen])),
        "tokens": float(np.mean([len(tokens) for tokens, _ in chosen])),
        "empty": sum(len(tokens) < 2 for tokens, _ in chosen),
    }


def by_alpha(judge: Judge, beams: dict[int, Searched], width: int) -> list[dict]:
    """The results of one width, for each α."""
    rows = []
    for alpha in ALPHAS:
        counts = {
            other: judge.statistics([tokens for tokens, _ in beams[other].chosen(alpha)])
            for other in {width, *(rival for rival in RIVALS if rival < width)}
        }
        rows.append(summary(judge, beams[width].chosen(alpha), counts.pop(width), counts))
    return rows


def moved(judge: Judge, before, after) -> dict:
    """Of the captions for which a wider beam found a more probable sequence: did it get better?"""
    rose = [n for n in range(len(before)) if after[n][1] > before[n][1] + NEAR]
    scores = [
        judge.of_each(judge.statistics([tokens for tokens, _ in one])) for one in (before, after)
    ]
    change = (scores[1] - scores[0])[rose]
    return {
        "likelier": len(rose),
        "better": int((change > 0).sum()),
        "worse": int((change < 0).sum()),
        "change": float(change.mean()) if rose else 0.0,
    }


def nothing(trained, texts: Sequence[str]) -> list[float]:
    """The log-probability of each caption's empty translation, `<eos>` alone."""
    found = []
    for text in texts:
        with torch.no_grad():
            state = trained.model.start(torch.tensor([trained.source.encode(text)]))
            words = trained.target.vocabulary
            log_probs, _ = trained.model.step(state, torch.tensor([words.bos]))
        found.append(log_probs[0, words.eos].item())
    return found


def likeliest(trained, texts: Sequence[str], known) -> list[tuple[list[int], float, bool, int]]:
    """The most probable sequence of each caption, whether it is proven, and the prefixes used.

    Args:
        known: the most probable one of any beam, (tokens, log_prob) of each caption.
    """
    words, best = trained.target.vocabulary, []
    for number, (text, (tokens, log_prob)) in enumerate(zip(texts, known, strict=True)):
        with torch.no_grad():
            state = trained.model.start(torch.tensor([trained.source.encode(text)]))
        found = exact(
            trained.model.step,
            state,
            bos=words.bos,
            eos=words.eos,
            max_length=LONGEST,
            threshold=log_prob + NEAR,
            limit=LIMIT,
        )
        better = found.tokens is not None
        one = (found.tokens, found.log_prob) if better else (tokens, log_prob)
        best.append((*one, found.proven, found.prefixes))
        if number % 100 == 99:
            print(f"exact: {number + 1} captions", file=sys.stderr, flush=True)
    return best


def run(split: str, seed: int) -> dict:
    """Search the captions of a split; nothing is random, so the seed has no effect."""
    trained = load(shipped_weights("translator"))
    texts, wanted = map(list, zip(*trained.task.pairs(split), strict=True))
    judge = Judge(trained, wanted)
    beams = {width: Searched(trained, texts, width) for width in WIDTHS}
    likely = {width: beams[width].chosen(0.0) for width in WIDTHS}
    known = [max(some, key=lambda one: one[1]) for some in zip(*likely.values(), strict=True)]
    result = {"captions": len(texts), "longest": LONGEST, "alphas": ALPHAS, "widths": {}}
    result["signature"] = judge.bleu.corpus([wanted[0]], [[wanted[0]]]).signature
    proven = []
    if split == "test":
        begin = time.perf_counter()
        best = likeliest(trained, texts, known)
        proven = [number for number, one in enumerate(best) if one[2]]
        result["exact"] = exactly(judge, best, proven, likely, time.perf_counter() - begin)
        known = [one[:2] for one in best]
    empty = nothing(trained, texts)  # beside the best known, on test that of the exact search
    result["nothing"] = {
        "log_prob": float(np.mean(empty)),
        "highest": max(empty),
        "likelier": sum(one > best[1] for one, best in zip(empty, known, strict=True)),
    }
    for width, searched in beams.items():
        short = {n for n in range(len(texts)) if likely[width][n][1] < known[n][1] - NEAR}
        result["widths"][width] = {
            "seconds": round(searched.seconds, 1),
            "scored": searched.scored / len(texts),
            "oracle": judge.oracle(searched),
            "search_errors": len(short),
            "search_errors_proven": len(short & set(proven)),
            "over_greedy": moved(judge, likely[1], likely[width]),
            "over_five": moved(judge, likely[5], likely[width]) if width > 5 else None,
            "alphas": by_alpha(judge, beams, width),
        }
    return result


def exactly(judge: Judge, best, proven: list[int], likely: dict, seconds: float) -> dict:
    """The results of the exact search: BLEU and lengths on the captions that it finished."""

    def on_proven(chosen) -> dict:
        counts = judge.statistics([one[0] for one in chosen])[proven].sum(axis=0)
        whole = judge.bleu.from_statistics(counts)
        return {
            "bleu": whole.score,
            "brevity_penalty": whole.brevity_penalty,
            "length_ratio": whole.hypothesis_length / whole.reference_length,
            "log_prob": float(np.mean([chosen[n][1] for n in proven])),
        }

    prefixes = sorted(best[n][3] for n in proven)
    return {
        "limit": LIMIT,
        "seconds": round(seconds, 1),
        "proven": len(proven),
        "beyond_every_beam": sum(
            best[n][1] > max(some[n][1] for some in likely.values()) + NEAR for n in proven
        ),
        "empty": sum(len(best[n][0]) < 2 for n in proven),
        "prefixes": {
            "median": prefixes[len(prefixes) // 2],
            "mean": sum(prefixes) / len(prefixes),
            "most": prefixes[-1],
        },
        "on_proven": on_proven(best),
        "widths_on_proven": {width: on_proven(chosen) for width, chosen in likely.items()},
        "unproven_log_prob": float(
            np.mean([one[1] for n, one in enumerate(best) if n not in set(proven)] or [0.0])
        ),
    }


if __name__ == "__main__":
    Study("ch08/beam_widths", run, ("test", "validation")).main()
