"""How much of everything a client of the page may send, and how long it may take for that."""

from __future__ import annotations

from dataclasses import dataclass

MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Caps:
    """What a single request and all of them together may take.

    link, head : bytes of the link, and of all header lines together.
    body : bytes of what is posted, but for uploads.
    upload : bytes of an uploaded file. The default is what commands read at most (`file_bytes`), so that nothing
        is taken that is refused afterwards.
    spreadsheet : bytes of an uploaded workbook or other archive: these grow manyfold when they are unpacked.
    uploads : bytes of all uploads that are kept.
    head_seconds : until the head of a request is there.
    pause_seconds, body_seconds : between two pieces of a body, and for all of it.
    answer_seconds : in which a client that does not read must take something of the answer.
    requests, connections : at the same time.
    """

    link: int = 16_384
    head: int = 32_768
    body: int = MEGABYTE
    upload: int = 200 * MEGABYTE
    spreadsheet: int = 30 * MEGABYTE
    uploads: int = 1_000 * MEGABYTE
    head_seconds: float = 10
    pause_seconds: float = 15
    body_seconds: float = 180
    answer_seconds: float = 30
    requests: int = 256
    connections: int = 400
