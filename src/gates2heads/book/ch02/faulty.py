"""Chapter 2, a bug to find: word vectors from a correct loss, or from one with a bug."""

import torch
import torch.nn.functional as F
from torch import Tensor

from gates2heads.accepts import accepts, flag, natural
from gates2heads.book.ch02.small_language import small_language
from gates2heads.data.batches.windows import join_sentences, windows
from gates2heads.data.tokens.words import WordVocabulary
from gates2heads.grading.paper import bug_check
from gates2heads.models.words.outputs import NegativeSampling
from gates2heads.models.words.word2vec import Word2Vec

WIDTH, SENTENCES, WINDOW = 8, 1000, 2
FAULTS = {
    "a": "the windows extend across sentence boundaries",
    "b": "the scores of the noise words enter the loss without their minus sign",
    "c": "the input vectors receive no gradient, and only the output vectors are trained",
    "d": "every word is counted as one of its own context words",
}


class FaultyNegativeSampling(NegativeSampling):
    """The library's negative sampling with one bug, which the reader is to find."""

    def forward(self, hidden: Tensor, target: Tensor, noise: Tensor | None = None) -> Tensor:
        """As in `NegativeSampling`, except for the bug: hidden (N, D), target (N,) -> (N,)."""
        if noise is None:
            drawn = torch.multinomial(self.noise, self.negatives * len(target), replacement=True)
            noise = drawn.view(len(target), self.negatives)
        words = torch.cat([target[:, None], noise], dim=1)
        scores = (self.vectors(words) @ hidden[:, :, None])[:, :, 0]
        return F.softplus(-scores).sum(-1)


@accepts(faulty=flag, epochs=natural)
def small_words(*, faulty: bool = False, epochs: int = 5) -> tuple[Word2Vec, WordVocabulary, list]:
    """Train skip-gram vectors on the language of 28 words, with the bug or without.

    Returns:
        the model, its vocabulary, and the mean loss of each epoch.
    """
    sentences = small_language(SENTENCES)
    vocabulary = WordVocabulary.from_texts(sentences)
    text = join_sentences([vocabulary.encode(words) for words in sentences])
    torch.manual_seed(0)
    model = Word2Vec(vocabulary.counts, WIDTH)
    if faulty:
        model.output = FaultyNegativeSampling(vocabulary.counts, WIDTH)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    losses = []
    for epoch in range(epochs):
        total = []
        for batch in windows(text, window=WINDOW, batch_size=64, seed=epoch):
            optimizer.zero_grad()
            loss = model(batch)
            loss.backward()
            optimizer.step()
            total.append(loss.item())
        losses.append(sum(total) / len(total))
    return model.eval(), vocabulary, losses


check_fault = bug_check(
    "Exercise 2.6",
    FAULTS,
    {
        "a": "With bug (a), observed pairs would score higher than noise pairs; both score high.",
        "c": "With bug (c), input vectors would be random, with cosines near 0; all are near 1.",
        "d": "With bug (d), a word would score high with itself, noise low; all score high.",
    },
    closing=": the loss is lowest if all inner products are large, so all vectors coincide.",
)
