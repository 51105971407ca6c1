"""Tasks of the command line: pairs of texts, tokenizers, and metrics.

A task is a class with the methods of `DatesTask`. To add one, write the class and name it in
`TASKS`; the command line and the recipes need nothing else.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from itertools import count as count_from
from itertools import product, repeat

from babel import UnknownLocaleError

from gates2heads.accepts import a, accepts, choice, count, listed, mapping, maybe, share, text
from gates2heads.accepts.values import distinct_seed
from gates2heads.data.batches.pairs import (
    Batch,
    endless_batches,
    endless_token_batches,
    token_batches,
)
from gates2heads.data.corpora.dates import FORMS, LOCALES, dates, write_date
from gates2heads.data.corpora.machine_pairs import read_machine_pairs
from gates2heads.data.corpora.multi30k import multi30k
from gates2heads.data.corpora.splits import SPLITS
from gates2heads.data.tokens.as_typed import AsTyped
from gates2heads.data.tokens.bpe import BPETokenizer
from gates2heads.data.tokens.characters import CharacterTokenizer, encode_pairs
from gates2heads.data.tokens.merge_dropout import MergeDropout
from gates2heads.data.tokens.typed import spelled, tidy
from gates2heads.metrics.bleu import corpus_bleu
from gates2heads.metrics.chrf import corpus_chrf
from gates2heads.metrics.exact_match import exact_match

Pairs = list[tuple[str, str]]
MOST_DATES = 1_000_000  # they take minutes to generate, and a GB of memory


FORM, LOCALE = choice(FORMS), text(empty=False)
LANGUAGES = ("German", "English")


def _check_settings(data: Mapping, wanted: Mapping) -> None:
    """Reject anything but an object with all the settings of a task."""
    mapping("settings to their values").check("data", data)
    for name in wanted:
        if name not in data:
            raise ValueError(f"data must hold {', '.join(wanted)}, but {name} is missing")


class DatesTask:
    """Convert a date from natural language to ISO 8601, character by character.

    Args:
        data: the number of pairs of each split, and the locales and forms that are sampled.

    Raises:
        TypeError, ValueError: a setting is missing, a size is not a whole number of at least 1,
            there is no locale or form, or a form is unknown.
    """

    data: Mapping = {
        "train": 30_000,
        "validation": 400,
        "test": 1_000,
        "locales": list(LOCALES),
        "forms": list(FORMS),
    }
    batch_size = 64  # pairs per batch
    max_length = 12  # ten characters, <eos>, and one error
    measure = "exact_match"
    typed = staticmethod(spelled)  # the user's input, as the model receives it
    terms = "Dates that Babel wrote from the Unicode CLDR, which is under the Unicode licence."
    limits = (
        "Reads only the languages and date formats that it was trained on, and no short numeric "
        "dates such as 3/5/21."
    )

    def __init__(self, data: Mapping):
        _check_settings(data, self.data)
        for split in SPLITS:
            count(most=MOST_DATES).check(f"data.{split}", data[split])
        for name, kind in (("locales", LOCALE), ("forms", FORM)):
            a(list).check(f"data.{name}", data[name])
            listed("names", kind=kind, least=1).check(f"data.{name}", data[name])
        self.settings = data

    def __str__(self) -> str:
        return f"CLDR dates, {', '.join(self.settings['locales'])}"

    @accepts(split=choice(SPLITS))
    def pairs(self, split: str) -> Pairs:
        """The (text, ISO date) pairs of a split.

        Raises:
            ValueError: an unknown locale.
        """
        locales, forms = self.settings["locales"], self.settings["forms"]
        try:
            drawn = dates(split, self.settings[split], locales=locales, forms=forms)
        except UnknownLocaleError as error:
            raise ValueError(f"data.locales must hold CLDR names of languages: {error}") from error
        return [(pair.text, pair.iso) for pair in drawn]

    def tokenizers(self, pairs: Pairs) -> tuple[CharacterTokenizer, CharacterTokenizer]:
        """Tokenizers of the two sides.

        Their vocabularies contain the characters of these pairs, and of every day of a year in the
        same languages and forms: a few pairs may lack a month that occurs in the test.
        """
        year = [date(2019, month, day) for month in range(1, 13) for day in range(1, 29)]
        styles = product(year, self.settings["locales"], self.settings["forms"])
        more = [(write_date(day, *style), day.isoformat()) for day, *style in styles]
        sides = zip(*pairs, *more, strict=True)
        return tuple(CharacterTokenizer.from_texts(side) for side in sides)

    def batches(self, pairs: Pairs, source, target, size: int, *, seed: int) -> Iterator[Batch]:
        """Batches of the pairs, numbered by the tokenizers, without end."""
        return endless_batches(encode_pairs(pairs, source, target), size, seed=seed)

    def score(self, written: Sequence[str], wanted: Sequence[str]) -> dict[str, float]:
        """The scores of a model's outputs; `measure` names the one that early stopping uses."""
        return {"exact_match": exact_match(written, wanted)}


class CaptionsTask:
    """Translate the caption of a photograph, in sub-word tokens.

    Args:
        data: the source language, the number of captions of each split, the size of the joint
            vocabulary, the BPE-dropout rates of source and target in training (see `MergeDropout`),
            the fraction of source texts that are changed as people type them (see `AsTyped`), and
            back-translated pairs: their file (see `machine_pairs`) or None, their fraction of the
            pairs of an epoch, and a tag that is put before their sources (Caswell et al. 2019).

    Raises:
        TypeError, ValueError: a setting is missing, a size is not a whole number of at least 1, or
            too large, or a fraction is outside [0, 1], or that of `extra` is 1.
    """

    data: Mapping = {
        "reads": "German",
        "train": 29_000,
        "validation": 1_014,
        "test": 1_000,
        "vocabulary": 5_000,
        "merge_dropout": 0.0,
        "target_merge_dropout": 0.0,
        "as_typed": 0.0,
        "extra": None,
        "extra_share": 0.5,
        "extra_mark": "",
    }
    batch_size = 2_000  # tokens per side in a batch, with padding
    max_length = 80  # the longest caption has fewer than 60
    measure = "bleu"
    typed = staticmethod(tidy)
    terms = (
        "Captions of Flickr30k photographs (Young et al. 2014), translated for Multi30k (Elliott "
        "et al. 2016); for research and education. The file contains no caption as text."
    )
    limits = (
        "Trained on captions of everyday scenes and nothing else: given names, questions or news, "
        "it invents a scene or produces nonsense. Both translators of the book translate number "
        "words up to nine and get most larger ones wrong. Captions reflect the assumptions and "
        "biases of their authors, for instance about who is called a man or a woman."
    )

    def __init__(self, data: Mapping):
        _check_settings(data, self.data)
        for split in SPLITS:
            count(most=self.data[split]).check(f"data.{split}", data[split])
        count.check("data.vocabulary", data["vocabulary"])
        choice(LANGUAGES).check("data.reads", data["reads"])
        for name in ("merge_dropout", "target_merge_dropout", "as_typed", "extra_share"):
            share.check(f"data.{name}", data[name])
        if data["extra_share"] == 1:
            raise ValueError("data.extra_share must be below 1, got 1")
        maybe(text(empty=False)).check("data.extra", data["extra"])
        text.check("data.extra_mark", data["extra_mark"])
        self.settings = data

    def __str__(self) -> str:
        read = self.settings["reads"]
        written = next(language for language in LANGUAGES if language != read)
        told = f"Multi30k captions, {read} to {written} (Elliott et al. 2016)"
        return f"{told}, and sentence pairs by a model" if self.settings["extra"] else told

    @accepts(split=choice(SPLITS))
    def pairs(self, split: str) -> Pairs:
        """The (German, English) pairs of a split, or the (English, German) ones.

        Raises:
            ValueError, ConnectionError: as in `multi30k`.
        """
        return self._turned(multi30k(split)[: self.settings[split]])

    def _turned(self, pairs: Sequence[Sequence[str]]) -> Pairs:
        """(German, English) pairs, with the source first."""
        step = 1 if self.settings["reads"] == "German" else -1
        return [tuple(pair)[::step] for pair in pairs]

    def tokenizers(self, pairs: Pairs) -> tuple[BPETokenizer, BPETokenizer]:
        """The joint tokenizer of both sides, the same in either direction."""
        sides = list(zip(*pairs, strict=True))
        german_first = sides if self.settings["reads"] == "German" else sides[::-1]
        texts = [text for side in german_first for text in side]
        both = BPETokenizer.train(texts, self.settings["vocabulary"])
        return both, both

    def batches(self, pairs: Pairs, source, target, size: int, *, seed: int) -> Iterator[Batch]:
        """Batches of pairs of similar length, endlessly; each epoch splits the words again.

        Raises:
            FileNotFoundError, ValueError: as in `read_machine_pairs`.
        """
        shares = [self.settings[name] for name in ("merge_dropout", "target_merge_dropout")]
        typed = self.settings["as_typed"]
        if not any((*shares, typed, self.settings["extra"])):
            yield from endless_token_batches(encode_pairs(pairs, source, target), size, seed=seed)
            return
        extra = self._extra(len(pairs), seed)
        for one in count_from(seed):
            read, written = (
                MergeDropout(side, share, seed=one) if share else side
                for side, share in zip((source, target), shares, strict=True)
            )
            read = AsTyped(read, typed, seed=one) if typed else read
            numbers = encode_pairs([*pairs, *next(extra)], read, written)
            yield from token_batches(numbers, size, seed=one)

    def _extra(self, real: int, seed: int) -> Iterator[Pairs]:
        """The back-translated pairs of one epoch after the other.

        All of them are used before any is repeated.
        """
        path, part, mark = (self.settings[f"extra{name}"] for name in ("", "_share", "_mark"))
        if path is None:
            yield from repeat([])
        turned = self._turned(read_machine_pairs(path))
        pairs = [(f"{mark}{read}", written) for read, written in turned]
        many, draw, waiting = (
            round(real * part / (1 - part)),
            random.Random(distinct_seed(seed)),
            [],
        )
        while True:
            while len(waiting) < many:
                waiting += draw.sample(pairs, len(pairs))
            yield waiting[:many]
            waiting = waiting[many:]

    def score(self, written: Sequence[str], wanted: Sequence[str]) -> dict[str, float]:
        """BLEU as in sacreBLEU, cased and in lower case, and chrF, each from 0 to 100."""
        references = [[text] for text in wanted]
        return {
            "bleu": corpus_bleu(written, references).score,
            "bleu_lower_case": corpus_bleu(written, references, lowercase=True).score,
            "chrf": corpus_chrf(written, references).score,
        }


TASKS = {"dates": DatesTask, "captions": CaptionsTask}
