"""Prefixes of removal orders as texts of their own: which there are, and what the model makes of each."""

from dataclasses import dataclass

import torch
from torch import Tensor

from attnlab.functional.erasure import NEVER
from attnlab.functional.prediction import class_probabilities, predicted_class
from attnlab.protocols.erasure.editing import Edit, edit, leading_chunk, read, real_positions
from attnlab.protocols.erasure.removals import Flips
from attnlab.protocols.protocol import Observation


@dataclass
class Prefixes:
    """N prefixes: the first ``count`` positions of an order of a text.

    Attributes:
        row: Number of the text, (N,).
        order: Number of the order, (N,).
        count: Positions in the prefix, (N,).
    """

    row: Tensor
    order: Tensor
    count: Tensor

    def __len__(self) -> int:
        return len(self.row)

    def __getitem__(self, which: Tensor | slice) -> "Prefixes":
        return Prefixes(self.row[which], self.order[which], self.count[which])

    @classmethod
    def wanted(cls, counts: Tensor, orders: int) -> "Prefixes":
        """Those of each order, by ascending count; ``counts`` tells which are wanted of each text, (B, T + 1) bool."""
        count, row = counts.T.nonzero(as_tuple=True)
        order = torch.arange(orders, device=row.device).repeat(len(row))
        return cls(row.repeat_interleave(orders), order, count.repeat_interleave(orders))


class PrefixReader:
    """Reads texts without the prefixes of orders, or without all else.

    Args:
        observation: B texts of T positions.
        orders: (B, R, T) positions, content before all else.
        how: What a removed token leaves.
        token_budget: Tokens read at once.
    """

    def __init__(self, observation: Observation, orders: Tensor, how: Edit, token_budget: int) -> None:
        self.seen, self.how, self.token_budget = observation, how, token_budget
        places = torch.arange(orders.shape[-1], device=orders.device).expand_as(orders)
        self.rank = torch.empty_like(orders).scatter_(-1, orders, places)
        self.real = real_positions(observation.batch)

    def without(self, counts: Tensor) -> tuple[Flips, Tensor]:
        """Remove ever longer prefixes until the decision flips.

        Every prefix is read, since removing more may undo a flip and no search by halves would find the first. An
        order whose decision has flipped is read on at the wanted counts only.

        Args:
            counts: Which are wanted in any case, (B, T + 1) bool.

        Returns:
            The first flip of each order; and the probability of the class that the whole text is given, (B, R, T + 1)
            by positions removed, NaN where it was not read.
        """
        seen, (B, R, T) = self.seen, self.rank.shape
        first = torch.full((B, R), T + 1, device=counts.device)
        at_flip = seen.probabilities.unsqueeze(1).repeat(1, R, 1)
        curve = at_flip.new_full((B, R, T + 1), torch.nan)
        numbers = torch.arange(T + 1, device=counts.device)
        left = Prefixes.wanted((numbers > 0) & (numbers <= seen.length.unsqueeze(1)), R)
        while len(left):
            now, left = self._split(left, alone=False)
            logits = self._read(now, alone=False)
            probabilities = class_probabilities(logits)
            curve[now.row, now.order, now.count] = self._of_prediction(probabilities, now)
            flipped = predicted_class(logits) != seen.prediction[now.row]
            flat = now.row * R + now.order
            first.view(-1).scatter_reduce_(0, flat[flipped], now.count[flipped], "amin")
            found = flipped & (first[now.row, now.order] == now.count)
            at_flip[now.row[found], now.order[found]] = probabilities[found]
            left = left[(first[left.row, left.order] > T) | counts[left.row, left.count]]
        return Flips(torch.where(first > T, NEVER, first), at_flip), curve

    def alone(self, counts: Tensor) -> Tensor:
        """Read prefixes of the wanted counts and nothing else, (B, T + 1) bool.

        Returns:
            The probability of the class that the whole text is given, (B, R, T + 1) by positions kept, NaN where it was
            not read.
        """
        B, R, T = self.rank.shape
        curve = self.seen.probabilities.new_full((B, R, T + 1), torch.nan)
        left = Prefixes.wanted(counts, R)
        while len(left):
            now, left = self._split(left, alone=True)
            probabilities = class_probabilities(self._read(now, alone=True))
            curve[now.row, now.order, now.count] = self._of_prediction(probabilities, now)
        return curve

    def _split(self, left: Prefixes, alone: bool) -> tuple[Prefixes, Prefixes]:
        """What is read at once, and the rest."""
        ahead = left[: self.token_budget]
        tokens = self.seen.batch.lengths[ahead.row]
        if self.how == "delete":
            gone = self.seen.length[ahead.row] - ahead.count if alone else ahead.count
            tokens = tokens - gone
        size = leading_chunk(tokens, self.token_budget)
        return left[:size], left[size:]

    def _read(self, prefixes: Prefixes, alone: bool) -> Tensor:
        """Logits (N, C)."""
        content = self.seen.batch.mask[prefixes.row]
        inside = self.rank[prefixes.row, prefixes.order] < prefixes.count.unsqueeze(1)
        removed = content & (~inside if alone else inside)
        kept = self.real[prefixes.row] & ~removed
        return read(self.seen.model, edit(self.seen.batch, prefixes.row, kept, self.how))

    def _of_prediction(self, probabilities: Tensor, prefixes: Prefixes) -> Tensor:
        return probabilities.gather(1, self.seen.prediction[prefixes.row].unsqueeze(1)).squeeze(1)
