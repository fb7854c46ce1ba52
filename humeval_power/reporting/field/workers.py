"""The names of workers in what is written: pseudonyms, by a secret."""

from __future__ import annotations

from typing import TYPE_CHECKING

from humeval_power.reporting.release.pseudonyms import pseudonyms

if TYPE_CHECKING:
    import pandas as pd


def with_pseudonyms(frame: pd.DataFrame, secret: str) -> pd.DataFrame:
    """A table with a pseudonym for each worker: the same secret always gives the same ones."""
    names = frame["worker"].astype(str)
    made = pseudonyms(names.unique(), key=secret, kind="worker")
    return frame.assign(worker=names.map(made))
