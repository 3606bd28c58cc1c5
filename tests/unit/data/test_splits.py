import pyarrow as pa

from attnlab.data.sources.splits import carve


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
