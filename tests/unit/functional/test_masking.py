import torch

from attnlab.functional.masking import masked_softmax, uniform_attention


def test_masked_softmax_sums_to_one_on_the_mask_and_is_zero_elsewhere():
    torch.manual_seed(0)
    mask = torch.rand(50, 9) > 0.5
    attention = masked_softmax(100 * torch.randn(50, 9), mask)
    assert (attention[~mask] == 0).all()
    torch.testing.assert_close(attention.sum(-1), mask.any(-1).float())


def test_uniform_attention_is_one_over_the_content_length():
    mask = torch.tensor([[False, True, True, True, False], [False, True, False, False, False]])
    expected = torch.tensor([[0, 1 / 3, 1 / 3, 1 / 3, 0], [0, 1, 0, 0, 0]])
    torch.testing.assert_close(uniform_attention(mask), expected)
