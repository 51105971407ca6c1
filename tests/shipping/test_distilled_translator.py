"""The distilled translator: the team is M models of the library, and the stages run to the end."""

import json
from itertools import islice

import pytest
import torch

from gates2heads.data.batches.pairs import collate
from gates2heads.data.corpora import multi30k as corpus
from gates2heads.data.corpora.multi30k import CaptionPair
from gates2heads.decoding.beam import beam
from gates2heads.decoding.lengths import Power
from gates2heads.decoding.search import greedy
from gates2heads.training.cards import rebuild
from gates2heads.training.checkpoints import shipped_weights
from gates2heads.training.losses import cross_entropy
from gates2heads.training.recipes.runs import load
from gates2heads.training.recipes.tasks import CaptionsTask
from shipping import distilled_translator
from shipping.distilled_data import (
    WIDTH,
    batches,
    cut,
    prepare,
    read,
    resplit,
    rows_of,
    tokenizer,
)
from shipping.distilled_training import Log, bleu, planned, search, token_loss, train
from shipping.distilled_translator import duration, each, main, stream_of, within
from shipping.team import Team

SIZES = {
    "d_model": 16,
    "nhead": 2,
    "num_encoder_layers": 2,
    "num_decoder_layers": 2,
    "dim_feedforward": 24,
    "dropout": 0.1,
}
VOCABULARY, EOS = 30, 2
PAIRS = [
    CaptionPair("Ein Hund läuft.", "A dog runs."),
    CaptionPair("Zwei Kinder spielen im Schnee.", "Two children play in the snow."),
    CaptionPair("Eine Frau singt laut.", "A woman sings loudly."),
    CaptionPair("Männer arbeiten auf einem hohen Dach.", "Men work on a high roof."),
]


@pytest.fixture
def batch():
    draw = torch.Generator().manual_seed(0)
    lengths = [(5, 7), (3, 4), (8, 2), (5, 5)]
    numbers = [
        tuple([*torch.randint(3, VOCABULARY, (n,), generator=draw).tolist(), EOS] for n in pair)
        for pair in lengths
    ]
    return collate(numbers)


@pytest.fixture
def team():
    return Team.drawn(VOCABULARY, [0, 1, 2], **SIZES).eval()


def test_each_member_is_a_model_of_the_library(team, batch):
    with torch.no_grad():
        logits = team(batch.source[None], batch.target_in[None])
        for number in range(3):
            alone = team.single(number)(batch)
            assert torch.allclose(logits[number][batch.target_mask], alone[batch.target_mask])


def test_members_may_read_different_batches(team, batch):
    source = torch.stack([batch.source, batch.source.flip(0), batch.source])
    target = torch.stack([batch.target_in, batch.target_in.flip(0), batch.target_in])
    with torch.no_grad():
        apart, same = team(source, target), team(batch.source[None], batch.target_in[None])
    assert torch.allclose(apart[1].flip(0), same[1], atol=1e-6)
    assert torch.allclose(apart[2], same[2], atol=1e-6)


def test_loss_and_gradient_are_those_of_each_member(team, batch):
    shares = torch.zeros(3)
    logits = team(batch.source[None], batch.target_in[None])
    losses = token_loss(logits, batch.target_out[None], 0.1, None, shares)
    losses.sum().backward()
    for number in range(3):
        alone = team.single(number)
        loss = cross_entropy(
            alone(batch), batch.target_out, mask=batch.target_mask, label_smoothing=0.1
        )
        loss.backward()
        assert losses[number].item() == pytest.approx(loss.item(), rel=1e-5)
        expected = torch.cat([parameter.grad.flatten() for parameter in _named(alone, team)])
        assert torch.allclose(team.flat.grad[number], expected, atol=1e-5)


def _named(model, team):
    named = dict(model.named_parameters())
    return [named[name] for name in team.shapes]


def test_soft_targets_are_the_distributions_of_teachers(team, batch):
    with torch.no_grad():
        logits = team(batch.source[None], batch.target_in[None])
        soft = logits.softmax(dim=-1).mean(dim=0)
        args = (logits, batch.target_out[None], 0.1, soft)
        none, all_ = (token_loss(*args, torch.full((3,), share)) for share in (0.0, 1.0))
        half = token_loss(*args, torch.tensor([0.0, 0.5, 1.0]))
    assert torch.allclose(half, torch.stack([none[0], (none[1] + all_[1]) / 2, all_[2]]))
    real = batch.target_mask
    expected = -(soft[real] * logits[0].log_softmax(dim=-1)[real]).sum() / real.sum()
    assert all_[0].item() == pytest.approx(expected.item(), rel=1e-5)


@pytest.mark.parametrize("width", [1, 3])
def test_searches_of_one_member_are_those_of_its_model(team, batch, width):
    one = Team(VOCABULARY, [team.member(1)], **SIZES).fixed()
    model = team.single(1)
    ends = {"bos": torch.full((4,), 1), "eos": EOS, "max_length": 9}
    beams = {"width": width, "length_rule": Power(1.2), "refill": True}
    with torch.no_grad():
        starts = one.start(batch.source), model.start(batch.source, mask=batch.source_mask)
        if width == 1:
            mine, theirs = (
                greedy(m.step, s, **ends) for m, s in zip((one, model), starts, strict=True)
            )
        else:
            mine, theirs = (
                beam(m.step, s, **ends, **beams).best()
                for m, s in zip((one, model), starts, strict=True)
            )
    assert torch.equal(mine.tokens, theirs.tokens)
    assert torch.allclose(mine.log_prob, theirs.log_prob, atol=1e-5)


def test_the_ensemble_takes_the_mean_of_the_distributions(team, batch):
    models, last = [team.single(number) for number in range(3)], torch.full((4,), 1)
    with torch.no_grad():
        state = team.fixed().start(batch.source)
        states = [model.start(batch.source, mask=batch.source_mask) for model in models]
        for _ in range(3):
            mean, state = team.step(state, last)
            steps = [m.step(s, last) for m, s in zip(models, states, strict=True)]
            states = [after for _, after in steps]
            expected = torch.stack([log_probs.exp() for log_probs, _ in steps]).mean(dim=0)
            assert torch.allclose(mean.exp(), expected, atol=1e-6)
            last = mean.argmax(dim=1)


def test_batches_hold_every_pair_once_for_each_member():
    draw = torch.Generator().manual_seed(0)
    lengths = torch.randint(2, 20, (300,), generator=draw)
    rows = torch.arange(1, WIDTH + 1).repeat(300, 1)
    rows = rows.masked_fill(rows > lengths[:, None], 0)
    rows[:, 0] = torch.arange(1, 301)  # tells one row from another
    seen = [[], []]
    for some in batches(rows, rows, 128, 2, draw):
        assert some.source.shape[0] == 2
        assert some.source.shape[1:].numel() <= 128
        assert torch.equal(some.source, some.target_out)
        assert torch.equal(some.target_in[..., 1:], some.target_out[..., :-1])
        for number in (0, 1):
            seen[number] += some.source[number, :, 0].tolist()
    assert seen[0] != seen[1]
    assert sorted(seen[0]) == sorted(seen[1]) == list(range(1, 301))


def test_rows_are_cut_within_the_budget():
    chunks = cut([4] * 50 + [8] * 3 + [60], 100)
    assert [end for _, end, _ in chunks][-1] == 54
    assert all((end - start) * length <= 100 or end == start + 1 for start, end, length in chunks)


def test_the_time_is_that_of_all_runs_in_the_log():
    runs = [("begin", 0.5), ("teachers", 100.0), ("begin", 0.4), ("students", 50.0), ("end", 51.0)]
    assert duration([{"what": what, "at": at} for what, at in runs]) == 151.0


def test_the_number_of_steps_follows_from_the_time():
    assert planned(50, 10.0, (0, 0.0), 100.0, 9_000) == 500
    assert planned(50, 10.0, (0, 0.0), 100.0, 400) == 400
    assert planned(50, 200.0, (0, 0.0), 100.0, 9_000) == 51


def test_the_last_training_fits_into_the_time_that_is_left():
    how = {"seconds": 100.0, "steps": 7}
    assert within(how, None, 50.0) == how
    assert within(how, 1_000.0, 50.0) == how
    assert within(how, 175.0, 110.0) == {"seconds": pytest.approx(50.0), "steps": 7}
    assert within({"seconds": None}, 175.0, 110.0)["seconds"] == pytest.approx(50.0)
    assert within(how, 100.0, 110.0)["seconds"] == 1.0


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    path = tmp_path_factory.mktemp("prepared") / "prepared.npz"
    texts = {"German": [pair.german for pair in PAIRS], "English": [p.english for p in PAIRS]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpus, "multi30k", lambda split: PAIRS * 10)
        patch.setattr(corpus, "descriptions", texts.__getitem__)
        assert prepare(path)["german"] == 40
    return path


def test_split_anew_a_row_is_the_same_text(prepared):
    held, both = read(prepared), tokenizer()
    draw = torch.Generator().manual_seed(0)
    rows = resplit(held.german, held, draw)
    assert not torch.equal(rows, held.german)
    texts = [both.decode(row) for row in rows.tolist()]
    assert texts == [pair.german for pair in PAIRS] * 10
    full = torch.full((2, WIDTH), both.encode("Kinder")[0])
    assert torch.equal(resplit(full, held, draw), full)  # any split would be too long


def test_a_sentence_too_long_is_left_out():
    both = tokenizer()
    rows = rows_of(both, ["Ein Hund.", "Wort " * 70], skip=True)
    assert len(rows) == 1
    assert both.decode(rows[0].tolist()) == "Ein Hund."


def test_the_released_translator_scores_as_a_team(prepared):
    held, both = read(prepared), tokenizer()
    trained = load(distilled_translator.shipped_weights("translator"))
    sizes = {**distilled_translator.SMALL, "dropout": 0.0}
    team = Team(len(both), [trained.model.state_dict()], **sizes).fixed()
    rows = search(team, held.german[:4], width=2)
    assert both.decode(rows[0].tolist()).startswith("A dog")
    assert bleu(team, held.validation[:4], held.references[:4], both, width=2) > 10
    draw = torch.Generator().manual_seed(1)
    drawn = search(team, held.german[:4], top_k=5, generator=draw)
    assert (drawn != 0).any(dim=1).all()


@pytest.mark.slow
def test_all_stages_run_and_the_student_is_released(prepared, tmp_path, monkeypatch, capsys):
    folder, out = tmp_path / "work", tmp_path / "out"
    tiny = json.dumps({**SIZES, "num_encoder_layers": 1, "num_decoder_layers": 1})
    words = ["train", "--trial", "--data", str(prepared), "--folder", str(folder)]
    words += ["--out", str(out), "--most", "4"]
    for stage in ("teachers", "students"):
        words += ["--set", f"{stage}.sizes={tiny}", "--set", f"{stage}.steps=3"]
    assert main(words) == 0
    assert sorted(path.name for path in folder.iterdir()) == [
        *("back.npz", "teachers.safetensors", "translated.npz")
    ]
    steps = [one["steps"] for one in json.loads((out / "log.json").read_text()) if "steps" in one]
    assert steps == [3, 3]
    assert main(words) == 0  # goes on after the teachers
    log = json.loads((out / "log.json").read_text())
    assert [one["what"] for one in log].count("teachers") == 1

    monkeypatch.setattr(CaptionsTask, "pairs", lambda self, split: PAIRS[:2])
    small, checkpoint = tmp_path / "small.safetensors", tmp_path / "whole.safetensors"
    words = ["--out", str(out), "--to", str(small), "--checkpoint", str(checkpoint)]
    assert main(["release", "--folder", str(folder), *words]) == 0
    trained = load(small)
    assert (
        {"test", "validation"}
        == trained.card["scores"].keys()
        == trained.card["scores_small"].keys()
    )
    assert trained.card["distillation"]["teachers"]["steps"] == 3
    assert trained.card["recipe"]["model"]["d_model"] == SIZES["d_model"]
    assert trained.card["parameters"] == sum(p.numel() for p in trained.model.parameters())
    assert "test bleu" in capsys.readouterr().out


def test_a_team_learns_its_pairs(prepared, tmp_path):
    held, both = read(prepared), tokenizer()
    held = held._replace(validation=held.german[:4], references=held.references[:4])
    how = {**distilled_translator.STUDENTS, "steps": 70, "warmup": 5, "learning_rate": 1e-2}
    how |= {"budget": 200, "soft": [0.0, 0.0]}
    sizes = {**SIZES, "d_model": 48, "dropout": 0.0}
    team, log = Team.drawn(len(both), [3, 4], **sizes), Log(tmp_path / "log.json")
    train(team, stream_of(held, held.german[:4, None], None, how, 2), how, log, "learnt")
    first, last = (log.last("learnt")["losses"][place][1:] for place in (0, -1))
    assert each(team, held, both, width=1) == [100.0, 100.0], (first, last)


def test_an_epoch_holds_the_captions_as_often_as_asked(prepared):
    held = read(prepared)
    back = held.german[:4, None].clone()
    back[0] = 0  # a translation without an end is left out
    how = {"seeds": [0], "real": 2, "budget": 10_000}
    sizes = [some.source.shape[1] for some in islice(stream_of(held, back, None, how, 1), 1)]
    assert sizes[0] >= 8


@pytest.mark.parametrize("folder", ["src/gates2heads", "chapters"])
def test_other_peoples_text_stays_outside_the_repository(folder):
    with pytest.raises(SystemExit, match="in checkpoints or outside the project"):
        main(["prepare", "--folder", str(distilled_translator.ROOT / folder)])


def test_an_unknown_setting_is_refused(tmp_path):
    with pytest.raises(SystemExit, match=r"--set knows no teachers\.nothing=1"):
        main(["train", "--folder", str(tmp_path), "--set", "teachers.nothing=1"])


def test_a_candidate_begins_with_released_parameters():
    both = tokenizer()
    how = {"seeds": [3, 4], "begin": [None, "translator"]}
    how["sizes"] = distilled_translator.STUDENTS["sizes"]
    team = distilled_translator.begun(len(both), how, torch.float32)
    released = rebuild(shipped_weights("translator")).model.state_dict()
    assert all(torch.equal(kept, released[name]) for name, kept in team.member(1).items())
    assert not torch.equal(team.flat[0], team.flat[1])
    how["sizes"] = {**SIZES, "dropout": 0.1}
    with pytest.raises(SystemExit, match="translator does not have the sizes"):
        distilled_translator.begun(len(both), how, torch.float32)
