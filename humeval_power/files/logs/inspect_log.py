"""Logs of Inspect: a JSON object, or an .eval file, which is a zip of JSON (inspect_ai/log/_log.py and
_recorders/eval.py, version 0.3: header.json, summaries.json, samples/ID_epoch_N.json, _journal/ while it runs).

Words of scores count as Inspect's own accuracy counts them (inspect_ai/scorer/_metric.py, value_to_float):
C 1, P 1/2, I and N 0, yes and true 1, no and false 0.
"""

from __future__ import annotations

import hashlib
import io
import re
import struct
import sys
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from humeval_power.checking.columns import listing
from humeval_power.checking.logs.log import Log, LogSample
from humeval_power.errors import Problem, refusal
from humeval_power.extras import require_extra
from humeval_power.files.file_bytes import parse_json, refuse_bomb
from humeval_power.files.logs.score_rows import Harness, RawLog, number_of, text_of, texts_in

# Inspect's .eval files, a zip of JSON, and how far the evaluation came that a log tells of.

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
    Raises InputError: an archive that is damaged, unpacks to too much, holds a member twice or names one outside of
    it."""
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
        members = _member(raw, _SUMMARIES)
        if not isinstance(members, list):
            return header, []
        if any(_is_cut(one) for one in members):
            _refuse(raw, samples)
            members = [_whole(raw, one) if _is_cut(one) else one for one in members]
        return header, members
    except _DAMAGED:
        rule, remedy = (
            "the .eval file is damaged or cut off.",
            "Copy it again, or run the evaluation again.",
        )
        raise refusal(rule, remedy, raw.source) from None
    except RuntimeError:  # a method of packing that nobody knows, or a password
        rule = "is packed in a way that Python's zip does not know."
        remedy = "Convert it: inspect log convert FILE --to json --output-dir FOLDER."
        raise refusal(rule, remedy, raw.source) from None


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
            raise refusal(rule, "Write the log anew: inspect log convert.", raw.source)
        if ".." in PurePosixPath(name).parts:
            rule = f"holds the member {name!r}, which leads out of the archive."
            raise refusal(rule, "Inspect writes no such log: is it one?", raw.source)


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
        content = unpacker.stream_reader(packed, read_across_frames=True).read(member.file_size + 1)
    except (zstandard.ZstdError, MemoryError):
        raise zipfile.BadZipFile from None
    if len(content) != member.file_size or zlib.crc32(content) != member.CRC:
        raise zipfile.BadZipFile
    return bytes(content)


_WORDS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_YES_NO = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_COMPARED = 200  # characters of a question by which it is known again; summaries cut the rest


def _known_by(raw: RawLog) -> str | None:
    if raw.is_zip:
        return "it is an .eval file" if {HEADER, STARTED} & set(raw.names) else None
    head = raw.head
    if head.startswith(b"{") and re.search(rb'"eval"\s*:\s*\{', head) and re.search(rb'"status"\s*:', head):
        return "it has eval, status and samples"
    return None


def _read(raw: RawLog) -> Iterator[Log]:
    header, samples = members_of(raw) if raw.is_zip else (raw.json, None)
    about = header.get("eval") if isinstance(header, dict) else None
    if not isinstance(about, dict) or not text_of(about.get("model")):
        raise refusal("says no model.", "Is the log complete?", raw.source)
    records = samples if samples is not None else header.get("samples")
    problem = unfinished(raw, header)
    if problem is not None:
        records = []
    elif not isinstance(records, list) or not records:
        rule = "holds no samples."
        raise refusal(rule, "Log them: inspect eval without --no-log-samples.", raw.source)
    notices = []
    if problem is None and header["status"] != "success":
        said = f"The evaluation ended with the status {header['status']!r}: what it had not answered is not there."
        notices.append(said)
    left: dict[str, None] = {}
    result = [_sample(raw, row, record, left) for row, record in enumerate(records, start=1)]
    if len({sample.run for sample in result}) == 1:
        result = [replace(sample, run="") for sample in result]
    elif result:
        notices.append("The run of an answer is its epoch: the item was answered anew (--nested).")
    n_failed = sum(bool(record.get("error")) for record in records)
    if n_failed:
        notices.append(
            f"{n_failed:,} of {len(records):,} samples ended with an error; what was not scored has no score."
        )
    if left:
        notices.append(f"Scores that are no number are left out: {listing(list(left))}.")
    reported, others = _reported(header.get("results"))
    yield Log(
        str(about["model"]),
        str(about.get("task") or ""),
        tuple(result),
        created=str(about.get("created") or ""),
        identity=str(about.get("task_id") or ""),
        unfinished=problem,
        notices=(*notices, *others),
        reported=reported,
        reported_over="items",
    )


def _reported(results: object) -> tuple[dict[str, float], list[str]]:
    """The accuracy or mean of each scorer, and of each part of its scores where it gives several: over items, of
    each the mean over its scored epochs. Another reducer takes no mean over epochs, which is said."""
    values: dict[str, float] = {}
    others: dict[str, None] = {}
    scores = results.get("scores") if isinstance(results, dict) else None
    for one in scores if isinstance(scores, list) else []:
        metrics = one.get("metrics") if isinstance(one, dict) else None
        if not isinstance(metrics, dict):
            continue
        name, scorer, reducer = (text_of(one.get(key)) for key in ("name", "scorer", "reducer"))
        if reducer not in (None, "mean"):
            others[f"{name} by {reducer}"] = None
            continue
        metric = str(name) if scorer in (None, name) else f"{scorer}.{name}"
        for stated in (metrics.get("accuracy"), metrics.get("mean")):
            value = number_of(stated.get("value")) if isinstance(stated, dict) else None
            if value is not None:
                values[metric] = value
    said = [f"Not compared, as they are no means over epochs: {listing(list(others))}."] if others else []
    return values, said


def _sample(raw: RawLog, row: int, record: Any, left: dict[str, None]) -> LogSample:
    if not isinstance(record, dict) or text_of(record.get("id")) is None:
        raise refusal("has no 'id': it is no sample.", "Is the log complete?", raw.source, row)
    scores = record.get("scores")
    if scores is None and isinstance(record.get("score"), dict):  # logs of version 1 have one
        scores = {"score": record["score"]}
    scores = scores if isinstance(scores, dict) else {}
    target = record.get("target")
    answers = [one.get("answer") for one in scores.values() if isinstance(one, dict)]
    question = record.get("input")
    return LogSample(
        item=str(text_of(record["id"])),
        scores=dict(_scores(scores, left)),
        run=text_of(record.get("epoch")) or "1",
        row=row,
        fields=texts_in(record.get("metadata")),
        question=_digest(question) if isinstance(question, str) else "",
        label=text_of(target[0] if isinstance(target, list) and len(target) == 1 else target),
        prediction=next((answer for answer in answers if isinstance(answer, str)), None),
        uuid=text_of(record.get("uuid")) or "",
    )


def _scores(scores: Mapping[str, Any], left: dict[str, None]) -> Iterator[tuple[str, float | None]]:
    """The scores of a sample by the name of the scorer, and of its part where it gives several."""
    for scorer, score in scores.items():
        value = score.get("value") if isinstance(score, dict) else score
        parts: Iterable[tuple[str, Any]] = [(scorer, value)]
        if isinstance(value, dict):
            parts = [(f"{scorer}.{part}", one) for part, one in value.items()]
        for name, one in parts:
            if isinstance(one, list) or (isinstance(one, str) and _worth(one) is None):
                left[name] = None
            else:
                yield name, _worth(one)


def _worth(value: object) -> float | None:
    if not isinstance(value, str):
        return number_of(value)
    if value in _WORDS:
        return _WORDS[value]
    try:
        return _YES_NO.get(value.lower()) if value.lower() in _YES_NO else number_of(float(value))
    except ValueError:
        return None


def _digest(text: str) -> str:
    return hashlib.sha256(text[:_COMPARED].encode("utf-8", "replace")).hexdigest()


INSPECT = Harness(
    "inspect",
    _known_by,
    _read,
    files="`.eval` files and `.json` logs",
    written_by="`inspect eval`",
    item="`id`; `epoch`",
    proved="0.3.285, 2026-11-25",
)
