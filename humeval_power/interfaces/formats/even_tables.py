"""Delimited text whose rows all have as many cells as the header, read by Arrow in one pass."""

from __future__ import annotations

import csv

import pandas as pd

from humeval_power.interfaces.formats.size_limits import largest_table, most_columns

_LONGEST_HEADER = 100_000  # characters; one cell of more is beyond what `csv` takes by itself


def even_cells(text: str, separator: str) -> pd.DataFrame | None:
    """The cells of a text that ends in a line feed, header and blank lines among them; None where its rows are
    uneven, too many, or cut in a way on which readers differ: a slower reader then finds out."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    header = text[: text.index("\n")]
    if len(header) > _LONGEST_HEADER or text.count("\r") != text.count("\r\n"):
        return None
    quoted = '"' in text
    width = len(next(csv.reader([header], delimiter=separator), []))
    # A blank line becomes a row of as many cells as the header has.
    if width < 2 or width > most_columns() or text.count("\n") * width > largest_table():
        return None
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(text.encode()),
            read_options=arrow_csv.ReadOptions(autogenerate_column_names=True),
            parse_options=arrow_csv.ParseOptions(
                delimiter=separator, newlines_in_values=quoted, ignore_empty_lines=False
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types={f"f{place}": pa.large_string() for place in range(width)},
                strings_can_be_null=False,
            ),
        )
    except (pa.ArrowInvalid, csv.Error):
        return None
    if table.num_columns != width:
        return None
    # Arrow takes a quotation mark that is never closed for one that closes with the text.
    if quoted and table.column(width - 1)[-1].as_py().endswith("\n"):
        return None
    frame: pd.DataFrame = table.to_pandas()
    return frame.set_axis(range(width), axis=1)
