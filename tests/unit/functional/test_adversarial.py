import itertools

import pytest
import torch

from attnlab.functional import adversarial
from attnlab.functional.adversarial import best_admissible, exact_adversary, search_adversary
from attnlab.functional.divergence import jensen_shannon_divergence, total_variation_distance
from attnlab.functional.masking import masked_softmax


def _instances(n, length, scale=2.0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(0)
    mask = torch.arange(length) < torch.randint(1, length + 1, (n, 1), generator=generator)
    margins = scale * torch.randn(n, length, dtype=dtype, generator=generator)
    attention = masked_softmax(2 * torch.randn(n, length, dtype=dtype, generator=generator), mask)
    return margins, attention, mask


def _predict(margins, bias):
    def predict(attention):
        p = torch.sigmoid(torch.einsum("bkt,bt->bk", attention, margins) + bias)
        return torch.stack([1 - p, p], -1)

    return predict


def test_agrees_with_a_fine_grid_on_three_tokens():
    margins, attention, _ = _instances(12, 3)
    mask = torch.ones(12, 3, dtype=torch.bool)
    attention = torch.softmax(attention, -1)
    steps = 500
    grid = torch.tensor(
        [
            (i / steps, j / steps, (steps - i - j) / steps)
            for i, j in itertools.product(range(steps + 1), repeat=2)
            if i + j <= steps
        ],
        dtype=torch.float64,
    )
    bias, epsilon = 0.3, 0.05
    before = torch.sigmoid((margins * attention).sum(-1) + bias)
    change = (torch.sigmoid(grid @ margins.T + bias) - before).abs()
    jsd = jensen_shannon_divergence(grid[:, None], attention).masked_fill(change > epsilon, -1).amax(0)
    found = exact_adversary(margins, bias, attention, mask, epsilon).jsd
    assert (found >= jsd - 1e-12).all()
    torch.testing.assert_close(found, jsd, atol=5e-3, rtol=0)


@pytest.mark.parametrize("epsilon", [0.01, 0.05, 0.4])
def test_meets_its_constraint_and_reports_what_it_reached(epsilon):
    margins, attention, mask = _instances(300, 20, scale=6.0)
    solution = exact_adversary(margins, 0.2, attention, mask, epsilon)
    adversary = solution.attention(20)
    predict = _predict(margins, 0.2)
    change = total_variation_distance(predict(adversary[:, None]), predict(attention[:, None])).squeeze(1)
    assert (change <= epsilon + 1e-9).all()
    assert (adversary[~mask] == 0).all()
    torch.testing.assert_close(adversary.sum(-1), torch.ones(300, dtype=torch.float64))
    torch.testing.assert_close(jensen_shannon_divergence(adversary, attention), solution.jsd)


def test_never_below_the_search():
    margins, attention, mask = _instances(100, 15)
    predict = _predict(margins, -0.1)
    start = 3 * torch.randn(100, 5, 15, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    found = search_adversary(predict, attention, mask, start, epsilon=0.01)
    change = total_variation_distance(predict(found), predict(attention[:, None]))
    searched, _ = best_admissible(found, change, attention, 0.01)
    exact = exact_adversary(margins, -0.1, attention, mask, 0.01).jsd
    assert (exact >= searched - 1e-6).all()
    assert searched.mean() > 0.5 * exact.mean()


def test_groups_of_rows_change_nothing(monkeypatch):
    margins, attention, mask = _instances(30, 10)
    whole = exact_adversary(margins, 0.0, attention, mask, 0.05)
    monkeypatch.setattr(adversarial, "PAIR_BUDGET", 250)
    parts = exact_adversary(margins, 0.0, attention, mask, 0.05)
    torch.testing.assert_close(parts.attention(10), whole.attention(10))


def test_a_single_token_has_no_adversary():
    solution = exact_adversary(
        torch.tensor([[1.0, 5.0]]), 0.0, torch.tensor([[1.0, 0.0]]), torch.tensor([[True, False]]), 0.05
    )
    assert solution.jsd.item() == pytest.approx(0, abs=1e-12)


def test_infeasible_candidates_score_zero_and_give_the_original_back():
    attention = torch.tensor([[0.5, 0.5]])
    jsd, chosen = best_admissible(torch.tensor([[[1.0, 0.0]]]), torch.tensor([[0.2]]), attention, 0.05)
    assert jsd.item() == 0
    torch.testing.assert_close(chosen, attention)


def test_instances_of_a_batch_do_not_influence_each_other():
    margins, attention, mask = _instances(4, 8)
    start = torch.randn(4, 5, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    options = {"epsilon": 0.05, "steps": 40}
    together = search_adversary(_predict(margins, 0.0), attention, mask, start, **options)
    alone = search_adversary(_predict(margins[2:3], 0.0), attention[2:3], mask[2:3], start[2:3], **options)
    torch.testing.assert_close(together[2:3], alone)
