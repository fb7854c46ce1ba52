"""Tables of ratings in Parquet, and tables so large that how they are read decides."""

from __future__ import annotations

import decimal
from pathlib import Path

import numpy as np
import pandas as pd
from cases import each_case

from humeval_power.files.exports.platforms import read_export
from humeval_power.files.tables import read_ratings

ROWS = [(f"{w:03d}", f"i{i}", s, 1 + (w + i) % 5) for w in range(3) for i in range(4) for s in "AB"]
TABLE = pd.DataFrame(ROWS, columns=["worker", "item", "system", "rating"])


def as_csv(folder: Path, table: pd.DataFrame) -> Path:
    path = folder / "ratings.csv"
    table.to_csv(path, index=False)
    return path


@each_case(
    "column",
    [
        lambda table: table,
        lambda table: table.assign(worker=table.worker.astype("category")),
        lambda table: table.assign(rating=[decimal.Decimal(f"{one}.50") for one in table.rating]),
        lambda table: table.assign(rating=table.rating.astype(float)),
        lambda table: table.assign(session=pd.Timestamp("2026-01-02T03:04:05")),
        lambda table: table.assign(rating=table.rating.where(table.rating != 3)),
    ],
    ids=["plain", "categories", "decimals", "floats", "timestamps", "nulls"],
)
def test_parquet_gives_the_ratings_of_the_same_table_as_csv(tmp_path: Path, column: object) -> None:
    table = column(TABLE)  # type: ignore[operator]
    table.to_parquet(tmp_path / "ratings.parquet")
    packed, text = read_ratings(tmp_path / "ratings.parquet"), read_ratings(as_csv(tmp_path, table))
    assert packed.worker_names == text.worker_names == ("000", "001", "002")
    assert packed.flow == text.flow
    for field in ("worker", "item", "system", "rating"):
        assert np.array_equal(getattr(packed, field), getattr(text, field))


def test_an_export_in_parquet_is_brought_in_as_text(tmp_path: Path) -> None:
    table = TABLE.assign(rating=TABLE.rating.where(TABLE.rating != 3))
    table.to_parquet(tmp_path / "ratings.parquet")
    packed = read_export(tmp_path / "ratings.parquet", platform="table").frame
    text = read_export(
        as_csv(tmp_path, TABLE.assign(rating=table.rating.astype("Int64"))), platform="table"
    )
    assert packed.to_csv() == text.frame.to_csv()
