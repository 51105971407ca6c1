"""Step functions that the tests of the searches share: random tables, beside the note's two."""

import itertools

import torch

from gates2heads.watching.two_tables import (  # noqa: F401
    AFTER_C,
    BOS,
    EOS,
    START,
    TABLE,
    A,
    B,
    C,
    two_tables,
)


class RandomTables:
    """A distribution of its own after every prefix, for each of several sources."""

    def __init__(self, sources, size, length, seed, *, zeros=0.0, sharpness=1.0):
        generator = torch.Generator().manual_seed(seed)
        self.sources, self.size, self.length, self.levels = sources, size, length, []
        for level in range(length):
            shape = (sources, size**level, size)
            scores = sharpness * torch.randn(shape, generator=generator).double()
            closed = torch.rand(shape, generator=generator) < zeros
            closed[..., 0] = False
            self.levels.append(scores.masked_fill(closed, -torch.inf).log_softmax(-1))
        self.calls = []  # how many rows each step had

    @property
    def start(self):
        nothing = torch.zeros(self.sources, dtype=torch.long)
        return {"source": torch.arange(self.sources), "prefix": nothing, "level": 0}

    @property
    def bos(self):
        return torch.zeros(self.sources, dtype=torch.long)

    def step(self, state, last_tokens):
        source, prefix, level = state.values()
        self.calls.append(len(last_tokens))
        if level:
            prefix = prefix * self.size + last_tokens
        state = {"source": source, "prefix": prefix, "level": level + 1}
        return self.levels[level][source, prefix], state

    def only(self, source):
        """The same for one source alone."""
        twin = RandomTables(1, self.size, self.length, 0)
        twin.levels = [level[source : source + 1] for level in self.levels]
        return twin

    def all_sequences(self, source, eos):
        """Every complete sequence with its log-probability, by the definition."""
        found = []
        for length in range(1, self.length + 1):
            for tokens in itertools.product(range(self.size), repeat=length):
                ends = tokens[-1] == eos
                if eos in tokens[:-1] or (length < self.length and not ends):
                    continue
                total, prefix = 0.0, 0
                for level, token in enumerate(tokens):
                    total += self.levels[level][source, prefix, token].item()
                    prefix = prefix * self.size + token
                found.append((list(tokens), total))
        return found


def sequences(hypotheses, source):
    """The tokens of one source's hypotheses, without padding and empty ones."""
    rows = zip(hypotheses.tokens[source].tolist(), hypotheses.length[source].tolist(), strict=True)
    return [tokens[:length] for tokens, length in rows if length]
