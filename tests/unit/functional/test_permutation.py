import torch

from attnlab.functional.permutation import permute_attention, random_permutations


def _mask():
    return torch.tensor([[False, True, True, True, False, False], [False, True, True, True, True, False]])


def test_weights_are_preserved_and_other_positions_stay():
    attention = torch.rand(2, 6)
    shuffled = permute_attention(attention, random_permutations(_mask(), 40, 0, [5, 6]))
    torch.testing.assert_close(
        shuffled.masked_fill(~_mask()[:, None], 0).sort(-1).values,
        attention.masked_fill(~_mask(), 0).sort(-1).values[:, None].expand(-1, 40, -1),
    )
    rest = ~_mask()
    for k in range(40):
        torch.testing.assert_close(shuffled[:, k][rest], attention[rest])


def test_draws_do_not_depend_on_batch_or_padding():
    together = random_permutations(_mask(), 10, 3, [5, 6])
    alone = random_permutations(_mask()[1:, :5], 10, 3, [6])
    torch.testing.assert_close(together[1:, :, :5], alone)


def test_draws_are_uniform_over_permutations():
    orders = random_permutations(_mask()[:1], 6000, 1, [0])[0, :, 1:4]
    _, counts = orders.unique(dim=0, return_counts=True)
    assert len(counts) == 6
    # Chi-squared with 5 degrees of freedom, 99.9 % quantile.
    assert ((counts - 1000.0) ** 2 / 1000).sum() < 20.5
