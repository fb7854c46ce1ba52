"""What a block is, in 64 letters: equal for equal questions under the same versions, on any machine."""

from __future__ import annotations

import hashlib
import inspect
import struct
import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path, PurePath
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from humeval_power.sweep.versions import PACKAGE, versions_here

if TYPE_CHECKING:
    from hashlib import _Hash

    from humeval_power.sweep.blocks import Block


class NoDigestError(TypeError):
    """A value of a kind that has no digest, such as an open file or a function inside a function."""


class Digests:
    """Digests of many blocks that share arguments: what was digested once is not digested again."""

    def __init__(self) -> None:
        # By id; the value is kept, so that its id stays its own.
        self._known: dict[int, tuple[Any, bytes]] = {}

    def of(self, block: Block) -> str:
        """The digest of a block: its function, its arguments by value, and all that could change the result.

        Raises
        ------
        NoDigestError
            An argument without a value that could be compared.
        """
        parts = [_digest(block.work), *(self._shared(argument) for argument in block.arguments)]
        return hashlib.sha256(_frame().encode() + b"".join(parts)).hexdigest()

    def _shared(self, argument: Any) -> bytes:
        known = self._known.get(id(argument))
        if known is not None:
            return known[1]
        found = _digest(argument)
        if not isinstance(argument, int | float | str):
            self._known[id(argument)] = (argument, found)
        return found


def digest_of(block: Block) -> str:
    """The digest of one block; raises as `Digests.of`."""
    return Digests().of(block)


def digest_value(value: Any) -> str:
    """The digest of a value by its content; raises as `Digests.of`."""
    return _digest(value).hex()


@cache
def _frame() -> str:
    return "\n".join(f"{name} {version}" for name, version in versions_here().items())


def _digest(value: Any) -> bytes:
    found = hashlib.sha256()
    _feed(found, value)
    return found.digest()


def _feed(found: _Hash, value: Any) -> None:
    """Add a value by its kind and content."""
    if value is None or isinstance(value, bool):
        _put(found, "constant", repr(value).encode())
    elif isinstance(value, Enum):
        _put(found, "enum", f"{_name(type(value))}.{value.name}".encode())
    elif isinstance(value, int):
        _put(found, "int", repr(int(value)).encode())
    elif isinstance(value, float):
        _put(found, "float", struct.pack("<d", value))
    elif isinstance(value, str):
        _put(found, "text", value.encode("utf-8", "surrogatepass"))
    elif isinstance(value, bytes):
        _put(found, "bytes", value)
    elif isinstance(value, np.ndarray | np.generic):
        _feed_array(found, np.asarray(value))
    elif isinstance(value, PurePath):
        _put(found, "path", str(value).encode("utf-8", "surrogateescape"))
    elif is_dataclass(value) and not isinstance(value, type):
        _many(
            found, _name(type(value)), [(field.name, getattr(value, field.name)) for field in fields(value)]
        )
    elif isinstance(value, range):
        _put(found, "range", repr(value).encode())
    elif isinstance(value, tuple | list):
        _many(found, "tuple" if type(value) is tuple else _name(type(value)), value)
    elif isinstance(value, Mapping):
        _many(found, "mapping", value.items())
    elif isinstance(value, set | frozenset):
        _many(found, "set", sorted(map(_digest, value)))
    elif isinstance(value, type | FunctionType | BuiltinFunctionType | np.ufunc):
        _feed_code(found, value)
    else:
        raise NoDigestError(f"a {_name(type(value))} has no digest")


def _put(found: _Hash, kind: str, content: bytes) -> None:
    found.update(f"{kind} {len(content)}\n".encode())
    found.update(content)


def _many(found: _Hash, kind: str, values: Iterable[Any]) -> None:
    parts = [_digest(value) for value in values]
    _put(found, kind, b"".join(parts))


def _feed_array(found: _Hash, array: np.ndarray[Any, Any]) -> None:
    if array.dtype.hasobject:
        _many(found, f"objects {array.shape}", array.ravel().tolist())
        return
    _put(found, f"array {array.dtype.str} {array.shape}", np.ascontiguousarray(array).tobytes())


def _feed_code(found: _Hash, value: Any) -> None:
    """A function or class by its name, and where it is not this package's by the source of its module."""
    name = _name(value)
    if "<" in name:
        raise NoDigestError(f"{name} cannot be found again by its name")
    _put(found, "code", name.encode())
    module = str(getattr(value, "__module__", None) or "")
    if module.split(".")[0] in (PACKAGE, "numpy", "scipy", "builtins"):
        return
    try:
        source = inspect.getsourcefile(sys.modules[module])
        content = Path(source or "").read_bytes()
    except (KeyError, TypeError, OSError):
        raise NoDigestError(f"the source of {name} cannot be read") from None
    _put(found, "source", content)


def _name(value: Any) -> str:
    return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value)}"
