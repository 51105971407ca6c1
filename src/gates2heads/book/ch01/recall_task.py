"""Chapter 1, the recall task: name the first letter of a sequence after its last symbol."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.accepts import accepts, any_seed, choice, flag, module, natural, tokens
from gates2heads.layers.recurrent.by_name import CELLS, recurrent_layer
from gates2heads.training.losses import cross_entropy

LETTERS, NOISE, UNITS = 8, 8, 32  # kinds of letters, of noise symbols; numbers in a hidden state
SYMBOLS = LETTERS + NOISE


@accepts(cell=choice(CELLS), units=natural, orthogonal=flag, identity=flag)
class Rememberer(nn.Module):
    """Classify a sequence by its first letter, with one recurrent layer and an output layer.

    Args:
        cell: a name of `CELLS`: "rnn", "gru" or "lstm".
        units: U, the width of the hidden state.
        forget_bias: the initial bias of an LSTM's forget gates; if not given, small random
            numbers as in `torch.nn.LSTM`.
        orthogonal: initialise W of a plain RNN with a random orthogonal matrix.
        identity: initialise it with the identity matrix.

    Raises:
        ValueError: a forget bias is given for a cell without a forget gate, or `orthogonal` or
            `identity` for a cell with gates.

    Source: Le, Jaitly & Hinton 2015 for the identity (there with ReLU in place of tanh).
    """

    def __init__(
        self,
        cell: str,
        units: int = UNITS,
        forget_bias: float | None = None,
        orthogonal: bool = False,
        identity: bool = False,
    ):
        super().__init__()
        self.recurrent = recurrent_layer(cell, SYMBOLS, units)
        self.readout = nn.Linear(units, LETTERS)
        if forget_bias is not None:
            if cell != "lstm":
                raise ValueError(f"forget_bias must be None for {cell}, got {forget_bias}")
            with torch.no_grad():  # rows: input gate, forget gate, candidate, output gate
                self.recurrent.bias_ih_l0[units : 2 * units] = float(forget_bias)
                self.recurrent.bias_hh_l0[units : 2 * units] = 0.0
        for name, wanted, initialise in (
            ("orthogonal", orthogonal, nn.init.orthogonal_),
            ("identity", identity, nn.init.eye_),
        ):
            if wanted:
                if cell != "rnn":
                    raise ValueError(f"{name} must be False for {cell}, got True")
                initialise(self.recurrent.weight_hh_l0)

    @accepts(texts=tokens("B S", below=SYMBOLS))
    def forward(self, texts: Tensor, *, mask: Tensor | None = None) -> Tensor:
        """Compute logits (B, 8) for texts (B, S), whose ends mask (B, S) may mark as padding."""
        _, final = self.recurrent(self.vectors(texts), mask=mask)
        hidden = final[0] if isinstance(final, tuple) else final  # (1, B, U)
        return self.readout(hidden[0])

    @accepts(texts=tokens("B S", below=SYMBOLS))
    def vectors(self, texts: Tensor) -> Tensor:
        """One-hot vectors (B, S, 16) of texts (B, S), in the precision of the weights."""
        return F.one_hot(texts.long(), SYMBOLS).to(self.readout.weight.dtype)


@accepts(count=natural, distance=natural, seed=any_seed, letters_only=flag)
def texts(
    count: int, distance: int, *, shortest: int = 1, seed: int = 0, letters_only: bool = False
) -> Iterator[Tensor]:
    """Yield random batches (B, k + 1) indefinitely: a letter, then k symbols of noise.

    Args:
        count: B, sequences in a batch.
        distance: the largest k. For each batch, k is sampled uniformly.
        shortest: the smallest k.
        seed: of the random numbers.
        letters_only: the noise consists of letters too, so that no symbol shows by itself whether
            it is the one to recall.
    """
    if shortest > distance:
        raise ValueError(f"shortest must be at most the distance {distance}, got {shortest}")
    draw = torch.Generator().manual_seed(int(seed))
    while True:
        steps = int(torch.randint(shortest, distance + 1, (), generator=draw))
        letter = torch.randint(LETTERS, (count, 1), generator=draw)
        kinds = (0, LETTERS) if letters_only else (LETTERS, SYMBOLS)
        noise = torch.randint(*kinds, (count, steps), generator=draw)
        yield torch.cat([letter, noise], 1)


@accepts(model=module, batch=tokens("B S", below=SYMBOLS))
def recall_loss(model: nn.Module, batch: Tensor) -> Tensor:
    """Mean cross-entropy of the first letters, in nats; random guessing gives ln 8 = 2.08.

    Args:
        model: from sequences (B, S) to logits (B, 8).
        batch: sequences (B, S), each with a letter first.

    Raises:
        ValueError: a sequence does not begin with a letter.
    """
    _check_letters(batch)
    return cross_entropy(model(batch)[:, None], batch[:, :1])


@accepts(model=module, batch=tokens("B S", below=SYMBOLS))
def recalled(model: nn.Module, batch: Tensor) -> float:
    """The accuracy of the predicted first letters of sequences (B, S); guessing gives 1/8.

    Raises:
        ValueError: as in `recall_loss`.
    """
    _check_letters(batch)
    with torch.no_grad():
        return (model(batch).argmax(-1) == batch[:, 0]).double().mean().item()


def _check_letters(batch: Tensor) -> None:
    if (batch[:, 0] >= LETTERS).any():
        raise ValueError(f"batch must begin each sequence with a letter below {LETTERS}, got noise")
