"""Files of a study that are never published: told by what is in them, whatever they are called."""

from __future__ import annotations

import re
from pathlib import Path

LEDGER_NAME = "humeval_power/look_ledger/"
SECRET_NAME = "humeval_power/secret/"
_LEDGER = re.compile(
    rb'"schema"\s*:\s*"' + re.escape(LEDGER_NAME).replace("/", r"\\?/").encode() + rb'\d+"'
)
_SECRET = re.compile(re.escape(SECRET_NAME).encode() + rb"\d+[ \t]+[0-9a-f]{64}")


def ledger_path(plan_path: str, ledger: str | None) -> str:
    """The ledger of looks: as typed, or beside the file of the plan."""
    return ledger or str(Path(plan_path).with_suffix(".looks.jsonl"))


def private_kind(content: bytes) -> str | None:
    """'ledger' or 'secret' where a file is one, or holds a line of one; None for any other."""
    for form in (content, *_other_encodings(content)):
        if _SECRET.search(form):
            return "secret"
        if _LEDGER.search(form):
            return "ledger"
    return None


def _other_encodings(content: bytes) -> list[bytes]:
    """What Windows programs write for 'Unicode': every second byte a zero."""
    return [content[start::2] for start in (0, 1)] if b"\0" in content[:4096] else []
