"""Chapter 2, when it breaks: word vectors from a sound loss, or from one with a fault."""

import torch
import torch.nn.functional as F
from torch import Tensor

from gates2heads.accepts import accepts, count, flag
from gates2heads.book.ch02.small_language import small_language
from gates2heads.data.batches.windows import join_sentences, windows
from gates2heads.data.tokens.words import WordVocabulary
from gates2heads.grading.verdict import check, chosen_fault
from gates2heads.models.words.outputs import NegativeSampling
from gates2heads.models.words.word2vec import Word2Vec

WIDTH, SENTENCES, WINDOW = 8, 1000, 2
FAULTS = {
    "a": "the windows reach across the ends of sentences",
    "b": "the noise words are pulled near like the right ones, since a minus is missing",
    "c": "the vectors of the centres get no gradient, and only those of the outputs learn",
    "d": "every word counts as one of its own context words",
}


class FaultyNegativeSampling(NegativeSampling):
    """The library's negative sampling with one fault, which the reader is to find."""

    def forward(self, hidden: Tensor, target: Tensor, noise: Tensor | None = None) -> Tensor:
        """As in `NegativeSampling`, but for the fault: hidden (N, D), target (N,) -> (N,)."""
        if noise is None:
            drawn = torch.multinomial(self.noise, self.negatives * len(target), replacement=True)
            noise = drawn.view(len(target), self.negatives)
        words = torch.cat([target[:, None], noise], dim=1)
        scores = (self.vectors(words) @ hidden[:, :, None])[:, :, 0]
        return F.softplus(-scores).sum(-1)


@accepts(faulty=flag, epochs=count)
def small_words(*, faulty: bool = False, epochs: int = 5) -> tuple[Word2Vec, WordVocabulary, list]:
    """Train skip-gram vectors on the language of 28 words, with the fault or without.

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


@check("Exercise 2.6")
def check_fault(letter) -> str:
    """Check the reader's diagnosis of the faulty vectors: one letter of `FAULTS`."""
    contradiction = {
        "a": "Then right words would still score higher than drawn ones; here both score high.",
        "c": "Then the centres' vectors would be as random as they began, with cosines near 0; all "
        "are 1.00.",
        "d": "Then a word would score high with itself and drawn words low; here all score high.",
    }
    fault = chosen_fault(letter, FAULTS, contradiction)
    return f"{fault}: the loss is least where every product is large, and nothing is told apart."
