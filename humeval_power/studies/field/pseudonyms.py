"""Keyed pseudonyms, a keyed order of rows, and the look of ids that name a person on a platform."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Sequence

import numpy as np

from humeval_power.checking.cells import Codes
from humeval_power.checking.rehearsed import is_rehearsed, rehearsed_worker

DIGITS = 16  # hexadecimal: two of a million names share a pseudonym with a chance of 3 in 10^8
_BLOCK = 64  # bytes that SHA-256 takes at a time
_INNER, _OUTER = (bytes(byte ^ pad for byte in range(256)) for pad in (0x36, 0x5C))  # of RFC 2104
SHORT_KEY = 16  # characters below which all keys, or all likely ones, can be tried
_MTURK = re.compile(r"A[A-Z0-9]{12,14}")
_PROLIFIC = re.compile(r"[0-9a-f]{24}", re.IGNORECASE)
_EMAIL = re.compile(r"[^\s@<>,;:\"']+@[^\s@<>,;:\"']+\.[^\W\d_]{2,}")
_PSEUDONYM = re.compile(rf"({re.escape(rehearsed_worker(''))})?w[0-9a-f]{{{DIGITS}}}")
_WORD = re.compile(r"[A-Za-z0-9]+")


def pseudonyms(names: Iterable[str], *, key: str, kind: str) -> dict[str, str]:
    """A pseudonym for each name: the same key, kind and name always give the same one.

    It is the start of HMAC-SHA256 of kind and name: without the key, trying known ids tells nothing.
    `kind` ('worker', 'item') gives the same id different pseudonyms in different columns. Workers of a rehearsal
    stay known as such.
    """
    return {name: _marked(name, f"{kind[0]}{_digest(key, f'{kind}:{name}')[:DIGITS]}") for name in names}


def is_pseudonym(name: str) -> bool:
    """Whether a worker's name looks like one of these pseudonyms."""
    return _PSEUDONYM.fullmatch(name) is not None


def _marked(name: str, pseudonym: str) -> str:
    return rehearsed_worker(pseudonym) if is_rehearsed([name]) else pseudonym


def keyed_order(n_rows: int, *, key: str) -> Codes:
    """A permutation of the rows (n_rows,) that the key determines and that nobody can undo without it: they are
    sorted by the digests of their numbers."""
    # HMAC-SHA256 of many short messages: the two halves of the key are taken in once
    secret = _bytes(key)
    secret = hashlib.sha256(secret).digest() if len(secret) > _BLOCK else secret
    inner, outer = (hashlib.sha256(secret.ljust(_BLOCK, b"\0").translate(pad)) for pad in (_INNER, _OUTER))
    order = []
    for row in range(n_rows):
        message, signed = inner.copy(), outer.copy()
        message.update(b"row:%d" % row)
        signed.update(message.digest())
        order.append(signed.digest())
    digests = b"".join(order)
    words = np.frombuffer(digests, dtype=">u8").reshape(n_rows, 4)
    return np.lexsort(words.T[::-1]).astype(np.int64)


def platform_of(text: str) -> str | None:
    """What kind of personal id stands in a text: an MTurk or Prolific id, an e-mail address, or None."""
    if _EMAIL.search(text):
        return "an e-mail address"
    for word in _WORD.findall(text):
        if _PROLIFIC.fullmatch(word):
            return "a Prolific id"
        # Inside a longer text a word in capitals is more likely a word than an id.
        if _MTURK.fullmatch(word) and (word == text.strip() or any(letter.isdigit() for letter in word)):
            return "an MTurk id"
    return None


def personal_ids(texts: Sequence[str]) -> dict[str, list[str]]:
    """The texts that hold a personal id, by the kind of id."""
    by_kind: dict[str, list[str]] = {}
    for text in texts:
        kind = platform_of(text)
        if kind is not None:
            by_kind.setdefault(kind, []).append(text)
    return by_kind


def _digest(key: str, message: str) -> str:
    return hmac.digest(_bytes(key), _bytes(message), "sha256").hex()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
