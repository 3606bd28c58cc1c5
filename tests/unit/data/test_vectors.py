import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from attnlab.data import FileVectors, GloveVectors, RandomVectors
from attnlab.data.tokenization import SPECIAL_TOKENS
from attnlab.errors import DataError

VOCABULARY = [*SPECIAL_TOKENS, "good", "bad", "odd", ". ."]


@pytest.mark.parametrize("header", ["", "4 2\n"])
@pytest.mark.parametrize("name", ["v.txt", "v.vec.gz"])
def test_text_formats_with_and_without_header(tmp_path, header, name):
    content = f"{header}good 1 2\n<unk> 9 9\nother 5 5\n. . 3 -4e-1 \n".encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    vectors = FileVectors(str(tmp_path / name), dim=2)
    matrix = vectors.matrix(VOCABULARY)
    assert matrix.tolist() == [[0, 0]] * 4 + [[1, 2], [0, 0], [0, 0], [3, pytest.approx(-0.4)]]
    assert vectors.coverage == 0.5


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"good 1 2 3\n", r"v\.txt:1: 3 numbers in place of vectors\.dim=2"),
        (b"4 3\ngood 1 2 3\n", r"v\.txt:2: 3 numbers"),
        (b"good 1 x\n", "not 2 numbers"),
        (b"good 1 2\nbad 1\n", "1 numbers"),
        (b"caf\xe9 1 2\n", "not UTF-8"),
        (None, r"vectors\.path: cannot read"),
    ],
)
def test_wrong_files_are_errors(tmp_path, content, message):
    file = tmp_path / "v.txt"
    if content:
        file.write_bytes(content)
    with pytest.raises(DataError, match=message):
        FileVectors(str(file), dim=2).matrix(VOCABULARY)


def test_random_vectors_keep_the_initialisation_of_the_model():
    assert RandomVectors(7).matrix(VOCABULARY) is None


def test_glove_from_an_unpacked_package(tmp_path):
    home = tmp_path / "packages" / "glove_6b_50d"
    home.mkdir(parents=True)
    values = np.arange(100, dtype=np.float32).reshape(2, 50)
    np.save(home / "glove_6B_50d_emb.npy", values)
    pq.write_table(pa.table({"index": ["bad", "good"]}), home / "glove_6B_index.parquet")
    vectors = GloveVectors(cache_dir=str(tmp_path))
    matrix = vectors.matrix(VOCABULARY)
    assert matrix[4].tolist() == values[1].tolist()
    assert matrix[5].tolist() == values[0].tolist()
    assert not matrix[[0, 1, 2, 3, 6]].any()
    assert vectors.coverage == 0.5


def test_glove_has_one_dimension_only():
    with pytest.raises(DataError, match=r"vectors\.dim=300"):
        GloveVectors(dim=300)
