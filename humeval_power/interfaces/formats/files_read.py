"""Which files were read, with their digests: what a result says of its sources."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from humeval_power.reporting.result import Source

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
    """Note a file and the SHA-256 of its bytes, where somebody wants to know; its folder is nobody's business."""
    noted = _NOTED.get()
    if noted is not None:
        noted.setdefault(name, Source(Path(name).name, hashlib.sha256(content).hexdigest()))
