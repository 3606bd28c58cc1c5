"""Erasing the highest attention weight against a random other one (Serrano & Smith 2019, section 4)."""

from typing import ClassVar

import lightning as L
import numpy as np
import torch
from torch import Tensor

from attnlab.functional.divergence import jensen_shannon_divergence
from attnlab.protocols.erasure.orders import TIED, sharing_highest
from attnlab.protocols.exclusion import single_token_reasons
from attnlab.protocols.protocol import Column, Observation, Protocol
from attnlab.report.spec import BinnedViolin, Figure, Statistic


class SingleWeight(Protocol):
    """Does the most attended position matter more to the output than another does?

    Each erased weight leaves the rest to sum to 1 again. Of several highest weights one is drawn. The other position is
    uniform over all but the highest; the published code takes a rank for a position there, so that it never draws the
    first position and sometimes draws the highest weight itself.

    Beside the divergence of the whole output, ``change_top`` and ``change_random`` hold p_c(erased) − p_c(whole) of
    every class c, predicted or not: signed, in the order of the classes, summing to zero. Their statistics are given
    class by class, over all instances.

    Args:
        model: A trained model.
        seed: Seeds the random position and ties, instance by instance.
    """

    statistics: ClassVar[tuple[Statistic, ...]] = (
        TIED,
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
        Statistic("effect_top", "change_top", "magnitude", "change of a class by the highest", by_class=True),
        Statistic("effect_random", "change_random", "magnitude", "change of a class by the other", by_class=True),
        Statistic(
            "top>random",
            "change_top",
            "larger",
            "share where the highest changes a class more",
            by_class=True,
            other="change_random",
        ),
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
        index = observation.batch.index.tolist()
        highest = sharing_highest(observation.attention, observation.mask)
        top = one_of(highest, self.seed, index)
        other = random_other(observation.mask, top, self.seed, index)
        pair = torch.stack([top, other], 1)
        erased = observation.predict(erase(observation.attention, pair))
        js = jensen_shannon_divergence(erased.double(), observation.probabilities.double().unsqueeze(1))
        change = erased.double() - observation.probabilities.double().unsqueeze(1)
        flips = erased.argmax(-1) != observation.probabilities.argmax(-1, keepdim=True)
        weight = observation.attention.gather(-1, pair)
        position = (observation.mask.long().cumsum(-1) - 1).gather(-1, pair)
        return {
            "tied": highest.sum(1) > 1,
            "top": position[:, 0],
            "random": position[:, 1],
            "delta_attention": weight[:, 0] - weight[:, 1],
            "js_top": js[:, 0],
            "js_random": js[:, 1],
            "delta_js": js[:, 0] - js[:, 1],
            "change_top": change[:, 0].tolist(),
            "change_random": change[:, 1].tolist(),
            "flip_both": flips.all(1),
            "flip_only_top": flips[:, 0] & ~flips[:, 1],
            "flip_only_random": flips[:, 1] & ~flips[:, 0],
            "flip_neither": ~flips.any(1),
            "excluded": single_token_reasons(observation.length, observation.unit),
        }


def one_of(candidates: Tensor, seed: int, index: list[int]) -> Tensor:
    """One of the candidates of each row, (B,): drawn where there are several, (B, T) bool."""
    chosen = candidates.int().argmax(1).cpu().numpy()
    marked = candidates.cpu().numpy()
    for row in np.flatnonzero(marked.sum(1) > 1):
        # A stream of its own: the other position is drawn from (seed, instance).
        chosen[row] = np.random.default_rng((seed, index[row], 1)).choice(np.flatnonzero(marked[row]))
    return torch.from_numpy(chosen).to(candidates.device)


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
