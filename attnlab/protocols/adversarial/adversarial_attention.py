"""Adversarial attention (Jain & Wallace 2019, section 4.2.2)."""

import logging
import math
from typing import ClassVar, Literal

import lightning as L
import numpy as np
import torch
from torch import Tensor

from attnlab.functional.adversarial import best_admissible, exact_adversary, search_adversary
from attnlab.functional.definition import Definition, check_definition
from attnlab.functional.divergence import total_variation_distance
from attnlab.functional.prediction import positive_margin
from attnlab.protocols.exclusion import single_token_reasons
from attnlab.protocols.protocol import Column, Observation, Protocol
from attnlab.report.spec import BinnedViolin, Figure, Histogram, Statistic

log = logging.getLogger(__name__)

Solver = Literal["exact", "search"]


class AdversarialAttention(Protocol):
    """Largest Jensen–Shannon divergence from the model's attention that keeps the prediction within ε.

    Args:
        model: A trained model.
        epsilon: Total variation distance allowed. The paper's text says .01 for classification; the published figures
            were made with .05.
        solver: ``exact`` where the readout is linear with two classes, else (or when asked for) the published
            ``search``. The records say which made each value.
        restarts: K, attentions searched at once per instance.
        steps: Adam steps of the search.
        learning_rate: Step size of the search.
        penalty: λ of the search.
        penalty_epsilon: ε inside the search's penalty; ``epsilon`` when not given (the published code: .01).
        objective: ``paper`` or ``published_code``, see :func:`~attnlab.functional.adversarial.search_adversary`.
        seed: Seeds the starting points, instance by instance.
    """

    statistics: ClassVar[tuple[Statistic, ...]] = (
        Statistic("jsd", "jsd", description="ε-max JSD, mean over instances", belief=(math.log(2), 0.0)),
        Statistic("jsd_median", "jsd", how="median", description="ε-max JSD, median over instances"),
        Statistic("jsd_above_.6", "jsd", how="share", description="share of ε-max JSD >= .6", at_least=0.6),
        Statistic("tvd", "tvd", description="change of the prediction under that attention"),
    )
    figures: ClassVar[tuple[Figure, ...]] = (
        Histogram("jsd", column="jsd", xlabel="ε-max JSD", range=(0.0, 0.7), bins=40),
        BinnedViolin(
            "jsd_by_max_attention",
            column="jsd",
            by="max_attention",
            xlabel="ε-max JSD",
            ylabel="max attention",
            range=(0.0, 0.7),
        ),
    )

    def __init__(
        self,
        model: L.LightningModule,
        epsilon: float = 0.01,
        solver: Solver = "exact",
        restarts: int = 5,
        steps: int = 500,
        learning_rate: float = 0.01,
        penalty: float = 500.0,
        penalty_epsilon: float | None = None,
        objective: Definition = "paper",
        seed: int = 0,
    ) -> None:
        super().__init__(model)
        if not 0 < epsilon < 1:
            raise ValueError(f"epsilon must lie between 0 and 1, not {epsilon}")
        if solver not in ("exact", "search"):
            raise ValueError(f"solver must be 'exact' or 'search', not {solver!r}")
        check_definition("objective", objective)
        self.epsilon = epsilon
        self.solver = solver
        self.restarts, self.steps, self.seed = restarts, steps, seed
        self.learning_rate, self.penalty, self.objective = learning_rate, penalty, objective
        self.penalty_epsilon = epsilon if penalty_epsilon is None else penalty_epsilon
        self._warned = False

    def measure(self, observation: Observation) -> dict[str, Column]:
        """ε-max JSD, the attention that reaches it, and what made it."""
        exact = self.solver == "exact" and self._exact_applies(observation)
        columns, adversary = self._exact(observation) if exact else self._search(observation)
        change = total_variation_distance(
            observation.predict(adversary.to(observation.attention.dtype)), observation.probabilities
        )
        return {
            **columns,
            "tvd": change,
            "adversary": adversary,
            "solver": ["exact" if exact else "search"] * len(observation.batch),
            "excluded": single_token_reasons(observation.length, observation.unit),
        }

    def _exact_applies(self, observation: Observation) -> bool:
        linear = "linear_readout" in getattr(observation.model, "gives", ())
        two_classes = observation.probabilities.shape[-1] == 2
        if not (linear and two_classes) and not self._warned:
            self._warned = True
            why = "more than two classes" if linear else "a readout that is not linear"
            log.warning("adversarial_attention: solver=exact does not apply to %s; the search is used instead", why)
        return linear and two_classes

    def _exact(self, observation: Observation) -> tuple[dict[str, Column], Tensor]:
        margins, bias = token_margins(observation)
        solution = exact_adversary(margins, bias, observation.attention, observation.mask, self.epsilon)
        before = observation.mask.long().cumsum(-1) - 1  # content position of each padded position
        pair = torch.stack([solution.first, solution.second], 1)
        columns: dict[str, Column] = {"jsd": solution.jsd, "pair": before.gather(1, pair).tolist()}
        return columns, solution.attention(margins.shape[1])

    def _search(self, observation: Observation) -> tuple[dict[str, Column], Tensor]:
        mask, attention = observation.mask, observation.attention
        candidates = search_adversary(
            observation.predict,
            attention,
            mask,
            self._start(observation),
            epsilon=self.penalty_epsilon,
            steps=self.steps,
            learning_rate=self.learning_rate,
            penalty=self.penalty,
            objective=self.objective,
        )
        change = total_variation_distance(observation.predict(candidates), observation.probabilities.unsqueeze(1))
        jsd, adversary = best_admissible(candidates, change, attention, self.epsilon)
        return {"jsd": jsd.double()}, adversary

    def _start(self, observation: Observation) -> Tensor:
        """Scores 3·N(0, 1) around uniform, drawn for the content positions so that padding changes nothing."""
        mask = observation.mask.cpu().numpy()
        start = np.zeros((len(mask), self.restarts, mask.shape[1]), dtype=np.float32)
        for row, content, identity in zip(start, mask, observation.batch.index.tolist(), strict=True):
            places = np.flatnonzero(content)
            noise = np.random.default_rng((self.seed, identity)).standard_normal((self.restarts, len(places)))
            row[:, places] = 3 * noise
        return torch.from_numpy(start).to(observation.attention)


def token_margins(observation: Observation) -> tuple[Tensor, Tensor]:
    """What each token would add to the log-odds with all attention on it, (B, T), and the readout's bias, (B,)."""
    none = torch.zeros_like(observation.attention).unsqueeze(1)
    bias = positive_margin(observation.model.decode(observation.encoded, none)).squeeze(1)
    margins = positive_margin(observation.token_logits) - bias.unsqueeze(1)
    return margins, bias
