"""Question answering: the logits of each token of a passage as beginning and end of the answer."""

from typing import NamedTuple

import torch
from torch import Tensor

from gates2heads.accepts import accepts, instance, natural, string
from gates2heads.data.batches.joined import join
from gates2heads.data.tokens.bilingual import (
    BilingualTokenizer,
    split_bilingual,
    write_bilingual,
)
from gates2heads.models.pretraining.answers import AnswerHead, AnswerLogits, best_answers
from gates2heads.models.pretraining.fine_tuned import FineTuned


class ObservedAnswer(NamedTuple):
    """A model's logits for each position at which an answer may begin or end."""

    tokens: list[str]  # L, of the passage
    strange: list[str]  # words of question and passage that are not in the vocabulary, each once
    first: Tensor  # (1 + L,) logits; position 0 is [CLS], which means "no answer"
    last: Tensor  # (1 + L,) logits


@accepts(
    model=instance(FineTuned),
    question=string,
    passage=string,
    tokenizer=instance(BilingualTokenizer),
)
@torch.no_grad()
def observe_answer(
    model: FineTuned, question: str, passage: str, tokenizer: BilingualTokenizer
) -> ObservedAnswer:
    """Run a model on a question and a passage, and keep the logits of the answer's ends.

    Args:
        model: a `FineTuned` with an `AnswerHead`, in evaluation mode.
        question, passage: the two texts.
        tokenizer: of the model.

    Raises:
        TypeError: the model has another head.
        ValueError: as raised by the tokenizer or the model.
    """
    if not isinstance(model.head, AnswerHead):
        raise TypeError(f"model must have an AnswerHead, got a {type(model.head).__name__}")
    texts = [tokenizer.encode(one, eos=False) for one in (question, passage)]
    joined = join(*texts)
    first, last = model(torch.tensor([joined.tokens]), segments=torch.tensor([joined.segments]))
    places = [0, *joined.places[1]]
    asked, tokens = split_bilingual(question), split_bilingual(passage)
    strange = [token for token in [*asked, *tokens] if token not in tokenizer.vocabulary]
    return ObservedAnswer(tokens, list(dict.fromkeys(strange)), first[0, places], last[0, places])


@accepts(seen=instance(ObservedAnswer), max_length=natural)
def extracted(seen: ObservedAnswer, *, max_length: int = 16) -> str:
    """The best span as text, or "" where "no answer" has a score at least as high.

    Args:
        seen: from `observe_answer`.
        max_length: the longest answer, in tokens.
    """
    logits = AnswerLogits(seen.first[None], seen.last[None])
    best = best_answers(logits, max_length=max_length, null=0)
    if not best.found:
        return ""
    return write_bilingual(seen.tokens[best.first.item() - 1 : best.last.item()])
