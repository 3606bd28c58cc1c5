import pytest
import torch

from attnlab.nn import Convolution
from tests.conftest import make_batch


@torch.no_grad()
@pytest.mark.parametrize("kernel_sizes", [[1], [5], [9], [1, 3], [1, 3, 5, 7]])
def test_a_convolution_sees_as_far_as_its_widest_kernel_and_no_farther(kernel_sizes):
    encoder = Convolution(10, hidden_size=64, kernel_sizes=kernel_sizes)
    batch = make_batch((25,))
    embedded = torch.randn(1, 27, 10)
    changed = embedded.clone()
    changed[0, 13] += 5
    before, after = (encoder(x, batch.mask, batch.lengths) for x in (embedded, changed))
    reached = (before != after).any(-1)[0].nonzero().squeeze(1).tolist()
    radius = max(kernel_sizes) // 2
    assert reached == list(range(13 - radius, 13 + radius + 1))


@pytest.mark.parametrize(
    ("options", "message"), [({"kernel_sizes": [2]}, "odd"), ({"kernel_sizes": [1] * 3}, "divide")]
)
def test_filters_that_do_not_fit_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Convolution(10, hidden_size=64, **options)
