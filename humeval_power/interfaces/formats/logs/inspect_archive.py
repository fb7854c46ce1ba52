"""Inspect's .eval files, a zip of JSON, and how far the evaluation came that a log tells of."""

from __future__ import annotations

import io
import re
import struct
import sys
import zipfile
import zlib
from collections import Counter
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from humeval_power.errors import InputError, Problem
from humeval_power.extras import require_extra
from humeval_power.interfaces.formats.archives import refuse_bomb
from humeval_power.interfaces.formats.json_text import parse_json
from humeval_power.interfaces.formats.logs.raw import RawLog

HEADER, _SUMMARIES, STARTED = "header.json", "summaries.json", "_journal/start.json"
_SAMPLE = re.compile(r"^samples/.+_epoch_\d+\.json$")
_MOST_MEMBERS = 1_000_000
_ZSTANDARD = 93  # the method by which Inspect packs; Python's own zip reads it from 3.14 on
_LARGEST_WINDOW = 1 << 27  # bytes that a packed member may ask for while it is unpacked
_CUT = "Key removed from summary"
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, OSError, ValueError, struct.error)


def unfinished(raw: RawLog, header: Mapping[str, Any]) -> Problem | None:
    """Why an evaluation that has not ended is not read; None of one that has."""
    if str(header.get("status") or "started") != "started":
        return None
    rule = "is the log of an evaluation that has not ended."
    remedy = "Let it end; if it was stopped: inspect eval-retry, or inspect log recover."
    return Problem(rule, remedy, raw.source)


def members_of(raw: RawLog) -> tuple[Any, list[Any]]:
    """The header of an .eval file and its samples: their summaries, which are small, where there are such, with the
    fields that were cut in them.

    Raises
    ------
    InputError
        An archive that is damaged, unpacks to too much, holds a member twice or names one outside of it.
    """
    try:
        names = raw.archive.namelist()
        samples = sorted(name for name in names if _SAMPLE.match(name))
        summed = _SUMMARIES in names
        _refuse(raw, [HEADER, STARTED, *([_SUMMARIES] if summed else samples)])
        if HEADER not in names:
            return _member(raw, STARTED), []
        header = _member(raw, HEADER)
        if not summed:
            return header, [_member(raw, name) for name in samples]
        found = _member(raw, _SUMMARIES)
        if not isinstance(found, list):
            return header, []
        if any(_is_cut(one) for one in found):
            _refuse(raw, samples)
            found = [_whole(raw, one) if _is_cut(one) else one for one in found]
        return header, found
    except _DAMAGED:
        rule, remedy = (
            "the .eval file is damaged or cut off.",
            "Copy it again, or run the evaluation again.",
        )
        raise InputError([Problem(rule, remedy, raw.source)]) from None
    except RuntimeError:  # a method of packing that nobody knows, or a password
        rule = "is packed in a way that Python's zip does not know."
        remedy = "Convert it: inspect log convert FILE --to json --output-dir FOLDER."
        raise InputError([Problem(rule, remedy, raw.source)]) from None


def _refuse(raw: RawLog, members: list[str]) -> None:
    """Refuse an archive of which these members are too large, stand twice, or lead out of it."""
    wanted = set(members)
    refuse_bomb(
        io.BytesIO(raw.content), source=raw.source, most_members=_MOST_MEMBERS, wanted=wanted.__contains__
    )
    counts = Counter(raw.archive.namelist())
    for name in wanted:
        if counts[name] > 1:
            rule = f"holds the member {name!r} {counts[name]} times: which counts cannot be told."
            raise InputError([Problem(rule, "Write the log anew: inspect log convert.", raw.source)])
        if ".." in PurePosixPath(name).parts:
            rule = f"holds the member {name!r}, which leads out of the archive."
            raise InputError([Problem(rule, "Inspect writes no such log: is it one?", raw.source)])


def _is_cut(summary: Any) -> bool:
    """Whether fields of the data set were left out of a summary for their length."""
    fields = summary.get("metadata") if isinstance(summary, dict) else None
    return isinstance(fields, dict) and any(str(value).startswith(_CUT) for value in fields.values())


def _whole(raw: RawLog, summary: dict[str, Any]) -> dict[str, Any]:
    """A summary with the fields of the sample itself."""
    sample = _member(raw, f"samples/{summary.get('id')}_epoch_{summary.get('epoch')}.json")
    return {**summary, "metadata": sample.get("metadata") if isinstance(sample, dict) else None}


def _member(raw: RawLog, name: str) -> Any:
    text = _unpacked(raw, raw.archive.getinfo(name)).decode("utf-8", "replace")
    return parse_json(text, place=f"{raw.source}, {name}", any_number=True)


def _unpacked(raw: RawLog, member: zipfile.ZipInfo) -> bytes:
    """The bytes of a member, never more than it states."""
    if member.compress_type != _ZSTANDARD or sys.version_info >= (3, 14):
        return raw.archive.read(member)
    require_extra("logs", wanted_for=f"{raw.source} is packed by Zstandard, and to read it")
    import zstandard

    if member.flag_bits & 1:
        raise RuntimeError("a password")
    start = member.header_offset
    if raw.content[start : start + 4] != b"PK\x03\x04":
        raise zipfile.BadZipFile
    start += 30 + sum(struct.unpack_from("<HH", raw.content, start + 26))
    packed = io.BytesIO(raw.content[start : start + member.compress_size])
    try:
        unpacker = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW)
        found = unpacker.stream_reader(packed, read_across_frames=True).read(member.file_size + 1)
    except (zstandard.ZstdError, MemoryError):
        raise zipfile.BadZipFile from None
    if len(found) != member.file_size or zlib.crc32(found) != member.CRC:
        raise zipfile.BadZipFile
    return bytes(found)
