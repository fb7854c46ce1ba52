"""Clusters as files hold them, and columns that look like clusters."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from humeval_power.checking.suspects import cluster_suspects
from humeval_power.errors import InputError
from humeval_power.files.tables import clusters_of, read_cluster_lines, read_table

LONG = """item,system,score,passage
i1,A,0.1,p1
i1,B,0.2,p1
i2,A,0.3,p1
i2,B,0.1,p1
i3,A,0.4,p2
i3,B,0.6,p2
"""


def table(folder: Path, text: str, name: str = "scores.csv"):
    path = folder / name
    path.write_text(text)
    return read_table(path)


def test_a_column_of_a_long_table(tmp_path: Path) -> None:
    found = clusters_of(table(tmp_path, LONG), "passage", ["i3", "i1", "i2"], item_column="item")
    assert found.labels == ("p2", "p1")
    assert found.codes.tolist() == [0, 1, 1]
    assert found.name == "passage"


def test_rows_are_items_where_there_are_no_names(tmp_path: Path) -> None:
    found = clusters_of(
        table(tmp_path, "A,B,doc\n1,2,x\n1,3,y\n2,2,x\n"), "doc", ["0", "1", "2"], item_column=None
    )
    assert found.sizes.tolist() == [2, 1]


def test_every_fault_of_a_column_at_once(tmp_path: Path) -> None:
    text = LONG.replace("i2,B,0.1,p1", "i2,B,0.1,p2").replace("i3,A,0.4,p2", "i3,A,0.4, ")
    with pytest.raises(InputError) as refused:
        clusters_of(table(tmp_path, text), "passage", ["i1", "i2", "i3", "i4"], item_column="item")
    said = str(refused.value)
    assert "scores.csv, row 5, column 'passage': value 'p2': item 'i2' is in cluster 'p1' already." in said
    assert "row 6, column 'passage': item 'i3' has no cluster." in said
    assert "there is no row of 1 item, such as 'i4'" in said


def test_a_column_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"Did you mean 'passage'"):
        clusters_of(table(tmp_path, LONG), "pasage", ["i1"], item_column="item")


def test_one_cluster_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="All items are in one cluster of 'passage'"):
        clusters_of(table(tmp_path, LONG), "passage", ["i1", "i2"], item_column="item")


def test_lines(tmp_path: Path) -> None:
    path = tmp_path / "documents.txt"
    path.write_bytes(b"d1\r\nd1\r\nd2\r\n")
    found = read_cluster_lines(path, 3)
    assert (found.labels, found.name) == (("d1", "d2"), "documents")
    with pytest.raises(InputError, match=r"documents\.txt: has 3 lines for 4 items"):
        read_cluster_lines(path, 4)
    path.write_text("d1\n\nd2\n")
    with pytest.raises(InputError, match=r"documents\.txt, row 2: the line is blank"):
        read_cluster_lines(path, 3)


def frame(n: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "item": [f"q{place}" for place in range(n) for _ in "AB"],
            "system": ["A", "B"] * n,
            "score": rng.normal(size=2 * n).round(3),
            "passage": [f"p{place // 6}" for place in range(n) for _ in "AB"],
            "author": [f"name {place % 12}" for place in range(n) for _ in "AB"],
            "length": rng.integers(5, 50, n).repeat(2),
            "gold": [f"label {place % 3}" for place in range(n) for _ in "AB"],
            "worker": [f"w{place % 4}" for place in range(2 * n)],
        }
    )


def test_suspects_are_words_that_several_items_share() -> None:
    found = cluster_suspects(frame(), item="item", taken=["system", "score"])
    assert [(one.column, one.n_clusters, one.n_items, one.largest) for one in found] == [
        ("author", 12, 60, 5),
        ("passage", 10, 60, 6),
    ]
    assert "--cluster passage" in found[1].sentence()


def test_named_columns_count_though_they_are_numbers() -> None:
    table = frame().assign(passage=lambda one: one["passage"].str[1:].astype(int))
    assert [one.column for one in cluster_suspects(table, item="item", taken=["author"])] == ["passage"]


def test_names_of_items_can_say_it() -> None:
    table = frame()[["item", "system", "score"]].assign(
        item=[f"doc{place // 6}-s{place % 6}" for place in range(60) for _ in "AB"]
    )
    (found,) = cluster_suspects(table, item="item", taken=["system", "score"])
    assert (found.column, found.n_clusters) == (None, 10)


def test_no_suspects_without_reason() -> None:
    table = frame()[["item", "system", "score", "length", "gold", "worker"]]
    assert cluster_suspects(table, item="item", taken=["system", "score"]) == ()
    assert cluster_suspects(table.assign(passage=" "), item="item", taken=["system", "score"]) == ()
