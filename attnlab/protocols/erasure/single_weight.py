"""Erasing the highest attention weight against a random other one (Serrano & Smith 2019, section 4)."""

from typing import ClassVar

import lightning as L
import numpy as np
import torch
from torch import Tensor

from attnlab.functional.divergence import jensen_shannon_divergence
from attnlab.protocols.exclusion import single_token_reasons
from attnlab.protocols.protocol import Column, Observation, Protocol
from attnlab.report.spec import BinnedViolin, Figure, Statistic


class SingleWeight(Protocol):
    """Does the most attended position matter more to the output than another does?

    Each erased weight leaves the rest to sum to 1 again. The other position is uniform over all but the highest; the
    published code takes a rank for a position there, so that it never draws the first position and sometimes draws
    the highest weight itself.

    Args:
        model: A trained model.
        seed: Seeds the random position, instance by instance.
    """

    statistics: ClassVar[tuple[Statistic, ...]] = (
        Statistic("js_top", "js_top", description="JSD of the output when the highest weight is erased"),
        Statistic("js_random", "js_random", description="JSD of the output when another weight is erased"),
        # Half is what a weight that says nothing would reach.
        Statistic(
            "negative",
            "delta_js",
            how="share",
            at_most=-1e-12,
            description="the other matters more",
            belief=(0.5, 0.0),
        ),
        Statistic("flip_both", "flip_both", how="share", description="decision flips by either"),
        Statistic("flip_only_top", "flip_only_top", how="share", description="decision flips by the highest alone"),
        Statistic("flip_only_random", "flip_only_random", how="share", description="decision flips by the other alone"),
        Statistic("flip_neither", "flip_neither", how="share", description="decision flips by neither"),
    )
    figures: ClassVar[tuple[Figure, ...]] = (
        BinnedViolin(
            "delta_js",
            column="delta_js",
            by="delta_attention",
            xlabel="ΔJS, highest − other",
            ylabel="Δ attention",
            range=(-0.05, 0.45),
        ),
    )

    def __init__(self, model: L.LightningModule, seed: int = 0) -> None:
        super().__init__(model)
        self.seed = seed

    def measure(self, observation: Observation) -> dict[str, Column]:
        """Output divergence and decision flip after each of the two erasures."""
        top = observation.attention.argmax(-1)
        other = random_other(observation.batch.mask, top, self.seed, observation.batch.index.tolist())
        pair = torch.stack([top, other], 1)
        erased = observation.predict(erase(observation.attention, pair))
        js = jensen_shannon_divergence(erased.double(), observation.probabilities.double().unsqueeze(1))
        flips = erased.argmax(-1) != observation.probabilities.argmax(-1, keepdim=True)
        weight = observation.attention.gather(-1, pair)
        position = (observation.batch.mask.long().cumsum(-1) - 1).gather(-1, pair)
        return {
            "top": position[:, 0],
            "random": position[:, 1],
            "delta_attention": weight[:, 0] - weight[:, 1],
            "js_top": js[:, 0],
            "js_random": js[:, 1],
            "delta_js": js[:, 0] - js[:, 1],
            "flip_both": flips.all(1),
            "flip_only_top": flips[:, 0] & ~flips[:, 1],
            "flip_only_random": flips[:, 1] & ~flips[:, 0],
            "flip_neither": ~flips.any(1),
            "excluded": single_token_reasons(observation.length),
        }


def random_other(mask: Tensor, top: Tensor, seed: int, index: list[int]) -> Tensor:
    """A position uniform over the content without the highest weight, (B,); the highest itself where it is alone."""
    others = mask.scatter(1, top.unsqueeze(1), False).cpu().numpy()
    chosen = top.cpu().numpy().copy()
    for row, identity in enumerate(index):
        places = np.flatnonzero(others[row])
        if len(places):
            chosen[row] = places[np.random.default_rng((seed, identity)).integers(len(places))]
    return torch.from_numpy(chosen).to(top.device)


def erase(attention: Tensor, positions: Tensor) -> Tensor:
    """Attention without each of K positions in turn, summing to 1 again.

    Args:
        attention: (B, T).
        positions: (B, K).

    Returns:
        (B, K, T); all zero where the position had all the attention.
    """
    rest = attention.unsqueeze(1).expand(-1, positions.shape[1], -1).scatter(-1, positions.unsqueeze(-1), 0)
    return rest / rest.sum(-1, keepdim=True).clamp_min(1e-12)
