"""What sacreBLEU prints (version 2.6): by `--sentence-level` a line for each segment, NAME|SIGNATURE = SCORE.
A score of the whole test set, in text or in JSON, has no items and is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from humeval_power.checking.logs.log import SHOWN, Log, LogSample
from humeval_power.errors import Problem, first_few, refusal, refuse
from humeval_power.files.logs.score_rows import Harness, RawLog

_LINE = re.compile(
    r"(?P<metric>[A-Za-z][A-Za-z0-9+]{0,19})\|(?P<signature>[\w:.|#+-]{1,300}) = "
    r"(?P<score>-?\d{1,9}(\.\d{1,20})?)( .*)?"
)
_FIRST = re.compile(rb"[A-Za-z][A-Za-z0-9+]{0,19}\|[\w:.|#+-]{0,300}\|v(ersion)?:\d[^ \n]{0,20} = ")
_WHOLE = re.compile(rb'(\[\s*)?\{\s*"name": "[A-Za-z0-9+]{1,20}",\s*"score": [-\d.]+,')
_LOWER_IS_BETTER = "TER"
_NO_ITEMS = "is a score of a whole test set, which has no segments to compare."
_TEXTS = (
    "Compare the texts: humeval-power compare corpus test; or write scores of segments: "
    "sacrebleu --sentence-level."
)


def _known_by(raw: RawLog) -> str | None:
    if _WHOLE.match(raw.head):
        return "it has name, score and signature"
    return "its lines are a metric, its signature and a score" if _FIRST.match(raw.head) else None


def _read(raw: RawLog) -> Iterator[Log]:
    if raw.head.startswith((b"{", b"[")):
        raise refusal(_NO_ITEMS, _TEXTS, raw.source)
    lines = [line.removesuffix("\r") for line in raw.text.rstrip("\r\n").split("\n")]
    match = [_LINE.fullmatch(line) for line in lines]
    if not raw.text.endswith("\n"):
        rule = "has no end of line: the file is cut off here."
        raise refusal(rule, "Score the segments again.", raw.source, len(lines))
    problems = [
        Problem(
            "is no score of sacreBLEU, NAME|SIGNATURE = SCORE.",
            "Score the segments again.",
            raw.source,
            row,
        )
        for row, one in enumerate(match, start=1)
        if one is None
    ]
    refuse(first_few(problems, most=SHOWN))
    known = [one for one in match if one is not None]
    metric, signature = known[0]["metric"], known[0]["signature"]
    other = next(
        (
            row
            for row, one in enumerate(known, 1)
            if (one["metric"], one["signature"]) != (metric, signature)
        ),
        None,
    )
    if len(known) == 1 or (other is not None and len({one["metric"] for one in known}) == len(known)):
        raise refusal(_NO_ITEMS, _TEXTS, raw.source)
    if other is not None:
        rule = f"has another metric or signature than row 1, {metric}|{signature}."
        raise refusal(rule, "Write a file for each.", raw.source, other)
    samples = tuple(
        LogSample(str(row), {metric: float(one["score"])}, row=row, question=signature)
        for row, one in enumerate(known, start=1)
    )
    notices = [f"The signature of {metric}, to be reported: {signature}."]
    if metric == _LOWER_IS_BETTER:
        notices.append("A lower TER is better.")
    yield Log("", "", samples, notices=tuple(notices))


SACREBLEU = Harness(
    "sacrebleu",
    _known_by,
    _read,
    files="a line of text for each segment",
    written_by="`sacrebleu REFERENCE -i OUTPUT --sentence-level`",
    item="the number of the line",
    proved="2.6.0, 2026-11-26",
    names_system=False,
)
