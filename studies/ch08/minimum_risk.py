"""Which of the 50 hypotheses of a beam should be chosen? Section B of chapter 8's Further page.

    GATES2HEADS_DATA=… python -m studies.ch08.minimum_risk
    python -m studies.ch08.minimum_risk --table

The translator searches for every caption of the test set with a beam of 50, as in `beam_widths`.
Among the same finished hypotheses of a caption, each criterion chooses one: the highest
probability; the highest score under length normalisation with α = 1, which was chosen in
`beam_widths` on validation captions; minimum Bayes risk with sentence BLEU as the utility, where
the hypotheses count by their probability or equally; and, as an upper bound, the highest sentence
BLEU against the reference.

Reported for each criterion: BLEU, chrF (which minimum Bayes risk did not optimise), the length
against the reference, and the differences in BLEU and chrF to the first two criteria with the
middle 95 % of a paired bootstrap.
"""

import sys

import torch

from gates2heads.book.studies import Study
from gates2heads.decoding.lengths import Power
from gates2heads.decoding.minimum_risk import expected_utility, pairwise_utility
from gates2heads.metrics.chrf import Chrf
from gates2heads.metrics.significance import paired_bootstrap
from gates2heads.training.checkpoints import shipped_weights
from gates2heads.training.recipes.runs import load
from studies.ch08.beam_widths import Judge, Searched

WIDTH, ALPHA = 50, 1.0
PROBABLE, NORMALISED = "most probable", "length normalisation"
RISK, RISK_EQUAL = "minimum Bayes risk", "minimum Bayes risk, equal weights"
ORACLE = "oracle"


def chosen(judge: Judge, hypotheses, wanted: str) -> dict[str, str]:
    """The text that each criterion chooses among the hypotheses of one caption."""
    texts = [judge.target.decode(tokens) for tokens, _ in hypotheses]
    log_probs = torch.tensor([log_prob for _, log_prob in hypotheses], dtype=torch.double)
    rule = Power(ALPHA)
    normalised = [rule.score(log_prob, len(tokens)) for tokens, log_prob in hypotheses]

    def utility(one: list[str], other: list[str]) -> float:
        (row,) = judge.bleu.statistics([one], [[other]])
        return judge.single.from_statistics(row).score

    # Words instead of strings: each text is cut once, and not again for each pair.
    utilities = pairwise_utility([text.split() or [""] for text in texts], utility)
    oracle = judge.of_each(judge.bleu.statistics(texts, [[wanted]] * len(texts)))
    scores = {
        PROBABLE: log_probs,
        NORMALISED: torch.tensor(normalised),
        RISK: expected_utility(utilities, log_probs),
        RISK_EQUAL: expected_utility(utilities),
        ORACLE: torch.from_numpy(oracle),
    }
    return {name: texts[int(score.argmax())] for name, score in scores.items()}


def run(split: str, seed: int) -> dict:
    """Choose for every caption of a split; nothing is sampled, so the seed changes nothing."""
    trained = load(shipped_weights("translator"))
    texts, wanted = map(list, zip(*trained.task.pairs(split), strict=True))
    judge, searched = Judge(trained, wanted), Searched(trained, texts, WIDTH)
    rows = []
    for number, (hypotheses, reference) in enumerate(zip(searched.found, wanted, strict=True)):
        rows.append(chosen(judge, hypotheses, reference))
        if number % 100 == 99:
            print(f"chosen for {number + 1} captions", file=sys.stderr, flush=True)
    by_name = {name: [row[name] for row in rows] for name in rows[0]}
    metrics = {"bleu": judge.bleu, "chrf": Chrf()}
    counts = {
        key: {name: metric.statistics(by_name[name], judge.wanted) for name in by_name}
        for key, metric in metrics.items()
    }
    result = {"captions": len(texts), "width": WIDTH, "alpha": ALPHA, "criteria": {}}
    for name in by_name:
        entry = {"different": sum(row[name] != row[PROBABLE] for row in rows)}
        for key, metric in metrics.items():
            whole = metric.from_statistics(counts[key][name].sum(axis=0))
            entry[key] = whole.score
            entry |= (
                {"length_ratio": whole.hypothesis_length / whole.reference_length}
                if key == "bleu"
                else {}
            )
            entry[f"{key}_over"] = {
                rival: _difference(counts[key][name], counts[key][rival], metric)
                for rival in (PROBABLE, NORMALISED)
                if rival != name
            }
        result["criteria"][name] = entry
    return result


def _difference(ours, theirs, metric) -> list[float]:
    """The difference, and the middle 95 % of the resampled ones."""

    def score(total) -> float:
        return metric.from_statistics(total).score

    compared = paired_bootstrap(ours, theirs, score, seed=0)
    return [compared.difference, *compared.interval_difference]


if __name__ == "__main__":
    Study("ch08/minimum_risk", run, ("test",)).main()
