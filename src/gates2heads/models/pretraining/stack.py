"""The common components of GPT and BERT: embeddings, learned positions, self-attention layers."""

from torch import Tensor, nn

from gates2heads.accepts import accepts, flag, fraction, natural
from gates2heads.layers.positions import LearnedPositions
from gates2heads.layers.transformer_layers import EncoderLayer

STD = 0.02  # of the initial weights: Radford et al. 2018, section 4.1, and BERT's code


@accepts(
    vocabulary_size=natural,
    d_model=natural,
    nhead=natural,
    num_layers=natural,
    dim_feedforward=natural,
    dropout=fraction,
    norm_first=flag,
    max_length=natural,
)
class TokenStack(nn.Module):
    """The components that process tokens; a subclass defines the forward pass and the outputs.

    Args:
        vocabulary_size: V.
        d_model: width D.
        nhead: number of heads H.
        num_layers: the number of layers.
        dim_feedforward: width F; 4 · D if not given.
        dropout: on embeddings and on the output of each sublayer.
        norm_first: True is pre-norm, False post-norm.
        max_length: the longest sequence that the model accepts or generates, in tokens.
    """

    def __init__(
        self,
        vocabulary_size: int,
        *,
        d_model: int = 128,
        nhead: int = 4,
        num_layers: int = 4,
        dim_feedforward: int | None = None,
        dropout: float = 0.1,
        norm_first: bool = False,
        max_length: int = 128,
    ):
        super().__init__()
        hidden = 4 * d_model if dim_feedforward is None else dim_feedforward
        self.vocabulary_size, self.d_model = vocabulary_size, d_model
        self.max_length, self.dropout = max_length, dropout
        self.width = d_model  # of each layer's states, the input of a task's head
        self.token_table = nn.Embedding(vocabulary_size, d_model)
        self.positions = LearnedPositions(max_length, d_model)
        self.layers = nn.ModuleList(
            EncoderLayer(d_model, nhead, hidden, dropout, "gelu", norm_first=norm_first)
            for _ in range(num_layers)
        )

    def draw_weights(self, *, adding: float = STD) -> None:
        """Initialise all matrices from a normal distribution, and their biases to 0.

        Args:
            adding: the standard deviation of those that add to a residual path.
        """
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1:
                adds = name.endswith(("out_proj.weight", "linear2.weight"))
                nn.init.normal_(parameter, std=adding if adds else STD)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.zeros_(module.bias)


def check_length(name: str, tokens: Tensor, longest: int, *, start: int = 0) -> None:
    """Reject tokens (B, L) that extend beyond the model's last position, beginning at `start`.

    Raises:
        ValueError: with a message that names the argument.
    """
    length = start + tokens.shape[1]
    if length > longest:
        raise ValueError(f"{name} must be at most {longest} tokens long, got {length}")
