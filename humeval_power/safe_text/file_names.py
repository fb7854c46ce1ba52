"""Names of files made from names of anything."""

from __future__ import annotations

import re
from collections.abc import Sequence

LONGEST = 60  # characters; file systems take 255 bytes, and an ending follows
_DEVICES = re.compile(r"(?i:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")  # Windows opens these as devices


def file_stems(names: Sequence[str], *, nameless: str) -> list[str]:
    """The names as the starts of files' names, numbered where two would be the same.

    Letters and digits of any alphabet stay; `nameless` stands for a name without any.
    """
    stems = [_stem(name) or nameless for name in names]
    folded = [stem.casefold() for stem in stems]  # some file systems do not tell capitals
    return [
        stem if folded.count(stem.casefold()) == 1 else f"{place}-{stem}"
        for place, stem in enumerate(stems, start=1)
    ]


def _stem(name: str) -> str:
    stem = re.sub(r"[^\w.-]+", "_", name).strip("._")[:LONGEST].strip("._-")
    return f"_{stem}" if _DEVICES.fullmatch(stem) else stem
