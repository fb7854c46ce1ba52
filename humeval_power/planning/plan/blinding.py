"""Codes under which workers see outputs: made of bits that the key alone holds, and the key that is found again."""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Collection, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from humeval_power.checking.exports.assigned import Key
from humeval_power.errors import InputError, Problem

if TYPE_CHECKING:
    from humeval_power.planning.plan.assignment_table import AssignmentPlan

N_BYTES = 16  # 128 bits: nobody tries them all

# Consonants without B, and no 0 or 1: no code spells a word, hints at A or B, or looks to a spreadsheet
# like a date (MAR12) or a power of ten (1E5).
_LETTERS = "CDFGHJKLMNPQRSTVWXZ"
_CHARACTERS = _LETTERS + "23456789"
_LENGTH = 5


def new_bits() -> bytes:
    """128 bits that nobody knows: of the system's own source, whatever the seed."""
    return secrets.token_bytes(N_BYTES)


def open_bits(seed: int) -> bytes:
    """What codes are made of that hide nothing: those of a table that names the systems beside them."""
    return f"blinding codes of seed {seed}".encode()


def blinding_codes(
    outputs: Sequence[tuple[str, str]], *, bits: bytes, others: Collection[str] = ()
) -> tuple[str, ...]:
    """A code such as X3F9C for each output (item, system), all different, and none of `others`.

    A code depends on the bits and the two names alone, so that it stays the same when items or workers
    are added. (Where two outputs would get the same code, the later one gets another.)
    """
    taken: dict[str, None] = {}
    for output in outputs:
        attempt = 0
        while (code := _code(bits, json.dumps([*output, attempt]))) in taken or code in others:
            attempt += 1
        taken[code] = None
    return tuple(taken)


def _code(bits: bytes, message: str) -> str:
    number = int.from_bytes(hmac.digest(bits, message.encode(), sha256))
    number, place = divmod(number, len(_LETTERS))
    code = _LETTERS[place]
    while len(code) < _LENGTH:
        number, place = divmod(number, len(_CHARACTERS))
        code += _CHARACTERS[place]
    return code


def study_mark(bits: bytes, plan: AssignmentPlan) -> str:
    """Tells studies apart: of the names of items and systems, and of who rates what where a plan fixes it. It says
    nothing to those who do not know the bits."""
    rows = plan.design.assignment
    rated = (rows.worker.tolist(), rows.item.tolist(), rows.system.tolist()) if plan.is_planned else ()
    named = json.dumps([plan.items, plan.systems, *rated])
    return hmac.digest(bits, named.encode(), sha256).hex()[:32]


def check_found_key(key: Key, plan: AssignmentPlan) -> None:
    """Whether a key that was found is the one of this assignment, whose codes are made of its bits.

    Raises
    ------
    InputError
        A key without bits, of another study, or that was changed since it was written.
    """
    if key.bits is None:
        rule = "is a key without the bits that its codes are made of, as versions before wrote it."
        raise InputError([Problem(rule, "Name another file for the key of this study.", place=key.source)])
    if key.study != study_mark(key.bits, plan):
        rule = "is the key of another study: of other items, systems, or who is to rate what."
        raise InputError([Problem(rule, "Name another file for the key of this one.", place=key.source)])
    frames = key.frame, plan.key()[["code", "item", "system"]]
    read, made = ({tuple(map(str.strip, row)) for row in frame.itertuples(index=False)} for frame in frames)
    if read != made:
        rule = "does not hold the codes of what is shown here: it was changed or cut, or other outputs are rated."
        remedy = "Give the file as it was written, or name another."
        raise InputError([Problem(rule, remedy, place=key.source)])
