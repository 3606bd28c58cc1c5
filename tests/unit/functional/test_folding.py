import torch

from attnlab.functional.folding import attend_values, fold


def test_folded_equals_plain_for_any_number_of_counterfactual_axes():
    torch.manual_seed(0)
    hidden, weight = torch.randn(3, 7, 16), torch.randn(2, 16)
    for axes in ((), (5,), (4, 5), (2, 3, 4)):
        attention = torch.softmax(torch.randn(3, *axes, 7), -1)
        context = torch.einsum("b...t,bth->b...h", attention, hidden)
        folded = attend_values(fold(hidden, weight), attention)
        torch.testing.assert_close(folded, context @ weight.T, atol=1e-6, rtol=1e-5)
