import torch

from attnlab.functional.substitution import random_attention

MASK = torch.tensor([[False, True, True, True, False, False], [False, True, True, True, True, False]])


def test_noise_is_a_distribution_over_content_that_depends_on_seed_and_instance_alone():
    together = random_attention(MASK, 3, [5, 6])
    torch.testing.assert_close(together.sum(-1), torch.ones(2))
    assert not together[~MASK].any()
    torch.testing.assert_close(random_attention(MASK[1:, :5], 3, [6])[0], together[1, :5])
    assert not torch.allclose(random_attention(MASK, 4, [5, 6]), together)


def test_log_weights_differ_as_standard_normal_noise_does():
    mask = torch.ones(2000, 2, dtype=torch.bool)
    log_odds = random_attention(mask, 0, range(2000)).log().diff(dim=-1)
    assert abs(float(log_odds.mean())) < 0.15
    assert abs(float(log_odds.var()) - 2) < 0.25
