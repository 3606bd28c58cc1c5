"""Folded decoding: attention applied to values that already went through the readout's affine map.

A readout that is affine in the context vector c = Σ_t α_t h_t gives W c = Σ_t α_t (W h_t). Folding W into the
hidden states once per batch makes any number of counterfactual attentions cost one small matrix product each.
"""

import torch
from torch import Tensor


def fold(hidden: Tensor, weight: Tensor) -> Tensor:
    """Project hidden states by the readout's first affine map, without its bias.

    Args:
        hidden: (B, T, H).
        weight: (D, H).

    Returns:
        Values (B, T, D).
    """
    return hidden @ weight.T


def attend_values(values: Tensor, attention: Tensor) -> Tensor:
    """Weighted sums of values under any number of counterfactual attentions.

    Args:
        values: (B, T, D).
        attention: (B, *K, T).

    Returns:
        (B, *K, D).
    """
    flat = attention.flatten(1, -2) if attention.dim() > 2 else attention.unsqueeze(1)
    return torch.bmm(flat, values).view(*attention.shape[:-1], values.shape[-1])
