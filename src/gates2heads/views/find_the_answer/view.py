"""A question and a passage: where two models find the answer, or that they find none."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from traitlets import Dict, Float, List, Unicode

from gates2heads.accepts import accepts, instance, listed, mapping, string
from gates2heads.accepts.shown import shown
from gates2heads.browser.engine.export import Exported
from gates2heads.views.kit.live_view import LiveView, labels_of, single_precision, words
from gates2heads.views.kit.view import ShowMe, module, style


class PassageExample(NamedTuple):
    """A question and a passage to choose."""

    question: str
    passage: str
    label: str = ""  # on the button; the question if left out


@accepts(
    models=mapping("names to models"),
    examples=listed("examples", instance(PassageExample), least=1),
    recorded=listed("recordings"),
    title=string,
    hint=string,
    about=string,
)
class FindTheAnswer(LiveView):
    """Type a question and a passage, and compare the answers that models extract from it.

    Bars show the probability of each token of the passage, and of "no answer", to be the first
    and the last token of the answer. The best spans are listed with their scores; a slider moves
    the threshold by which a span must exceed "no answer".

    Args:
        models: by their displayed names, from `export_model`: each a `FineTuned`
            with an `AnswerHead` and a `BilingualTokenizer`.
        examples: questions and passages to choose from; the first is the recorded one.
        recorded: what `observe_answer` gave for the first example, one for each model.
        title: above the view.
        hint: a suggestion, in one line.
        about: a description of the models, in one line.
        show_me: buttons that set the view to an instructive state.

    Attributes:
        question: the question, synchronised with the view.
        text: the passage.
        threshold: τ, in the units of the scores.

    Raises:
        TypeError, ValueError: anything but a recording of the first example.
    """

    _esm = module(__file__)
    _css = style(__file__, "answers.css")

    names = List(Unicode()).tag(sync=True)
    examples = List(Unicode()).tag(sync=True)
    questions = List(Unicode()).tag(sync=True)
    labels = List(Unicode()).tag(sync=True)
    recorded = List(Dict()).tag(sync=True)
    question = Unicode().tag(sync=True)
    text = Unicode().tag(sync=True)
    threshold = Float(0.0).tag(sync=True)
    about = Unicode().tag(sync=True)

    def __init__(
        self,
        models: Mapping[str, Exported],
        examples: Sequence[PassageExample],
        recorded: Sequence[Any],
        *,
        title: str = "",
        hint: str = "",
        about: str = "",
        show_me: Sequence[ShowMe] = (),
    ):
        words.check("the names of models", list(models))
        for index, example in enumerate(examples):
            for name, value in zip(example._fields, example, strict=True):
                string.check(f"examples[{index}].{name}", value)
        texts = [one.passage for one in examples]
        super().__init__(
            *models.values(),
            names=list(models),
            examples=texts,
            questions=[one.question for one in examples],
            labels=labels_of(texts, [one.label or one.question for one in examples]),
            recorded=_recordings(recorded, len(models)),
            question=examples[0].question,
            text=texts[0],
            title=title,
            hint=hint,
            about=about,
            show_me=list(show_me),
        )

    def __repr__(self):
        return f"FindTheAnswer({', '.join(self.names)}, {len(self.examples)} examples)"


def _recordings(recorded: Sequence[Any], models: int) -> list[dict]:
    """The recorded answers in the form of live ones."""
    if len(recorded) != models:
        raise ValueError(f"recorded must hold {models} recordings, got {len(recorded)}")
    answers = []
    for number, one in enumerate(recorded):
        name = f"recorded[{number}]"
        if not all(hasattr(one, part) for part in ("tokens", "strange", "first", "last")):
            raise TypeError(f"{name} must be what `observe_answer` gives, got {shown(one)}")
        words.check(f"{name}.tokens", one.tokens)
        words.check(f"{name}.strange", one.strange)
        if list(one.tokens) != list(recorded[0].tokens):
            raise ValueError(f"{name} must be of the first example, as the others are")
        places = {"tokens": list(one.tokens), "strange": list(one.strange)}
        for part in ("first", "last"):
            logits = single_precision(getattr(one, part), f"{name}.{part}")
            if logits.shape != (len(one.tokens) + 1,):
                raise ValueError(
                    f"{name}.{part} must hold a logit for [CLS] and for each of "
                    f"{len(one.tokens)} tokens, got shape {logits.shape}"
                )
            places[part] = logits.tolist()
        answers.append(places)
    return answers
