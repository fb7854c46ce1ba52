"""Which files were read, with their digests: what a result says of its sources."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from humeval_power.reporting.result import Source

_PACKAGE = Path(__file__).resolve().parents[2]
_OWN = (_PACKAGE, _PACKAGE.parent / "data" / "platform_fees.toml")  # the latter where it is developed
_NOTED: ContextVar[dict[str, Source] | None] = ContextVar("files_read", default=None)


@contextmanager
def noting_files() -> Iterator[dict[str, Source]]:
    """Within the block, each file that is read is noted by its name, in the order of reading."""
    found: dict[str, Source] = {}
    token = _NOTED.set(found)
    try:
        yield found
    finally:
        _NOTED.reset(token)


def note_file(name: str, content: bytes) -> None:
    """Note a file and the SHA-256 of its bytes, where somebody wants to know.

    A file of the package itself goes by its name alone: where it is installed is nobody's business.
    """
    noted = _NOTED.get()
    if noted is not None:
        path = Path(name)
        shown = path.name if any(path.is_relative_to(own) for own in _OWN) else name
        noted.setdefault(name, Source(shown, hashlib.sha256(content).hexdigest()))
