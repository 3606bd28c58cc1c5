"""Erasing attention weights, one or many."""

import numpy as np
import pytest
import torch

from attnlab.protocols.erasure.input_erasure import InputErasure
from attnlab.protocols.erasure.set_erasure import ORDERS, SetErasure
from attnlab.protocols.erasure.single_weight import SingleWeight, random_other
from tests.conftest import make_batch, make_model, observe, take


def test_the_other_position_is_uniform_over_all_but_the_highest():
    mask = torch.tensor([[False, True, True, True, True, False]]).expand(4000, -1)
    other = random_other(mask, torch.full((4000,), 2), 0, list(range(4000)))
    counts = np.bincount(other.numpy(), minlength=6)
    assert counts[[0, 2, 5]].tolist() == [0, 0, 0]
    # Chi-squared with 2 degrees of freedom, 99.9 % quantile.
    assert ((counts[[1, 3, 4]] - 4000 / 3) ** 2 / (4000 / 3)).sum() < 13.8


def test_single_weight_adds_up(encoder):
    model = make_model(encoder)
    seen = observe(model, make_batch((2, 5, 9, 12)))
    columns = SingleWeight(model).measure(seen)
    cells = [columns[f"flip_{name}"] for name in ("both", "only_top", "only_random", "neither")]
    assert (torch.stack(cells).sum(0) == 1).all()
    assert (columns["delta_attention"] >= 0).all()
    assert (columns["top"] != columns["random"]).all()
    torch.testing.assert_close(columns["delta_js"], columns["js_top"] - columns["js_random"])


@torch.no_grad()
@pytest.mark.parametrize("num_classes", [2, 3])
def test_the_change_of_every_class_is_that_of_erasing_by_hand(num_classes):
    model = make_model(num_classes=num_classes)
    seen = observe(model, make_batch(tuple(range(2, 14))))
    single, several = SingleWeight(model).measure(seen), SetErasure(model, draws=1).measure(seen)
    orders = SetErasure(model, draws=1).orders(seen)
    for row in range(len(seen.batch)):
        content = seen.batch.mask[row].nonzero().squeeze(1)
        erasures = [(single[f"change_{name}"], [content[single[name][row]]]) for name in ("top", "random")]
        for i, name in enumerate((*ORDERS, "random")):
            count = int(several[f"removed_{name}"][row]) if several[f"flips_{name}"][row] else 0
            erasures.append((several[f"change_{name}"], orders[row, i, :count]))
        for change, gone in erasures:
            weights = seen.attention.clone()
            weights[row, gone] = 0
            expected = (seen.predict(weights / weights.sum(-1, keepdim=True)) - seen.probabilities)[row].double()
            expected = expected if len(gone) else torch.full_like(expected, torch.nan)
            torch.testing.assert_close(
                torch.tensor(change[row], dtype=torch.float64), expected, atol=1e-5, rtol=0, equal_nan=True
            )


@pytest.mark.parametrize("num_classes", [2, 3])
def test_no_order_beats_the_optimum(encoder, num_classes):
    model = make_model(encoder, num_classes=num_classes)
    seen = observe(model, make_batch(tuple(range(2, 30))))
    columns = SetErasure(model, draws=3).measure(seen)
    best = columns["removed_optimal"]
    for name in (*ORDERS, "random"):
        removed = columns[f"removed_{name}"]
        assert ((removed == -1) | (best <= removed)).all()
        assert (removed <= seen.length).all()
    assert (columns["flips_optimal"]).any()


def layer_by_hand(deciding, others):
    """Attention on token 5; its embedding and that of all others are worth so much to class 1."""
    model = make_model("embeddings", "scaled_dot")
    with torch.no_grad():
        model.embedding.weight.zero_()
        model.embedding.weight[4:, 0] = others
        model.embedding.weight[5, 0] = deciding
        model.embedding.weight[5, 1] = 1.0
        model.attention.score.weight.zero_()
        model.attention.score.weight[0, 1] = 10.0
        model.readout.linear.weight.zero_()
        model.readout.linear.weight[0, 0] = 1.0
        model.readout.linear.bias.zero_()
    batch = make_batch((6, 8, 10))
    batch.ids[batch.mask] = 8
    batch.ids[:, 3] = 5
    return model, observe(model, batch)


def test_attention_that_is_faithful_by_construction_scores_so():
    model, seen = layer_by_hand(deciding=3.0, others=-0.5)
    erased = SetErasure(model).measure(seen)
    assert erased["removed_attention"].tolist() == erased["removed_optimal"].tolist() == [1, 1, 1]
    assert erased["attained_attention"].all()
    single = SingleWeight(model).measure(seen)
    assert single["flip_only_top"].all()
    assert (single["delta_js"] > 0.05).all()


def test_attention_that_is_irrelevant_scores_so():
    model, seen = layer_by_hand(deciding=3.0, others=3.0)
    erased = SetErasure(model).measure(seen)
    for name in (*ORDERS, "random"):
        # Only the bias, which is zero and so for class 0, differs.
        assert (erased[f"bias_only_{name}"] == 1).all(), name
        assert not erased[f"flips_{name}"].any()
    single = SingleWeight(model).measure(seen)
    assert single["flip_neither"].all()
    torch.testing.assert_close(single["js_top"], torch.zeros(3, dtype=torch.float64), atol=1e-9, rtol=0)


def test_batched_equals_one_at_a_time():
    model = make_model(num_classes=3)
    batch = make_batch((1, 2, 5, 9, 12), padding=4)
    for protocol in (SetErasure(model, draws=2), SingleWeight(model), InputErasure(model, draws=2)):
        together = protocol.measure(observe(model, batch))
        for row in range(len(batch)):
            for name, values in protocol.measure(observe(model, take(batch, row))).items():
                if name == "excluded":
                    assert together[name][row] == values[0]
                    continue
                one = torch.as_tensor(together[name][row : row + 1])
                torch.testing.assert_close(one, torch.as_tensor(values), atol=1e-5, rtol=0, equal_nan=True, msg=name)


def test_uniform_attention_is_a_tie_that_the_seed_breaks():
    model = make_model(attention="uniform")
    seen = observe(model, make_batch((12,)))
    orders = {tuple(SetErasure(model, seed=s).orders(seen)[0, 0, :12].tolist()) for s in range(5)}
    assert len(orders) == 5
