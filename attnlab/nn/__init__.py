"""Encoders, attention mechanisms and readouts: plain modules without training logic."""

from attnlab.nn.attention import Additive, Frozen, ScaledDot, Uniform
from attnlab.nn.encoded import Encoded
from attnlab.nn.encoders import BiGRU, BiLSTM, Convolution, Identity, Projection
from attnlab.nn.initialisation import Glorot
from attnlab.nn.readout import LinearReadout, QueryReadout

__all__ = [
    "Additive",
    "BiGRU",
    "BiLSTM",
    "Convolution",
    "Encoded",
    "Frozen",
    "Glorot",
    "Identity",
    "LinearReadout",
    "Projection",
    "QueryReadout",
    "ScaledDot",
    "Uniform",
]
