import numpy as np
import pytest
import torch

from attnlab.data import TextDataModule
from attnlab.data.sampler import EvaluationBatches, TrainBatches
from attnlab.data.sources import PlantedSource

LENGTHS = np.random.default_rng(0).integers(3, 60, size=103)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    source = PlantedSource(train=70, validation=20, test=30)
    module = TextDataModule(
        source,
        tokens="whitespace",
        numbers=False,
        batch_size=8,
        eval_batch_size=7,
        cache_dir=str(tmp_path_factory.mktemp("cache")),
    )
    module.setup()
    return module


def test_a_batch_is_what_a_plain_loop_gives(data):
    dataset = data.dataset("train")
    rows = [5, 0, 33, 12]
    batch = dataset[rows]
    number = {token: i for i, token in enumerate(data.vocabulary)}
    texts = [[2, *(number[token] for token in dataset.tokens(row)), 3] for row in rows]
    width = max(map(len, texts))
    assert batch.ids.tolist() == [text + [0] * (width - len(text)) for text in texts]
    assert batch.mask.tolist() == [[0 < t < len(text) - 1 for t in range(width)] for text in texts]
    assert batch.lengths.tolist() == [len(text) for text in texts]
    assert batch.index.tolist() == rows
    assert batch.labels.tolist() == [int(dataset.labels[row]) for row in rows]
    assert batch.given is None
    assert [t.dtype for t in (batch.ids, batch.mask, batch.lengths, batch.labels, batch.index)] == [
        torch.int64,
        torch.bool,
        torch.int64,
        torch.int64,
        torch.int64,
    ]
    assert len(batch) == 4
    assert batch.to("cpu").ids.equal(batch.ids)


def test_ids_are_read_in_place(data):
    assert not data.dataset("train")._flat.flags.owndata


def test_loaders_give_every_row_once(data):
    train = torch.cat([batch.index for batch in data.train_dataloader()])
    assert sorted(train.tolist()) == list(range(70))
    test = list(data.dataloader("test"))
    assert len(test) == len(data.dataloader("test")) == 5
    assert sorted(torch.cat([batch.index for batch in test]).tolist()) == list(range(30))
    lengths = torch.cat([batch.lengths for batch in test])
    assert lengths.equal(lengths.sort().values)


@pytest.mark.parametrize("world", [1, 2, 3])
def test_buckets_cover_each_row_once_and_are_shared_out(monkeypatch, world):
    seen, steps = [], set()
    for rank in range(world):
        monkeypatch.setattr("attnlab.data.sampler._world", lambda rank=rank: (rank, world))
        sampler = EvaluationBatches(LENGTHS, 10, 10**6)
        batches = list(sampler)
        assert len(batches) == len(sampler)
        seen += [row for batch in batches for row in batch]
        training = TrainBatches(LENGTHS, 10, seed=0)
        steps.add(len(list(training)))
        assert steps == {len(training)}
    assert sorted(seen) == list(range(103))


@pytest.mark.parametrize("bucket", [True, False])
def test_long_rows_make_small_batches(bucket):
    lengths = np.array([5, 900, 7, 5, 60, 40, 6])
    batches = list(EvaluationBatches(lengths, 4, max_positions=100, bucket=bucket))
    assert sorted(row for batch in batches for row in batch) == list(range(7))
    for batch in batches:
        assert len(batch) <= 4
        assert len(batch) == 1 or len(batch) * lengths[batch].max() <= 100
    if bucket:
        assert batches == [[0, 3, 6, 2], [5], [4], [1]]


def test_no_process_is_left_without_a_batch_where_metrics_need_one(monkeypatch):
    for rank in range(2):
        monkeypatch.setattr("attnlab.data.sampler._world", lambda rank=rank: (rank, 2))
        assert len(EvaluationBatches(np.full(33, 4), 256, 10**6)) == (1 if rank == 0 else 0)
        assert len(EvaluationBatches(np.full(33, 4), 256, 10**6, every_process=True)) >= 1


def test_training_batches_hold_similar_lengths_in_random_order():
    batches = list(TrainBatches(LENGTHS, 10, seed=0))
    assert sorted(row for batch in batches for row in batch) == list(range(103))
    spread = [LENGTHS[batch].max() - LENGTHS[batch].min() for batch in batches]
    assert max(spread) < 25
    assert [LENGTHS[batch].min() for batch in batches] != sorted(LENGTHS[batch].min() for batch in batches)


def test_order_depends_on_seed_and_epoch_alone():
    sampler = TrainBatches(LENGTHS, 10, seed=3)
    first, second = list(sampler), list(sampler)
    assert first != second
    sampler.set_epoch(0)
    assert list(sampler) == first
    assert list(sampler) == second
    assert list(TrainBatches(LENGTHS, 10, seed=3)) == first
    assert list(TrainBatches(LENGTHS, 10, seed=4)) != first


def test_without_buckets_rows_come_in_the_order_of_the_file():
    for sampler in (
        TrainBatches(LENGTHS, 10, seed=0, bucket=False),
        EvaluationBatches(LENGTHS, 10, 10**6, bucket=False),
    ):
        assert [row for batch in sampler for row in batch] == list(range(103))


def test_workers_change_nothing(data):
    plain = [batch.index.tolist() for batch in data.test_dataloader()]
    data.num_workers = 1
    try:
        assert [batch.index.tolist() for batch in data.test_dataloader()] == plain
    finally:
        data.num_workers = 0
