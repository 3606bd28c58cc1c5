"""How parameters start."""

import torch
from torch import nn


class Glorot:
    """Glorot-uniform matrices, zero biases, orthogonal recurrent matrices (public code of Serrano & Smith 2019).

    Recurrent biases are zero but for their second quarter, which is one: their code starts a GRU as one would an LSTM,
    where that quarter belongs to the forget gate. Convolutions and embeddings stay as they are.
    """

    @torch.no_grad()
    def __call__(self, module: nn.Module) -> None:
        """Start every linear and GRU layer inside a module anew."""
        for part in module.modules():
            if isinstance(part, nn.Linear):
                self._linear(part)
            elif isinstance(part, nn.GRU):
                self._recurrent(part)

    def _linear(self, layer: nn.Linear) -> None:
        nn.init.xavier_uniform_(layer.weight)
        if layer.bias is not None:
            nn.init.zeros_(layer.bias)

    def _recurrent(self, layer: nn.GRU) -> None:
        for name, parameter in layer.named_parameters():
            if name.startswith("weight_ih"):
                nn.init.xavier_uniform_(parameter)
            elif name.startswith("weight_hh"):
                nn.init.orthogonal_(parameter)
            elif name.startswith("bias_hh"):
                nn.init.zeros_(parameter)
                parameter[len(parameter) // 4 : len(parameter) // 2] = 1
