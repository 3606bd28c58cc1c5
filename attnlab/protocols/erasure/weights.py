"""Prefixes of removal orders erased from attention; the encoder does not run again."""

import torch
from torch import Tensor

from attnlab.functional.erasure import Replacement, erased_contexts, removals_to_flip
from attnlab.functional.prediction import class_probabilities, predicted_class
from attnlab.protocols.erasure.removals import Flips
from attnlab.protocols.protocol import Observation

NUMBERS_AT_ONCE = 2**21
"""Weighted sums held at a time, unless a single order has more; bounds memory, changes no result."""


def erase_weights(observation: Observation, orders: Tensor, replacement: Replacement = "renormalise") -> Flips:
    """The first flip of each order, from every prefix of it.

    Args:
        observation: B instances of T positions, whose readout can be folded.
        orders: (B, R, T) positions, content before all else.
        replacement: What an erased weight leaves.
    """
    values = observation.model.values(observation.encoded)
    numbers = len(values) * (values.shape[1] + 1) * values.shape[2]
    size = max(1, NUMBERS_AT_ONCE // max(1, numbers))
    starts = range(0, orders.shape[1], size)
    parts = [_erase(observation, values, orders[:, start : start + size], replacement) for start in starts]
    return Flips(torch.cat([part.removed for part in parts], 1), torch.cat([part.probabilities for part in parts], 1))


def _erase(observation: Observation, values: Tensor, orders: Tensor, replacement: Replacement) -> Flips:
    contexts = erased_contexts(values, observation.attention, observation.mask, orders, replacement)
    classes = predicted_class(observation.model.finish(contexts, observation.encoded))
    removed = removals_to_flip(classes, observation.prediction, observation.length)
    place = removed.clamp_min(0)[:, :, None, None].expand(-1, -1, 1, contexts.shape[-1])
    at_flip = observation.model.finish(contexts.gather(2, place).squeeze(2), observation.encoded)
    return Flips(removed, class_probabilities(at_flip))
