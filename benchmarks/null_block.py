"""A block that takes no time, in a module that workers can import."""

from __future__ import annotations


def nothing(place: int, *, n_jobs: int = 1) -> float:  # noqa: ARG001
    """Its place."""
    return float(place)
