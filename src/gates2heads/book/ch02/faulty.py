"""Chapter 2, a bug to find: word vectors from a correct loss, or from one with a bug."""

import torch
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
    "b": "the K noise words are sampled once and used again in every step",
    "c": "the input vectors receive no gradient, and only the output vectors are trained",
    "d": "the scores of the noise words enter the loss without their minus sign",
}


class FaultyNegativeSampling(NegativeSampling):
    """The library's negative sampling with one bug, which the reader is to find."""

    first: Tensor | None = None  # the noise words of the first step, (K,)

    def forward(self, hidden: Tensor, target: Tensor, noise: Tensor | None = None) -> Tensor:
        """As in `NegativeSampling`, except for the bug: hidden (N, D), target (N,) -> (N,)."""
        if noise is None:
            if self.first is None:
                self.first = torch.multinomial(self.noise, self.negatives, replacement=True)
            noise = self.first.expand(len(target), -1)
        return super().forward(hidden, target, noise)


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
        "a": "With bug (a), arbitrary pairs are added, so the loss would rise; it is too low.",
        "c": "With bug (c), input vectors would be random, with cosines near 0; all are near 1.",
        "d": "With bug (d), the loss would approach 0 and no word would be rejected; five are.",
    },
    closing=": the model learns to reject only these five words and says yes to all others.",
)
