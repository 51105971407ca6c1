"""Chapter 12, mixture of experts: a router sends each token to one of several sublayers."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gates2heads.accepts import accepts, floats, instance, natural
from gates2heads.layers.blocks import SwiGLU
from gates2heads.models.language.decoder_only import STD, DecoderOnly


@accepts(d_model=natural, dim_feedforward=natural, experts=natural)
class MixtureOfExperts(nn.Module):
    """E feed-forward sublayers, of which each token uses one: g_e(x) · expert_e(x).

    Source: Fedus et al. 2022 (Switch Transformer), section 2.1: the router computes probabilities
    for the experts, and the largest of them is both the choice e and the gate g_e. Departs from it
    in a capacity without limit: no token is left out.

    Args:
        d_model: width D.
        dim_feedforward: width F of each expert.
        experts: E.

    Attributes:
        load: (E,) of the last call, the share of its tokens that went to each expert.
        balance: of the last call, E Σ_e f_e P_e (section 2.2, eq. 4): f_e is the load of expert e,
            P_e its mean probability. It is 1 where all probabilities are equal.
    """

    def __init__(self, d_model: int, dim_feedforward: int, experts: int):
        super().__init__()
        self.d_model = d_model
        self.router = nn.Linear(d_model, experts, bias=False)
        self.experts = nn.ModuleList(SwiGLU(d_model, dim_feedforward) for _ in range(experts))
        self.load, self.balance = torch.full((experts,), 1 / experts), torch.tensor(1.0)

    @accepts(vectors=floats("B S d_model"))
    def forward(self, vectors: Tensor) -> Tensor:
        """Map vectors (B, S, D) position by position: (B, S, D)."""
        rows = vectors.flatten(0, 1)  # (B·S, D)
        probabilities = self.router(rows).softmax(dim=-1)  # (B·S, E)
        gate, chosen = probabilities.max(dim=-1)  # (B·S,)
        self.load = F.one_hot(chosen, len(self.experts)).to(rows.dtype).mean(dim=0)
        self.balance = len(self.experts) * (self.load * probabilities.mean(dim=0)).sum()
        output = torch.zeros_like(rows)
        for number, expert in enumerate(self.experts):
            sent = (chosen == number).nonzero()[:, 0]  # which rows go to this expert
            if len(sent):
                output[sent] = gate[sent, None] * expert(rows[None, sent])[0]
        return output.view_as(vectors)


@accepts(model=instance(DecoderOnly), experts=natural)
def with_experts(model: DecoderOnly, experts: int) -> DecoderOnly:
    """Replace each feed-forward sublayer of a model by several of the same size, and a router.

    Args:
        model: changed in place; the new parameters have the same initialisation as the old.
        experts: E.

    Raises:
        ValueError: the model has another feed-forward sublayer than SwiGLU.
    """
    if not all(isinstance(layer.feed_forward, SwiGLU) for layer in model.layers):
        raise ValueError('model must have feed_forward="swiglu", got another sublayer')
    adding = STD / math.sqrt(2 * len(model.layers))
    for layer in model.layers:
        hidden = layer.feed_forward.gate_proj.out_features
        layer.feed_forward = MixtureOfExperts(model.d_model, hidden, experts)
        for name, parameter in layer.feed_forward.named_parameters():
            nn.init.normal_(parameter, std=adding if name.endswith("down_proj.weight") else STD)
    return model


@accepts(model=instance(nn.Module))
def mixtures(model: nn.Module) -> list[MixtureOfExperts]:
    """The mixtures of experts in a model, from the first layer on."""
    return [one for one in model.modules() if isinstance(one, MixtureOfExperts)]


@accepts(model=instance(nn.Module))
def balance_loss(model: nn.Module) -> Tensor:
    """The sum over layers of `MixtureOfExperts.balance`, as the last forward pass left it.

    It is the number of layers where all probabilities are equal.
    """
    return torch.stack([mixture.balance for mixture in mixtures(model)]).sum()
