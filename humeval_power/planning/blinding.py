"""Blinding codes: names for the outputs of systems that do not betray the system."""

from __future__ import annotations

import hmac
import json
from collections.abc import Sequence
from hashlib import sha256

# Consonants without B, and no 0 or 1: no code spells a word, hints at A or B, or looks to a spreadsheet
# like a date (MAR12) or a power of ten (1E5).
_LETTERS = "CDFGHJKLMNPQRSTVWXZ"
_CHARACTERS = _LETTERS + "23456789"
_LENGTH = 5


def blinding_codes(outputs: Sequence[tuple[str, str]], *, seed: int) -> tuple[str, ...]:
    """A code such as X3F9C for each output (item, system), all different.

    A code depends on the seed and the two names alone, so that it stays the same when items or workers
    are added. (Where two outputs would get the same code, the later one gets another.) Who knows the
    seed can compute the codes: keep it with the key.
    """
    secret = f"blinding codes of seed {seed}".encode()
    taken: dict[str, None] = {}
    for output in outputs:
        attempt = 0
        while (code := _code(secret, json.dumps([*output, attempt]))) in taken:
            attempt += 1
        taken[code] = None
    return tuple(taken)


def _code(secret: bytes, message: str) -> str:
    number = int.from_bytes(hmac.digest(secret, message.encode(), sha256))
    number, place = divmod(number, len(_LETTERS))
    code = _LETTERS[place]
    while len(code) < _LENGTH:
        number, place = divmod(number, len(_CHARACTERS))
        code += _CHARACTERS[place]
    return code
