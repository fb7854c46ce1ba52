"""What the digits of a result depend on beside its question: versions, and the kind of processor."""

from __future__ import annotations

import hashlib
import io
import pickle
import platform
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from enum import Enum
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

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
    versions = {PACKAGE: _version("humeval-power"), "code": _code_digest()}
    versions.update({name: _version(name) for name in _NUMERICAL})
    versions["python"] = ".".join(platform.python_version_tuple()[:2])
    return versions


def _code_digest() -> str:
    """A digest of the package's own source: between two releases the version says too little."""
    root = Path(__file__).resolve().parents[1]
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


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


def check_versions(wanted: Versions, versions: Versions, *, host: str = "") -> None:
    """Refuse versions that differ from those that are wanted.

    Raises
    ------
    OtherVersionsError
        What differs, and the remedy.
    """
    names = dict.fromkeys([*wanted, *versions])
    others = [
        f"{_TITLES.get(name, name)} {versions.get(name, 'none')} instead of {wanted.get(name, 'none')}"
        for name in names
        if wanted.get(name) != versions.get(name)
    ]
    if others:
        raise OtherVersionsError(
            f"The worker on {host or socket.gethostname()} has {', '.join(others)}. The same bytes need the "
            "same versions everywhere: install there what is installed here "
            f"(Python {platform.python_version()} of {sys.prefix}), start the workers again, and run this again."
        )


# Results of blocks as bytes, to be kept or sent: values come back to the last bit, and nothing is
# executed.

_PROTOCOL = 4
_ARRAYS = {
    "numpy": ("ndarray", "dtype"),
    "numpy._core.multiarray": ("_reconstruct", "scalar"),
    "numpy.core.multiarray": ("_reconstruct", "scalar"),
}


class DamagedError(ValueError):
    """Bytes that are no result of a block."""


def pack(result: Any) -> bytes:
    """A result as bytes.

    Raises
    ------
    DamagedError
        A result that would not come back: it holds more than numbers, texts, arrays and records of this package.
    """
    content = pickle.dumps(result, protocol=_PROTOCOL)
    unpack(content)
    return content


def unpack(content: bytes) -> Any:
    """The result that was packed.

    Raises
    ------
    DamagedError
        Bytes that were cut off or changed, or that ask for anything but records, numbers, texts and arrays.
    """
    try:
        return _RecordUnpickler(io.BytesIO(content)).load()
    except Exception as error:  # what goes wrong with damaged bytes has no end of names
        raise DamagedError(f"what was kept of a block cannot be read: {error}") from None


class _RecordUnpickler(pickle.Unpickler):
    """Reads records of this package and arrays; a file that names anything else is refused, never obeyed."""

    def find_class(self, module: str, name: str) -> Any:
        """The record, or what arrays are made of."""
        if name in _ARRAYS.get(module, ()):
            return super().find_class(module, name)
        if module.split(".")[0] == PACKAGE and "." not in name:
            kind = super().find_class(module, name)
            if isinstance(kind, type) and _is_record(kind):
                return kind
        raise DamagedError(f"{module}.{name} is no record")


def _is_record(kind: type) -> bool:
    named_tuple = issubclass(kind, tuple) and hasattr(kind, "_fields")
    return is_dataclass(kind) or named_tuple or issubclass(kind, Enum)


# Replicates cut into blocks.


class Span(NamedTuple):
    """Replicates `first` to `first + n - 1`."""

    first: int
    n: int


def spans(end: int, size: int, *, first: int = 0) -> list[Span]:
    """Replicates `first` to `end - 1` in spans of `size`, the last of them shorter."""
    return [Span(begin, min(size, end - begin)) for begin in range(first, end, size)]
