"""What the study of early readouts counts is what a walk through each caption shows."""

import pytest
import torch

from gates2heads.book.studies import read_study
from gates2heads.training.checkpoints import shipped_weights
from gates2heads.training.recipes.runs import load
from gates2heads.watching.walk import walk
from studies.ch07 import logit_lens

TEXTS = ["Ein Hund läuft durch den Schnee.", "Drei Männer warten.", "Ein Koch schneidet Gemüse."]


@pytest.mark.slow
def test_a_batch_counts_what_walks_show():
    trained = load(shipped_weights("translator"))
    found = logit_lens.batch(trained, TEXTS)
    sides = {"source": trained.source, "target": trained.target}
    walks = [walk(trained.model, text, top=1, **sides) for text in TEXTS]
    rank = torch.cat([one.readouts.rank for one in walks], dim=1) + 1
    assert torch.equal(found["rank"], rank)
    assert torch.equal(found["agrees"], rank == 1)
    prob = torch.cat([one.readouts.written for one in walks], dim=1).exp()
    torch.testing.assert_close(found["prob"], prob, rtol=0, atol=1e-4)
    for depth, flags in enumerate(found["repeats"]):
        said = [word for one in walks for (word,) in one.readouts.words[depth]]
        read = [word for one in walks for word in ("<bos>", *one.target[:-1])]
        assert flags.tolist() == [a == b for a, b in zip(said, read, strict=True)]


def test_a_table_of_pairs_is_counted_on_the_other_half():
    found = {"half": [0, 0, 0, 1, 1, 1], "read": [5, 5, 6, 5, 5, 7], "written": [8, 8, 9, 8, 9, 9]}
    # half 0: 5 is followed by 8, as 1 says (twice a tie there: the first); 6 is unknown there
    shares = logit_lens.bigram({name: torch.tensor(part) for name, part in found.items()})
    assert shares == pytest.approx(3 / 6, abs=1e-4)


def test_the_input_token_hides_the_output_after_the_first_block():
    rows = {row["setting"]: row["result"] for row in read_study("ch07/logit_lens")}
    assert rows["block 1"]["agrees_without_input"] > 2 * rows["block 1"]["agrees"]
    assert all(0 < row["commonest"] < row["bigram"] < 1 for row in rows.values())


def test_the_stored_shares_add_up():
    rows = {row["setting"]: row["result"] for row in read_study("ch07/logit_lens")}
    assert list(rows) == ["embedding", "block 1", "block 2", "block 3"]
    total = 0
    for row in rows.values():
        total += row["settles"]
        assert row["settled"] == pytest.approx(total, abs=2e-4)
        assert row["settled"] <= row["agrees"] <= 1
    assert rows["block 3"]["agrees"] == 1
    assert rows["block 3"]["rank"] == 1
