"""Whether a worker would compute the same bytes: its versions, and the kind of its processor."""

from __future__ import annotations

import platform
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from humeval_power.errors import HumevalPowerError
from humeval_power.sweep.digest import versions

Versions = Mapping[str, str]  # of packages by their names, as `digest.versions` gives them


class OtherVersionsError(HumevalPowerError):
    """A worker on which another version of something is installed."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Where a worker runs: the name of the host, its kind of processor, the versions there."""

    host: str
    processor: str
    versions: Versions


@cache
def versions_here() -> Versions:
    """Those of this process; looking for them takes some milliseconds, and every task asks."""
    return versions()


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


_TITLES = {"python": "Python", "code": "code of humeval_power"}
