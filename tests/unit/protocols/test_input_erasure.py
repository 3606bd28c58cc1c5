"""Tokens removed in the orders of set erasure, against reading every text alone."""

import math

import pytest
import torch

from attnlab.data.batch import Batch
from attnlab.functional.prediction import class_probabilities
from attnlab.protocols.erasure.input_erasure import InputErasure
from attnlab.protocols.erasure.orders import RANKINGS, removal_orders
from attnlab.protocols.erasure.set_erasure import SetErasure
from tests.conftest import make_batch, make_model, observe, take

DRAWS = 2


@torch.no_grad()
def reread(model, text, gone, how):
    """Distribution of one text without some positions, the plain way."""
    if how == "mask":
        ids = text.ids.clone()
        ids[0, gone] = 1
        edited = Batch(ids, text.mask, text.lengths, text.labels, text.index)
    else:
        keep = [t for t in range(text.ids.shape[1]) if t not in set(gone)]
        edited = Batch(text.ids[:, keep], text.mask[:, keep], text.lengths - len(gone), text.labels, text.index)
    return class_probabilities(model(edited))[0]


def by_hand(model, text, order, prediction, how):
    """First flipping prefix, its change of each class, comprehensiveness and sufficiency at the bins, one by one."""
    n = len(order)
    whole = class_probabilities(model(text))[0]
    after = [reread(model, text, order[:k], how) for k in range(n + 1)]
    flips = (k for k in range(1, n + 1) if after[k].argmax() != prediction)
    first = next(flips, -1)
    counts = [math.ceil(round(q * n, 6)) for q in (0.01, 0.05, 0.1, 0.2, 0.5)]
    losses = [
        [float(whole[prediction] - after[k][prediction]) for k in counts],
        [float(whole[prediction] - reread(model, text, order[k:], how)[prediction]) for k in counts],
    ]
    change = after[first] - whole if 0 < first < n else torch.full_like(whole, torch.nan)
    return first, change.double(), *losses


@torch.no_grad()
@pytest.mark.parametrize(("how", "num_classes"), [("delete", 2), ("mask", 3)])
def test_every_prefix_equals_reading_each_text_alone(encoder, how, num_classes):
    model = make_model(encoder, num_classes=num_classes)
    batch = make_batch((1, 2, 5, 7, 11), padding=2)
    seen = observe(model, batch)
    columns = InputErasure(model, how, draws=DRAWS, token_budget=90, seed=3).measure(seen)
    orders = removal_orders(seen, 3, DRAWS)
    flipped = 0
    for row, n in enumerate(seen.length.tolist()):
        text, prediction = take(batch, row), int(seen.prediction[row])
        found = [by_hand(model, text, orders[row, r, :n].tolist(), prediction, how) for r in range(3 + DRAWS)]
        for name, draws in {**{r: [i] for i, r in enumerate(RANKINGS)}, "random": [3, 4]}.items():
            of = [found[i] for i in draws]
            genuine = [first for first, *_ in of if 0 < first < n]
            flipped += len(genuine)
            assert columns[f"removed_{name}"][row] == of[0][0]
            assert columns[f"never_{name}"][row] == sum(first == -1 for first, *_ in of) / len(of)
            assert columns[f"emptied_{name}"][row] == sum(first == n for first, *_ in of) / len(of)
            assert bool(columns[f"flips_{name}"][row]) == bool(genuine)
            if genuine:
                assert float(columns[f"fraction_{name}"][row]) == pytest.approx(sum(genuine) / len(genuine) / n)
            change = torch.stack([change for _, change, *_ in of]).nanmean(0)
            kept = torch.tensor(columns[f"change_{name}"][row], dtype=torch.float64)
            torch.testing.assert_close(kept, change, atol=1e-5, rtol=0, equal_nan=True)
            for which, measure in ((2, "comprehensiveness"), (3, "sufficiency")):
                bins = torch.tensor([one[which] for one in of], dtype=torch.float64).mean(0)
                kept = torch.tensor(columns[f"{measure}_{name}_bins"][row], dtype=torch.float64)
                torch.testing.assert_close(kept, bins, atol=1e-5, rtol=0)
                assert float(columns[f"{measure}_{name}"][row]) == pytest.approx(float(bins.mean()), abs=1e-5)
    assert flipped > 5


def test_the_budget_bounds_what_is_read_at_once_and_changes_nothing():
    model = make_model()
    seen = observe(model, make_batch((3, 9, 12)))
    read, encode = [], model.encode

    def counting(batch, embedded=None):
        read.append(batch.ids.numel())
        return encode(batch, embedded)

    model.encode = counting
    small = InputErasure(model, token_budget=64).measure(seen)
    assert max(read) <= 64
    chunks = len(read)
    large = InputErasure(model, token_budget=10**6).measure(seen)
    assert len(read) - chunks == 2
    for name, values in small.items():
        if isinstance(values, torch.Tensor):
            torch.testing.assert_close(values, large[name], atol=1e-6, rtol=0, equal_nan=True)


def test_both_levels_take_the_same_orders():
    model = make_model(num_classes=3)
    seen = observe(model, make_batch(tuple(range(2, 20))))
    tokens, weights = (p(model, draws=3, seed=5).measure(seen) for p in (InputErasure, SetErasure))
    for name in ("random", *RANKINGS):
        assert tokens[f"weights_{name}"].tolist() == weights[f"removed_{name}"].tolist()


def test_without_context_and_with_uniform_attention_both_levels_are_one():
    """The mean of embeddings: deleting a token is erasing its weight, and all orders but those of the gradient tie."""
    model = make_model("embeddings", "uniform")
    seen = observe(model, make_batch(tuple(range(2, 25))))
    columns = InputErasure(model).measure(seen)
    for name in ("random", *RANKINGS):
        assert columns[f"removed_{name}"].tolist() == columns[f"weights_{name}"].tolist()
    decided = columns["decided_attention_gradient"]
    assert decided.any()
    assert columns["agree_attention_gradient"][decided].all()


def test_the_area_of_the_paper_is_five_sixths_of_that_of_the_code():
    model = make_model()
    seen = observe(model, make_batch())
    code, paper = (InputErasure(model, area=area).measure(seen) for area in ("code", "paper"))
    for name in ("comprehensiveness_attention", "sufficiency_random"):
        torch.testing.assert_close(paper[name], code[name] * 5 / 6)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"replacement": "zero"}, "replacement"), ({"area": "x"}, "area"), ({"draws": 0}, "draws")],
)
def test_refused_options_name_what_is_allowed(options, message):
    with pytest.raises(ValueError, match=message):
        InputErasure(make_model(), **options)
