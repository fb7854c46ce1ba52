"""Zip archives, such as Excel workbooks are, measured by what they state before anything is unpacked."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable, Iterator
from typing import BinaryIO

from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.size_limits import largest_size, too_large

_MOST_MEMBERS = 10_000  # a workbook of a thousand sheets has some three thousand
_MEMBER_SIZE = 200  # bytes of the directory that a member takes, with its name
_TAIL = 65_557  # bytes in which the end of an archive lies, with its comment
_END, _END_64, _LOCATOR_64 = b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07"


def refuse_bomb(
    file: BinaryIO,
    *,
    source: str,
    most_members: int = _MOST_MEMBERS,
    wanted: Callable[[str], bool] = lambda _name: True,
) -> None:
    """Refuse an archive that states more members or bytes than can be taken; no reader unpacks more than it states.

    wanted : by the name of a member, whether it will be unpacked; the others are not measured.

    Raises
    ------
    InputError
        Such an archive.
    zipfile.BadZipFile
        One that is damaged.
    """
    # Already to read the list of a million members takes the memory of a machine.
    if max(_directory_sizes(file), default=0) > most_members * _MEMBER_SIZE:
        raise _too_many(source, most_members)
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
    except (ValueError, NotImplementedError) as error:  # names that are no text, versions that do not exist
        raise zipfile.BadZipFile(str(error)) from error
    if len(members) > most_members:
        raise _too_many(source, most_members)
    if sum(member.file_size for member in members if wanted(member.filename)) > largest_size():
        raise too_large(source, unpacked=True)


def _directory_sizes(file: BinaryIO) -> Iterator[int]:
    """The bytes of its list of members, by everything that a reader may take for the end of the archive."""
    size = file.seek(0, 2)
    file.seek(max(0, size - _TAIL))
    tail = file.read()
    file.seek(0)
    for place in _places(tail, _END, 22):
        stated = struct.unpack_from("<L", tail, place + 12)[0]
        yield 0 if stated == 0xFFFFFFFF else stated
    if _LOCATOR_64 in tail:
        yield from [
            struct.unpack_from("<Q", tail, place + 40)[0] for place in _places(tail, _END_64, 56)
        ] or [size]


def _places(tail: bytes, mark: bytes, length: int) -> Iterator[int]:
    place = tail.find(mark)
    while 0 <= place <= len(tail) - length:
        yield place
        place = tail.find(mark, place + 1)


def _too_many(source: str, most: int) -> InputError:
    rule = f"the archive has more than {most:,} members."
    return InputError([Problem(rule, "Save the ratings as CSV UTF-8.", place=source)])
