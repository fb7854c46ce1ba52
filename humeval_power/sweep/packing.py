"""Results of blocks as bytes, to be kept or sent: values come back to the last bit, and nothing is executed."""

from __future__ import annotations

import io
import pickle
from dataclasses import is_dataclass
from enum import Enum
from typing import Any

from humeval_power.sweep.versions import PACKAGE

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
        return _Reader(io.BytesIO(content)).load()
    except Exception as error:  # what goes wrong with damaged bytes has no end of names
        raise DamagedError(f"what was kept of a block cannot be read: {error}") from None


class _Reader(pickle.Unpickler):
    """Reads records of this package and arrays; a file that names anything else is refused, never obeyed."""

    def find_class(self, module: str, name: str) -> Any:
        """The record, or what arrays are made of."""
        if name in _ARRAYS.get(module, ()):
            return super().find_class(module, name)
        if module.split(".")[0] == PACKAGE and "." not in name:
            found = super().find_class(module, name)
            if isinstance(found, type) and _is_record(found):
                return found
        raise DamagedError(f"{module}.{name} is no record")


def _is_record(found: type) -> bool:
    named_tuple = issubclass(found, tuple) and hasattr(found, "_fields")
    return is_dataclass(found) or named_tuple or issubclass(found, Enum)
