import itertools

import pytest
import torch

from attnlab.functional.erasure import (
    NEVER,
    descending_order,
    erased_contexts,
    optimal_order,
    removals_to_flip,
)
from attnlab.functional.masking import masked_softmax
from attnlab.functional.prediction import predicted_class


def _instances(n=40, length=7, outputs=1, seed=0):
    generator = torch.Generator().manual_seed(seed)
    mask = torch.arange(length) < torch.randint(1, length + 1, (n, 1), generator=generator)
    values = torch.randn(n, length, outputs, dtype=torch.float64, generator=generator)
    attention = masked_softmax(2 * torch.randn(n, length, dtype=torch.float64, generator=generator), mask)
    bias = 0.3 * torch.randn(outputs, dtype=torch.float64, generator=generator)
    return values, attention, mask, bias


def _logits(values, attention, bias, kept, replacement="renormalise"):
    """Logits of one instance with the positions in ``kept``, the plain way."""
    weights = torch.zeros_like(attention)
    weights[list(kept)] = attention[list(kept)]
    if replacement == "renormalise" and weights.sum() > 0:
        weights = weights / weights.sum()
    return weights @ values + bias


@pytest.mark.parametrize("replacement", ["renormalise", "zero", "mean"])
def test_every_prefix_equals_erasing_one_by_one(replacement):
    values, attention, mask, _ = _instances(outputs=3)
    order = descending_order(attention, mask, torch.rand(attention.shape).argsort(-1))
    contexts = erased_contexts(values, attention, mask, order.unsqueeze(1), replacement)[:, 0]
    for row in range(len(values)):
        n = int(mask[row].sum())
        for k in range(n + 1):
            gone, kept = order[row, :k].tolist(), order[row, k:n].tolist()
            expected = _logits(values[row], attention[row], 0, kept, replacement)
            if replacement == "mean":
                expected = expected + attention[row][gone].sum() * values[row][:n].mean(0)
            torch.testing.assert_close(contexts[row, k], expected, atol=1e-9, rtol=0)


def test_erasing_nothing_changes_nothing_and_all_leaves_the_bias():
    values, attention, mask, _ = _instances()
    order = descending_order(attention, mask, torch.rand(attention.shape).argsort(-1)).unsqueeze(1)
    contexts = erased_contexts(values, attention, mask, order)
    torch.testing.assert_close(contexts[:, 0, 0], torch.einsum("bt,btd->bd", attention, values))
    assert (contexts[:, 0, -1] == 0).all()


def test_content_comes_first_and_ties_in_the_given_order():
    mask = torch.tensor([[False, True, True, True, False]])
    ties = torch.tensor([[4, 0, 2, 3, 1]])
    assert descending_order(torch.ones(1, 5), mask, ties)[0, :3].tolist() == [2, 3, 1]
    assert descending_order(torch.tensor([[9.0, 1, 3, 2, 9]]), mask, ties)[0, :3].tolist() == [2, 3, 1]


def test_removals_are_counted_up_to_the_length():
    classes = torch.tensor([[[0, 0, 1, 0]], [[0, 0, 0, 1]], [[0, 0, 0, 0]]])
    found = removals_to_flip(classes, torch.zeros(3, dtype=torch.long), torch.tensor([3, 2, 3]))
    assert found[:, 0].tolist() == [2, NEVER, NEVER]


@pytest.mark.parametrize("outputs", [1, 3, 4])
def test_the_optimum_is_the_smallest_of_all_subsets(outputs):
    values, attention, mask, bias = _instances(60, 7, outputs, seed=outputs)
    logits = values + bias
    original = predicted_class(torch.einsum("bt,btd->bd", attention, values) + bias)
    order = optimal_order(logits, attention, mask, original).unsqueeze(1)
    contexts = erased_contexts(values, attention, mask, order)
    found = removals_to_flip(predicted_class(contexts + bias), original, mask.sum(-1))[:, 0]
    flips = 0
    for row in range(len(values)):
        n = int(mask[row].sum())
        everything = set(range(n))

        def flips_without(gone, row=row, everything=everything):
            logits = _logits(values[row], attention[row], bias, everything - set(gone))
            return predicted_class(logits) != original[row]

        subsets = (gone for k in range(1, n + 1) for gone in itertools.combinations(range(n), k))
        smallest = next((len(gone) for gone in subsets if flips_without(gone)), NEVER)
        assert found[row] == smallest, (row, n)
        flips += 0 < smallest < n
    assert flips > 10
