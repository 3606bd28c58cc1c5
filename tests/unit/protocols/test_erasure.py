"""Erasing attention weights, one or many."""

import math

import numpy as np
import pytest
import torch

from attnlab.protocols.erasure import weights
from attnlab.protocols.erasure.input_erasure import InputErasure
from attnlab.protocols.erasure.set_erasure import ORDERS, SetErasure
from attnlab.protocols.erasure.single_weight import SingleWeight, random_other
from attnlab.records import to_arrow
from attnlab.report.summary import summarise
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


def test_orders_are_erased_in_chunks_that_change_nothing(monkeypatch):
    model = make_model(num_classes=3)
    seen = observe(model, make_batch(tuple(range(2, 20))))
    orders = SetErasure(model, draws=4).orders(seen)
    whole = weights.erase_weights(seen, orders)
    sizes, plain = [], weights.erased_contexts
    monkeypatch.setattr(weights, "NUMBERS_AT_ONCE", 3 * len(seen.batch) * (orders.shape[-1] + 1) * 3)
    monkeypatch.setattr(weights, "erased_contexts", lambda *given: sizes.append(given[3].shape[1]) or plain(*given))
    chunked = weights.erase_weights(seen, orders)
    assert sizes == [3, 3, 2]
    assert torch.equal(whole.removed, chunked.removed)
    assert torch.equal(whole.probabilities, chunked.probabilities)


def layer_by_hand(deciding, others, attended=5):
    """Attention on token 5 at the third place; what its embedding and all others' are worth to class 1.

    Without an encoder, removing a token changes no other. A bias of −0.1 makes the empty text one of class 0.
    """
    model = make_model("embeddings", "scaled_dot")
    with torch.no_grad():
        model.embedding.weight.zero_()
        model.embedding.weight[4:, 0] = others
        model.embedding.weight[5, 0] = deciding
        model.embedding.weight[attended, 1] = 1.0
        model.attention.score.weight.zero_()
        model.attention.score.weight[0, 1] = 10.0
        model.readout.linear.weight.zero_()
        model.readout.linear.weight[0, 0] = 1.0
        model.readout.linear.bias.fill_(-0.1)
    batch = make_batch((6, 8, 10))
    batch.ids[batch.mask] = 8
    batch.ids[:, 3] = 5
    return model, observe(model, batch)


@torch.no_grad()
def statistics_of(protocol, seen):
    """Every statistic over the instances, as a summary has it."""
    records = to_arrow({"prediction": seen.prediction, **protocol.measure(seen)}, seen.batch.mask)
    summary = summarise(records, protocol.statistics, ["no", "yes"])
    return {name: statistic["all"] for name, statistic in summary["statistics"].items()}


def test_attention_that_is_faithful_by_construction_scores_so_in_every_statistic():
    model, seen = layer_by_hand(deciding=3.0, others=-0.5)
    lengths = torch.tensor([6.0, 8, 10], dtype=torch.float64)
    first = float((1 / lengths).mean())

    single = statistics_of(SingleWeight(model), seen)
    assert single["flip_only_top"] == single["top>random"] == 1
    assert single["negative"] == single["flip_both"] == single["flip_neither"] == single["flip_only_random"] == 0
    assert single["js_top"] > 10 * single["js_random"]
    assert single["effect_top"] > 0.2 > 10 * single["effect_random"]

    weights_gone = statistics_of(SetErasure(model, draws=20), seen)
    tokens_gone = statistics_of(InputErasure(model, draws=20), seen)
    for found in (weights_gone, tokens_gone):
        assert found["fraction_attention"] == found["fraction_product"] == pytest.approx(first)
        assert found["never_attention"] == 0
        assert found["fraction_random"] > 3 * first
        assert found["attention<gradient"] == found["gradient<attention"] == 0
        assert found["effect_attention"] == pytest.approx(tokens_gone["effect_attention"], abs=1e-6)
    assert weights_gone["attained_attention"] == 1
    assert weights_gone["bias_only_attention"] == weights_gone["regret_attention"] == 0
    # The deciding token is all of every bin of one or two tokens, and the first of every other.
    loss = float(seen.probabilities[:, 1].mean()) - 1 / (1 + math.exp(0.6))
    assert tokens_gone["emptied_attention"] == 0
    assert tokens_gone["comprehensiveness_attention"] == pytest.approx(loss, abs=1e-6)
    assert tokens_gone["comprehensiveness_random"] < 0.5 * loss
    # Alone it makes the decision surer than it was.
    assert tokens_gone["sufficiency_attention"] < 0 < 0.3 * loss < tokens_gone["sufficiency_random"]


def test_attention_that_is_irrelevant_scores_so_in_every_statistic():
    model, seen = layer_by_hand(deciding=3.0, others=3.0)
    single = statistics_of(SingleWeight(model), seen)
    assert single["flip_neither"] == 1
    assert single["top>random"] == pytest.approx(0.5, abs=0.5)
    for name in ("js_top", "js_random", "negative", "effect_top", "effect_random", "flip_only_top", "flip_both"):
        assert single[name] == pytest.approx(0, abs=1e-6), name
    for protocol, bare, empty in ((SetErasure(model), "bias_only", 1), (InputErasure(model), "emptied", 1)):
        found = statistics_of(protocol, seen)
        for name in ("random", "attention", "gradient", "product"):
            # The bias alone is of the other class; nothing else flips anything.
            assert found[f"{bare}_{name}"] == empty
            assert found[f"never_{name}"] == 0
            assert math.isnan(found[f"fraction_{name}"])
            if bare == "emptied":
                assert found[f"comprehensiveness_{name}"] == pytest.approx(0, abs=1e-6)
                assert found[f"sufficiency_{name}"] == pytest.approx(0, abs=1e-6)
                assert found[f"tokens<weights_{name}"] == 0
        assert found["attention<gradient"] == found["gradient<attention"] == 0
        assert found["p(attention,product)"] == 1


def test_attention_on_a_token_that_says_nothing_is_found_worse_than_chance():
    """Token 8 decides, and is everywhere but at the attended place."""
    model, seen = layer_by_hand(deciding=0.0, others=3.0)
    with torch.no_grad():
        model.attention.score.weight[0, 1] = 1.0
    seen = observe(model, seen.batch)
    found = statistics_of(InputErasure(model, draws=20), seen)
    assert found["comprehensiveness_attention"] < 0 < found["comprehensiveness_gradient"]
    assert found["sufficiency_attention"] > found["sufficiency_random"] > found["sufficiency_gradient"]


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


def test_uniform_attention_is_a_tie_that_is_counted_and_broken_by_the_seed():
    model = make_model(attention="uniform")
    seen = observe(model, make_batch((12,)))
    orders = {tuple(SetErasure(model, seed=s).orders(seen)[0, 0, :12].tolist()) for s in range(5)}
    assert len(orders) == 5
    tops = [int(SingleWeight(model, seed=s).measure(seen)["top"]) for s in range(600)]
    # Chi-squared with 11 degrees of freedom, 99.9 % quantile.
    assert ((np.bincount(tops, minlength=12) - 50) ** 2 / 50).sum() < 31.3
    for protocol in (SetErasure, SingleWeight, InputErasure):
        assert statistics_of(protocol(model), seen)["tied"] == 1
        uneven = make_model(attention="additive")
        assert statistics_of(protocol(uneven), observe(uneven, make_batch((5, 12))))["tied"] == 0
