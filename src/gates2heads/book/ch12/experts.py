"""Chapter 12, mixture of experts: a router sends each token to one of several sublayers."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.accepts import accepts, count, floats
from gates2heads.layers.blocks import SwiGLU
from gates2heads.models.language.decoder_only import STD, DecoderOnly


@accepts(d_model=count, dim_feedforward=count, experts=count)
class MixtureOfExperts(nn.Module):
    """E feed-forward sublayers, of which each token is sent to one: Σ_e g_e(x) · expert_e(x).

    Source: Fedus et al. 2022 (Switch Transformer), section 2.1: g is the softmax of the router's
    logits, kept for the most probable expert alone. Departs from it in a capacity without limit:
    no token is left out.

    Args:
        d_model: width D.
        dim_feedforward: width F of each expert.
        experts: E.

    Attributes:
        balance: of the last call, E Σ_e f_e P_e (section 2.2, eq. 4): f_e is the share of the
            tokens that went to expert e, P_e its mean probability. It is 1 where all are equal.
        load: (E,) the shares f_e of the last call.
    """

    def __init__(self, d_model: int, dim_feedforward: int, experts: int):
        super().__init__()
        self.router = nn.Linear(d_model, experts, bias=False)
        self.experts = nn.ModuleList(SwiGLU(d_model, dim_feedforward) for _ in range(experts))
        for name, parameter in self.named_parameters():
            nn.init.normal_(parameter, std=STD / 4 if name.endswith("down_proj.weight") else STD)
        self.balance, self.load = torch.tensor(1.0), torch.zeros(experts)

    @accepts(vectors=floats("B S D"))
    def forward(self, vectors: Tensor) -> Tensor:
        """Map vectors (B, S, D) position by position: (B, S, D)."""
        probabilities = self.router(vectors).softmax(dim=-1)  # (B, S, E)
        gate, chosen = probabilities.max(dim=-1)  # (B, S)
        sent = F.one_hot(chosen, len(self.experts)).to(vectors.dtype)  # (B, S, E)
        self.load = sent.flatten(0, 1).mean(dim=0)
        self.balance = len(self.experts) * (self.load * probabilities.flatten(0, 1).mean(0)).sum()
        # Every expert is computed for every token here, and all outputs but one are multiplied by
        # 0: as slow as one wide sublayer. Programs for many experts gather the tokens instead.
        outputs = torch.stack([expert(vectors) for expert in self.experts], dim=-1)  # (B, S, D, E)
        return (outputs * (sent * gate[..., None])[..., None, :]).sum(dim=-1)


def with_experts(model: DecoderOnly, experts: int) -> DecoderOnly:
    """Replace each feed-forward sublayer of a model by several of the same size, and a router."""
    for layer in model.layers:
        hidden = layer.feed_forward.gate_proj.out_features
        layer.feed_forward = MixtureOfExperts(model.d_model, hidden, experts)
    return model


def mixtures(model: nn.Module) -> list[MixtureOfExperts]:
    """The mixtures of experts in a model, from the first layer on."""
    return [one for one in model.modules() if isinstance(one, MixtureOfExperts)]


def balance_loss(model: nn.Module) -> Tensor:
    """The mean of what `MixtureOfExperts.balance` says of each layer after a forward pass."""
    return torch.stack([mixture.balance for mixture in mixtures(model)]).mean()
