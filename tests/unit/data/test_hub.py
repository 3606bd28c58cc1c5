import datasets
import pytest
from datasets import ClassLabel, Dataset, DatasetDict, Features, Value

from attnlab.data.sources import HubSource
from attnlab.errors import DataError


@pytest.fixture
def hub(monkeypatch):
    features = Features({"text": Value("string"), "label": ClassLabel(names=["World", "Sports"])})
    rows = Dataset.from_dict({"text": [f"t {i}" for i in range(40)], "label": [0, 1] * 20}, features=features)

    def load_dataset(name, config, **options):
        if name != "org/set":
            raise ConnectionError("Couldn't reach the Hub\nmore")
        return DatasetDict(train=rows, test=rows)

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)


@pytest.mark.usefixtures("hub")
def test_splits_labels_and_the_sample_of_the_test_split(tmp_path):
    source = HubSource(
        name="org/set", labels={"World": "world"}, unlisted="drop", validation_fraction=0.2, test_sample=0.5
    )
    data = source.load(tmp_path)
    assert {split: len(rows) for split, rows in data.items()} == {"train": 16, "validation": 4, "test": 10}
    assert source.dropped == {"label not listed": 40}


@pytest.mark.usefixtures("hub")
def test_an_unreachable_hub_names_the_remedy(tmp_path):
    with pytest.raises(
        DataError, match=r"cannot load org/other .*ConnectionError: Couldn't reach the Hub\); set data\.path="
    ):
        HubSource(name="org/other").load(tmp_path)
