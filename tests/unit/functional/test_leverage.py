import pytest
import torch
from scipy.optimize import minimize

from attnlab.functional.leverage import attention_leverage


def test_two_classes_equal_the_extreme_tokens():
    logits = torch.tensor([[[-1.0], [2.0], [9.0]]])
    mask = torch.tensor([[True, True, False]])
    one = torch.ones(1, dtype=torch.long)
    found = attention_leverage(logits, mask, one, one)
    torch.testing.assert_close(found.lowest, torch.sigmoid(torch.tensor([-1.0], dtype=torch.float64)))
    torch.testing.assert_close(found.highest, torch.sigmoid(torch.tensor([2.0], dtype=torch.float64)))
    assert found.flippable.item()
    assert found.gap.item() == 0


def test_not_flippable_where_every_token_votes_alike():
    logits = torch.tensor([[[1.0], [2.0]]])
    one = torch.ones(1, dtype=torch.long)
    assert not attention_leverage(logits, torch.ones(1, 2, dtype=torch.bool), one, one).flippable.item()


def test_more_classes_equal_an_independent_optimiser():
    torch.manual_seed(0)
    logits = 2 * torch.randn(6, 5, 4, dtype=torch.float64)
    mask = torch.ones(6, 5, dtype=torch.bool)
    mask[:3, 4] = False
    target = torch.arange(6) % 4
    found = attention_leverage(logits, mask, target, target)
    for i in range(6):
        tokens = logits[i][mask[i]].numpy()

        def probability(weights, tokens=tokens, i=i):
            return torch.softmax(torch.from_numpy(weights @ tokens), -1)[target[i]].item()

        n = len(tokens)
        best = minimize(
            lambda w: -probability(w),
            torch.full((n,), 1 / n).double().numpy(),
            bounds=[(0, 1)] * n,
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
            options={"ftol": 1e-12, "maxiter": 500},
        )
        assert found.highest[i].item() == pytest.approx(-best.fun, abs=1e-5)
        assert found.lowest[i].item() == pytest.approx(min(probability(row) for row in torch.eye(n).double().numpy()))
    assert found.gap.max() < 1e-5
