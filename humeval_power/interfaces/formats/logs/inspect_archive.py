"""Inspect's .eval files, a zip of JSON, and how far the evaluation came that a log tells of."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.archives import refuse_bomb
from humeval_power.interfaces.formats.json_text import parse_json
from humeval_power.interfaces.formats.logs.raw import RawLog

HEADER, _SUMMARIES, STARTED = "header.json", "summaries.json", "_journal/start.json"
_SAMPLE = re.compile(r"^samples/.+_epoch_\d+\.json$")
_MOST_MEMBERS = 1_000_000


def of_status(raw: RawLog, header: Mapping[str, Any], n_samples: int) -> Iterator[str]:
    """What the state of the evaluation says of the samples.

    Raises
    ------
    InputError
        An evaluation that has not ended.
    """
    status = str(header.get("status") or "started")
    if status == "started":
        rule = f"is the log of an evaluation that has not ended; it holds {n_samples:,} samples."
        remedy = "Let it end; if it was stopped: inspect eval-retry, or inspect log recover."
        raise InputError([Problem(rule, remedy, raw.source)])
    if status != "success":
        yield f"The evaluation ended with the status {status!r}: what it had not answered is not there."


def members_of(raw: RawLog) -> tuple[Any, list[Any] | None]:
    """The header of an .eval file and its samples: their summaries where there are such, which are small."""

    def wanted(name: str) -> bool:
        summed = _SUMMARIES in raw.names
        return name == HEADER or (name == _SUMMARIES if summed else _SAMPLE.match(name) is not None)

    try:
        refuse_bomb(io.BytesIO(raw.content), source=raw.source, most_members=_MOST_MEMBERS, wanted=wanted)
        names = raw.archive.namelist()
        if HEADER not in names:
            n_samples = sum(_SAMPLE.match(name) is not None for name in names)
            list(of_status(raw, {}, n_samples))
        header = _member(raw, HEADER)
        if _SUMMARIES in names:
            samples = _member(raw, _SUMMARIES)
        else:
            samples = [_member(raw, name) for name in sorted(names) if _SAMPLE.match(name)]
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError):
        rule, remedy = (
            "the .eval file is damaged or cut off.",
            "Copy it again, or run the evaluation again.",
        )
        raise InputError([Problem(rule, remedy, raw.source)]) from None
    except NotImplementedError:
        rule = "is packed in a way that Python's zip does not know."
        remedy = "Convert it: inspect log convert FILE --to json --output-dir FOLDER."
        raise InputError([Problem(rule, remedy, raw.source)]) from None
    return header, samples if isinstance(samples, list) else []


def _member(raw: RawLog, name: str) -> Any:
    text = raw.archive.read(name).decode("utf-8", "replace")
    return parse_json(text, place=f"{raw.source}, {name}", any_number=True)
