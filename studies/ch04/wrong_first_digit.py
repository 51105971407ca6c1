"""What follows a wrong first digit of the year? For section 4.5.

    python -m studies.ch04.wrong_first_digit --seeds 0 1 2
    python -m studies.ch04.wrong_first_digit --table

The settings are the networks of `teacher_forcing`: `teacher`, `free` and `mixed`. Those of seed 0
are loaded as `shipping/forced.py` wrote them for the page; the others are trained. Each digit
replaces the first digit of the output, for those of 1,000 test dates that the network otherwise
gets right. All years begin with 19, 20 or 21, so a wrong digit is either the first digit of other
years (`year`: 2 in place of 1, or 1 in place of 2) or of none (`no_year`: 0 and 3 to 9). Stored are
counts for both kinds:

- `outputs`: all outputs after such a digit;
- `later`: those of them with a later error;
- `second`: the outputs whose second digit is wrong;
- `restart`: of these, those whose second digit is the true **first** digit of the year;
- `century`: of these, those that continue the century of the wrong digit: 9 after 1, 0 after 2.
"""

import torch
from torch import nn

from gates2heads.book.ch04.error_propagation import exact_matches
from gates2heads.book.studies import Study
from gates2heads.browser.engine.rebuild import shipped
from gates2heads.data.batches.pairs import Batch
from gates2heads.watching.forced_tokens import run_held
from studies.ch04.teacher_forcing import SHARES, batch_of, train

TESTED = 1_000
CENTURY = {"1": "9", "2": "0"}  # the first digit of a year -> its usual second one


def after_first_digit(model: nn.Module, batch: Batch, target) -> dict[str, dict[str, int]]:
    """Count what the network outputs after each wrong first digit."""
    names = ("outputs", "later", "second", "restart", "century")
    counts = {kind: dict.fromkeys(names, 0) for kind in ("year", "no_year")}
    wanted, begin = batch.target_out, batch.target_in[:, 0]
    with torch.no_grad():
        state = model.start(batch.source, mask=batch.source_mask)
    right = exact_matches(model, batch)
    for digit in "0123456789":
        number = target.vocabulary.index[digit]
        held = {0: torch.full_like(begin, number)}
        outputs = run_held(model.step, state, begin, wanted.shape[1], held=held)
        rows = right & (wanted[:, 0] != number)
        second = rows & (outputs[:, 1] != wanted[:, 1])
        usual = CENTURY.get(digit)
        follows = -1 if usual is None else target.vocabulary.index[usual]
        found = counts["no_year" if usual is None else "year"]
        for name, marks in {
            "outputs": rows,
            "later": rows & (outputs != wanted)[:, 1:].any(dim=1),
            "second": second,
            "restart": second & (outputs[:, 1] == wanted[:, 0]),
            "century": second & (outputs[:, 1] == follows),
        }.items():
            found[name] += int(marks.sum())
    return counts


def run(setting: str, seed: int) -> dict:
    """Count for one network, which is trained unless the page has it."""
    if seed == 0:
        one = shipped(f"forced_{setting}")
        model, source, target = one.model, one.source, one.target
    else:
        model, source, target, _ = train(setting, seed)
    return after_first_digit(model, batch_of("test", TESTED, source, target), target)


if __name__ == "__main__":
    Study("ch04/wrong_first_digit", run, list(SHARES)).main()
