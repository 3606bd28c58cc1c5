import pyarrow as pa

from attnlab.data.sources.splits import balanced, carve


def pool(ids, labels=None, texts=None):
    n = len(ids)
    return pa.table({"id": ids, "text": texts or ids, "label": labels or [0] * n})


IDS = [str(i) for i in range(100)]
FRACTIONS = {"test": 0.1, "validation": 0.2}


def sets(parts):
    return {name: set(table["id"].to_pylist()) for name, table in parts.items()}


def test_shares_are_exact_disjoint_and_complete():
    parts = sets(carve(pool(IDS), FRACTIONS, seed=0))
    assert {name: len(ids) for name, ids in parts.items()} == {"test": 10, "validation": 20, "train": 70}
    assert set().union(*parts.values()) == set(IDS)


def test_ids_and_seed_decide_not_the_order_of_rows():
    assert sets(carve(pool(IDS), FRACTIONS, 0)) == sets(carve(pool(IDS[::-1]), FRACTIONS, 0))
    assert sets(carve(pool(IDS), FRACTIONS, 0)) != sets(carve(pool(IDS), FRACTIONS, 1))
    # Pinned: results of different installations must be on the same instances.
    assert sets(carve(pool(IDS), {"test": 0.03}, 0))["test"] == {"15", "46", "87"}


def test_strata_keep_their_share():
    labels = [int(i < 20) for i in range(100)]
    parts = carve(pool(IDS, labels), FRACTIONS, 0, stratify=True)
    assert sum(parts["test"]["label"].to_pylist()) == 2
    assert sum(parts["validation"]["label"].to_pylist()) == 4


def test_documents_and_equal_texts_stay_together():
    ids = [f"{i // 7}_{i}" for i in range(100)]
    parts = carve(pool(ids), FRACTIONS, 0, group="document")
    documents = [{name.split("_")[0] for name in table["id"].to_pylist()} for table in parts.values()]
    assert sum(map(len, documents)) == len(set().union(*documents))
    texts = [str(i % 50) for i in range(100)]
    parts = carve(pool(IDS, texts=texts), FRACTIONS, 0, group="text")
    assert sum(len(set(table["text"].to_pylist())) for table in parts.values()) == 50


def test_a_balanced_pool_has_as_many_of_each_class_as_of_the_rarest():
    labels = [i % 10 // 7 for i in range(100)]  # 70 and 30
    rows = balanced(pool(IDS, labels), 0)
    assert sorted(rows["label"].to_pylist()) == [0] * 30 + [1] * 30
    assert rows["id"].to_pylist() == sorted(rows["id"].to_pylist(), key=int)
    assert sets({"all": balanced(pool(IDS[::-1], labels[::-1]), 0)}) == sets({"all": rows})
    assert sets({"all": balanced(pool(IDS, labels), 1)}) != sets({"all": rows})
    # What is then dealt out is of no class more than of the other.
    many = balanced(pool([str(i) for i in range(4000)], [int(i < 1000) for i in range(4000)]), 0)
    test = carve(many, {"test": 0.2}, 0)["test"]["label"].to_pylist()
    assert abs(sum(test) - 200) < 30
