"""The JSON documents of the package as plain values: their schemas, and what all of them hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache

ANALYSIS_SCHEMA = "humeval_power/analysis/1"
ANALYSES_SCHEMA = "humeval_power/analyses/1"
PARAMETERS_SCHEMA = "humeval_power/parameters/1"
MDE_SCHEMA = "humeval_power/mde/1"
SIZE_SCHEMA = "humeval_power/size/1"
POWER_SCHEMA = "humeval_power/power/1"
SURFACE_SCHEMA = "humeval_power/surface/1"
IMPORT_SCHEMA = "humeval_power/import/1"
COLLECT_STATUS_SCHEMA = "humeval_power/collect_status/1"
WITHDRAWAL_SCHEMA = "humeval_power/withdrawal/1"
PLAN_FILE = "plan.json"  # in the folder that `plan -o` writes
LOOKS_FILE = "looks.json"  # in the folder that `looks -o` writes

Record = dict[str, object]
_VERSIONED = ("humeval-power", "numpy", "scipy", "pandas", "numba")


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that numbers depend on."""
    return dict(_versions())


@cache
def _versions() -> tuple[tuple[str, str], ...]:
    """The same, read once: finding a package's version takes a millisecond."""
    import platform
    from importlib import metadata

    packages = ((package, metadata.version(package)) for package in _VERSIONED)
    return ("python", platform.python_version()), *packages


def json_ready(value: object) -> object:
    """The same value without NaN and infinities, which JSON does not know: they become None."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): json_ready(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [json_ready(part) for part in value]
    return value
