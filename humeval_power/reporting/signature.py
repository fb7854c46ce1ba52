"""The entries of a signature: a line of `name:value` parts that says what was tested."""

from __future__ import annotations

import re


def named(name: str, value: object) -> list[str]:
    """The entry `name:value` in a list, which is empty where there is no value."""
    return [] if value is None else [f"{name}:{value}"]


def short(value: float | None) -> str:
    """'3' for 3.0, '.05' for 0.05 and '' for None; reading it gives the very number."""
    if value is None:
        return ""
    return str(int(value)) if value == int(value) else re.sub(r"^(-?)0\.", r"\1.", repr(float(value)))


NAME = "humeval_power"


DIGITS = 12  # of a hash: enough to tell any two tables apart that are not made to look alike


def cluster_entry(name: str | None, n_clusters: int | None) -> list[str]:
    """The entry `cluster:passage:40`: by which column, and how many; a name keeps letters, digits, - and _."""
    if name is None or n_clusters is None:
        return []
    return [f"cluster:{re.sub(r'[^A-Za-z0-9_-]+', '_', name)}:{n_clusters}"]
