"""Which of 50 hypotheses should be chosen? Section B of chapter 8's Further page.

    GATES2HEADS_DATA=… python -m studies.ch08.minimum_risk
    python -m studies.ch08.minimum_risk --table

Setting `test`: the translator searches for every caption of the test set with a beam of 50, as in
`beam_widths`. Each criterion chooses one of the same finished hypotheses: the highest probability;
the highest score under length normalisation with α = 1, which was chosen in `beam_widths` on
validation captions; minimum Bayes risk with sentence BLEU as the utility, where the hypotheses are
weighted by their probability or equally; and, as an upper bound, the highest sentence BLEU against
the reference.

Settings `samples` and `samples, temperature 0.5`: the list consists of 50 samples for each of the
first 500 captions of the test set, from the unmodified distribution or at temperature 0.5. Neither
the temperature nor the number of samples was tuned. Minimum Bayes risk chooses one of the samples,
which are weighted equally. It is compared with greedy search and with a beam of 5 under length
normalisation, the choice of `beam_widths`, on the same captions.

`criteria` has for each criterion BLEU, chrF (which minimum Bayes risk did not optimise), the length
ratio to the reference, and the differences in BLEU and chrF to the first two criteria of the
setting with the 95 % interval of a paired bootstrap.
"""

import sys
from collections import Counter

import torch

from gates2heads.book.studies import Study
from gates2heads.decoding.lengths import Power
from gates2heads.decoding.minimum_risk import expected_utility, pairwise_utility
from gates2heads.metrics.chrf import Chrf
from gates2heads.metrics.significance import paired_bootstrap
from gates2heads.training.checkpoints import shipped_weights
from gates2heads.training.recipes.runs import load
from studies.ch08.beam_widths import Judge, Searched
from studies.ch08.sampling import written

WIDTH, ALPHA = 50, 1.0
SAMPLES, CAPTIONS, NARROW = 50, 500, 5
SAMPLED = {"samples": {}, "samples, temperature 0.5": {"temperature": 0.5}}
SETTINGS = ("test", *SAMPLED)
PROBABLE, NORMALISED = "most probable", "length normalisation"
RISK, RISK_EQUAL = "minimum Bayes risk", "minimum Bayes risk, equal weights"
ORACLE = "oracle"
GREEDY = "greedy search"


def utilities_of(judge: Judge, texts: list[str]) -> torch.Tensor:
    """The sentence BLEU of each text against each other one."""

    def utility(one: list[str], other: list[str]) -> float:
        (row,) = judge.bleu.statistics([one], [[other]])
        return judge.single.from_statistics(row).score

    # Words instead of strings: each text is cut once, and not again for each pair.
    return pairwise_utility([text.split() or [""] for text in texts], utility)


def of_samples(judge: Judge, texts: list[str]) -> str:
    """The sample with the minimum Bayes risk; a text that was drawn n times counts n times."""
    times = Counter(texts)
    weights = torch.tensor(list(times.values()), dtype=torch.double)
    utilities = utilities_of(judge, list(times))
    return list(times)[int(expected_utility(utilities, weights.log()).argmax())]


def chosen(judge: Judge, hypotheses, wanted: str) -> dict[str, str]:
    """The text that each criterion chooses among the hypotheses of one caption."""
    texts = [judge.target.decode(tokens) for tokens, _ in hypotheses]
    log_probs = torch.tensor([log_prob for _, log_prob in hypotheses], dtype=torch.double)
    rule = Power(ALPHA)
    normalised = [rule.score(log_prob, len(tokens)) for tokens, log_prob in hypotheses]

    utilities = utilities_of(judge, texts)
    oracle = judge.of_each(judge.bleu.statistics(texts, [[wanted]] * len(texts)))
    scores = {
        PROBABLE: log_probs,
        NORMALISED: torch.tensor(normalised),
        RISK: expected_utility(utilities, log_probs),
        RISK_EQUAL: expected_utility(utilities),
        ORACLE: torch.from_numpy(oracle),
    }
    return {name: texts[int(score.argmax())] for name, score in scores.items()}


def run(setting: str, seed: int) -> dict:
    """Choose for every caption; in the setting `test`, the seed changes nothing."""
    trained = load(shipped_weights("translator"))
    if setting == "test":
        texts, wanted = map(list, zip(*trained.task.pairs("test"), strict=True))
        judge, searched = Judge(trained, wanted), Searched(trained, texts, WIDTH)
        both = zip(searched.found, wanted, strict=True)
        rows = [chosen(judge, *one) for one in told(both)]
        result = {"captions": len(texts), "width": WIDTH, "alpha": ALPHA}
        return result | {"criteria": scored(judge, rows, (PROBABLE, NORMALISED))}
    texts, wanted = map(list, zip(*trained.task.pairs("test")[:CAPTIONS], strict=True))
    judge = Judge(trained, wanted)
    beams = {
        GREEDY: Searched(trained, texts, 1).chosen(0),
        NORMALISED: Searched(trained, texts, NARROW).chosen(ALPHA),
    }
    rows, distinct = [], 0
    for number, text in told(enumerate(texts)):
        way = SAMPLED[setting]
        drawn, _ = written(trained, [text] * SAMPLES, way, CAPTIONS * seed + number)
        distinct += len(set(drawn))
        row = {name: judge.target.decode(found[number][0]) for name, found in beams.items()}
        rows.append(row | {RISK_EQUAL: of_samples(judge, drawn)})
    result = {"captions": len(texts), "samples": SAMPLES, "width": NARROW, "alpha": ALPHA}
    result["distinct"] = distinct / len(texts)
    return result | {"criteria": scored(judge, rows, (GREEDY, NORMALISED))}


def told(captions):
    """Yield the same, and report every hundredth."""
    for number, one in enumerate(captions, 1):
        yield one
        if number % 100 == 0:
            print(f"chosen for {number} captions", file=sys.stderr, flush=True)


def scored(judge: Judge, rows: list[dict[str, str]], rivals: tuple[str, ...]) -> dict:
    """The results of each criterion, which has chosen a text for each caption."""
    by_name = {name: [row[name] for row in rows] for name in rows[0]}
    metrics = {"bleu": judge.bleu, "chrf": Chrf()}
    counts = {
        key: {name: metric.statistics(by_name[name], judge.wanted) for name in by_name}
        for key, metric in metrics.items()
    }
    criteria = {}
    for name in by_name:
        entry = {"different": sum(row[name] != row[rivals[0]] for row in rows)}
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
                for rival in rivals
                if rival != name
            }
        criteria[name] = entry
    return criteria


def _difference(ours, theirs, metric) -> list[float]:
    """The difference, and the middle 95 % of the resampled ones."""

    def score(total) -> float:
        return metric.from_statistics(total).score

    compared = paired_bootstrap(ours, theirs, score, seed=0)
    return [compared.difference, *compared.interval_difference]


if __name__ == "__main__":
    Study("ch08/minimum_risk", run, SETTINGS).main()
