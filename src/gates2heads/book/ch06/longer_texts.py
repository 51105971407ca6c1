"""Chapter 6, longer texts: small language models that differ in their positional encoding alone.

Each model reads characters, has two causal Transformer layers (chapter 7) of width 64, and predicts
the next character.
"""

from torch import Tensor, nn

from gates2heads.accepts import accepts, choice, natural, tokens
from gates2heads.layers.attention.alibi import ALiBiAttention
from gates2heads.layers.attention.multi_head import MultiHeadAttention
from gates2heads.layers.blocks import FeedForward, Residual
from gates2heads.layers.positions import SinusoidalPositions

WIDTH, HEADS, LAYERS = 64, 4, 2
ENCODINGS = ("sinusoidal", "rotary", "alibi")


class Layer(nn.Module):
    """Self-attention and a feed-forward network, each with a residual connection (pre-norm)."""

    def __init__(self, encoding: str):
        super().__init__()
        self.attention = (
            ALiBiAttention(WIDTH, HEADS)
            if encoding == "alibi"
            else MultiHeadAttention(WIDTH, HEADS, rotary=encoding == "rotary")
        )
        self.forward_network = FeedForward(WIDTH, 4 * WIDTH)
        self.residuals = nn.ModuleList(Residual(WIDTH, norm_first=True) for _ in range(2))

    def forward(self, vectors: Tensor) -> Tensor:
        """(B, L, D) -> (B, L, D); each position attends to itself and to those before it."""
        first, second = self.residuals
        inputs = first.before(vectors)
        always = isinstance(self.attention, ALiBiAttention)  # which is causal by itself
        mixed = self.attention(inputs) if always else self.attention(inputs, causal=True)
        vectors = first.after(vectors, mixed)
        return second.after(vectors, self.forward_network(second.before(vectors)))


@accepts(encoding=choice(ENCODINGS), symbols=natural)
class CharacterModel(nn.Module):
    """A causal language model over characters.

    Args:
        encoding: `sinusoidal` is added to the input; `rotary` and `alibi` act in every layer.
        symbols: how many different characters there are.
    """

    def __init__(self, encoding: str, symbols: int):
        super().__init__()
        self.symbols = symbols
        self.embedding = nn.Embedding(symbols, WIDTH)
        nn.init.normal_(self.embedding.weight, std=WIDTH**-0.5)
        self.places = SinusoidalPositions(WIDTH) if encoding == "sinusoidal" else nn.Identity()
        self.layers = nn.ModuleList(Layer(encoding) for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.readout = nn.Linear(WIDTH, symbols)

    @accepts(tokens=tokens("B S", below="symbols"))
    def forward(self, tokens: Tensor) -> Tensor:
        """Read characters (B, S); return logits (B, S, symbols) over the next one."""
        vectors = self.places(self.embedding(tokens) * WIDTH**0.5)
        for layer in self.layers:
            vectors = layer(vectors)
        return self.readout(self.norm(vectors))
