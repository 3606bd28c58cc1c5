import pyarrow as pa
import torch

from attnlab.records import to_arrow


def test_what_is_not_a_number_is_missing_and_a_batch_without_any_keeps_the_type():
    mask = torch.ones(2, 3, dtype=torch.bool)
    some, none = (
        to_arrow({"fraction": torch.tensor([first, torch.nan]), "excluded": [None, None]}, mask)
        for first in (0.5, torch.nan)
    )
    assert some["fraction"].to_pylist() == [0.5, None]
    assert none["fraction"].to_pylist() == [None, None]
    assert none["fraction"].type == some["fraction"].type == pa.float32()


def test_what_is_not_a_number_is_a_missing_value_in_lists_too():
    columns = {"effect": [[0.5, float("nan")], [float("nan")] * 2], "excluded": [None, None]}
    table = to_arrow(columns, torch.ones(2, 3, dtype=torch.bool))
    assert table["effect"].to_pylist() == [[0.5, None], [None, None]]
    assert table.equals(table)


def test_lists_without_any_number_keep_the_type():
    columns = {"effect": [[float("nan")] * 2] * 2, "excluded": [None, None]}
    assert to_arrow(columns, torch.ones(2, 3, dtype=torch.bool)).schema.field("effect").type == pa.list_(pa.float64())
