"""Blocks packed to be sent: large arrays apart, so that each travels once and not with every block.

A block's arguments are records with arrays somewhere inside, such as who rates what. Many blocks share them.
In a parcel an array of some size is a name only, the digest of its content; where the arrays are kept and how they
reach a worker is the engine's business. Parcels are pickles: they go between processes of one user.
"""

from __future__ import annotations

import copyreg
import hashlib
import io
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humeval_power.errors import InputError
from humeval_power.sweep.blocks import Block

LARGE = 16_384  # bytes from which an array travels apart
AnyArray = NDArray[Any]
_PICKLED_BY = ("__reduce_ex__", "__reduce__", "__getstate__")


class NotSendableError(InputError):
    """A block that other processes cannot be given; this one can compute it."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """Blocks as bytes, and the digests of the arrays that they need beside them."""

    content: bytes
    needs: tuple[str, ...]

    def blocks(self, arrays: Mapping[str, AnyArray]) -> list[Block]:
        """The blocks again, with their arrays."""
        reader = _Reader(io.BytesIO(self.content), arrays)
        found: list[Block] = reader.load()
        return found


class Packer:
    """Packs blocks; remembers the arrays it has seen by identity, so that each is digested once."""

    def __init__(self) -> None:
        self._digests: dict[int, tuple[AnyArray, str]] = {}
        self.arrays: dict[str, AnyArray] = {}

    def pack(self, blocks: Sequence[Block]) -> Parcel:
        """One parcel of all these blocks; `arrays` then has what it needs.

        Raises
        ------
        NotSendableError
            A block that cannot be sent to another process, such as one with a function of no module.
        """
        content = io.BytesIO()
        writer = _Writer(content, self)
        try:
            writer.dump(list(blocks))
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise NotSendableError(
                f"This cannot be computed by another process: {error}. Functions must stand at the top of a "
                "module that the workers can import too."
            ) from None
        return Parcel(content.getvalue(), tuple(dict.fromkeys(writer.needs)))

    def name_of(self, array: AnyArray) -> str:
        """The digest of an array's content, shape and kind."""
        known = self._digests.get(id(array))
        if known is not None and known[0] is array:
            return known[1]
        ordered = np.ascontiguousarray(array)
        digest = hashlib.sha256(f"{ordered.dtype.str}{ordered.shape}".encode())
        digest.update(ordered.data)
        name = digest.hexdigest()
        self._digests[id(array)] = (array, name)  # held, so that its identity stays its own
        self.arrays.setdefault(name, array)
        return name


class _Writer(pickle.Pickler):
    def __init__(self, file: io.BytesIO, packer: Packer) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self._packer = packer
        self.needs: list[str] = []

    def persistent_id(self, value: object) -> str | None:
        if type(value) is not np.ndarray or value.nbytes < LARGE or value.dtype.hasobject:
            return None
        self.needs.append(self._packer.name_of(value))
        return self.needs[-1]

    def reducer_override(self, value: Any) -> Any:
        """A record by its fields alone: what it has remembered of them since is made again where it is needed."""
        if not is_dataclass(value) or isinstance(value, type) or not hasattr(value, "__dict__"):
            return NotImplemented
        names = {field.name for field in fields(value)}
        plain = all(getattr(type(value), name) is getattr(object, name) for name in _PICKLED_BY)
        if not plain or vars(value).keys() <= names:
            return NotImplemented
        kept = {name: content for name, content in vars(value).items() if name in names}
        return copyreg.__newobj__, (type(value),), kept  # type: ignore[attr-defined]


class _Reader(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, arrays: Mapping[str, AnyArray]) -> None:
        super().__init__(file)
        self._arrays = arrays

    def persistent_load(self, name: str) -> AnyArray:
        return self._arrays[name]
