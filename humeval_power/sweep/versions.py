"""What the digits of a result depend on beside its question: versions, and the kind of processor."""

from __future__ import annotations

import hashlib
import platform
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

from humeval_power.errors import HumevalPowerError

PACKAGE = "humeval_power"
Versions = Mapping[str, str]  # of packages by their names
# Other versions of these have other digits.
_NUMERICAL = ("numpy", "scipy", "numba", "pandas", "statsmodels", "sacrebleu")
_TITLES = {"python": "Python", "code": "code of humeval_power"}


class OtherVersionsError(HumevalPowerError):
    """A worker on which another version of something is installed."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Where a worker runs: the name of the host, its kind of processor, the versions there."""

    host: str
    processor: str
    versions: Versions


@cache
def versions_here() -> dict[str, str]:
    """Those of this process: of this package, its code, Python and the numerical libraries. Looking for them takes
    some milliseconds, and every task asks."""
    found = {PACKAGE: _version("humeval-power"), "code": _code_digest()}
    found.update({name: _version(name) for name in _NUMERICAL})
    found["python"] = ".".join(platform.python_version_tuple()[:2])
    return found


def _code_digest() -> str:
    """A digest of the package's own source: between two releases the version says too little."""
    root = Path(__file__).resolve().parents[1]
    found = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        found.update(path.relative_to(root).as_posix().encode() + b"\0")
        found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()[:16]


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "none"


def machine_here() -> Machine:
    """This machine."""
    from llvmlite import binding

    return Machine(
        socket.gethostname(), f"{platform.machine()} {binding.get_host_cpu_name()}", versions_here()
    )


def check_versions(wanted: Versions, found: Versions, *, host: str = "") -> None:
    """Refuse versions that differ from those that are wanted.

    Raises
    ------
    OtherVersionsError
        What differs, and the remedy.
    """
    names = dict.fromkeys([*wanted, *found])
    others = [
        f"{_TITLES.get(name, name)} {found.get(name, 'none')} instead of {wanted.get(name, 'none')}"
        for name in names
        if wanted.get(name) != found.get(name)
    ]
    if others:
        raise OtherVersionsError(
            f"The worker on {host or socket.gethostname()} has {', '.join(others)}. The same bytes need the "
            "same versions everywhere: install there what is installed here "
            f"(Python {platform.python_version()} of {sys.prefix}), start the workers again, and run this again."
        )
