"""The flow of rows: how many were read, left out and why, and analysed; in records, in words, and as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from humeval_power.checking.rows import APART, OF_ANOTHER_CRITERION, FlowStep
from humeval_power.saying.numbers import counted
from humeval_power.saying.result import Record
from humeval_power.saying.values import JsonRecord, listed, number, words

if TYPE_CHECKING:
    from humeval_power.checking.rows import ExportFlow
    from humeval_power.ratings import Ratings

HEADER = "rows of the header"
_MOST_APART = 3  # exports that are told of one by one
_VERBS = {"read": "read", "dropped": "left out", "analysed": "analysed"}


def flow_record(ratings: Ratings) -> Record:
    """The flow of rows of a table, and that of the platform's export before it, where it was one."""
    before = [export_record(one) for one in ratings.exports]
    return {**({"exports": before} if before else {}), "flow": [asdict(step) for step in ratings.flow]}


def export_record(export: ExportFlow) -> Record:
    """What an export was taken for, and what left it on the way; a row of it may turn into several ratings."""
    return {
        "source": export.source,
        "platform": export.platform,
        "known_by": export.known_by,
        "flow": [asdict(step) for step in export.flow],
    }


def merged_flow(flows: Iterable[Iterable[FlowStep]]) -> list[FlowStep]:
    """The flow of several tables together: what left them for the same reason is one step."""
    rows: Counter[tuple[str, str]] = Counter()
    steps: dict[tuple[str, str], FlowStep] = {}
    for one in (step for flow in flows for step in flow):
        steps.setdefault((one.step, one.reason), one)
        rows[one.step, one.reason] += one.rows
    merged = [replace(one, rows=rows[key]) for key, one in steps.items()]
    return sorted(merged, key=lambda one: one.step == "analysed")  # last, whatever a later table adds


def flow_sentence(record: JsonRecord) -> str | None:
    """'1,834 rows were read; 34 were left out (rating is missing); 1,800 were analysed.', after the same of each
    export that the table was made of; None where the record has no flow."""
    steps, exports = _steps(record), _exports(record)
    if not steps:
        return None
    said = [_of_export(export) for export in exports]
    if not exports or any(map(_is_left_out, steps)):
        others = [step for step in steps if _is_of_another(step)]
        shown = [_of_table(step) for step in steps if step not in others]
        if others:
            n = steps[0].rows - sum(step.rows for step in others)
            criterion = others[0].reason.removeprefix(OF_ANOTHER_CRITERION)
            shown[0] += f", {n:,} of them of the criterion {criterion}"
        said.append("; ".join(shown) + ".")
    return " ".join(said)


def n_dropped(record: JsonRecord) -> int:
    """Rows that were left out of the table as it was read, and of the exports that it was made of; rows of another
    criterion than the chosen one are not left out."""
    steps = (step for one in (*_exports(record), record) for step in _steps(one))
    return sum(step.rows for step in steps if _is_left_out(step))


def left_out_notice(flow: Iterable[FlowStep]) -> tuple[str, ...]:
    """'34 rows were left out (30: rating is missing; 4: worker is missing).', to be read first; else nothing.

    Rows of another criterion than the chosen one, of a header, and those that are no ratings are not left out.
    """
    steps = [
        step
        for step in flow
        if step.step == "dropped"
        and step.rows
        and not step.reason.startswith((OF_ANOTHER_CRITERION, APART, HEADER))
    ]
    if not steps:
        return ()
    n = sum(step.rows for step in steps)
    why = (
        "; ".join(f"{step.rows:,}: {step.reason}" for step in steps) if len(steps) > 1 else steps[0].reason
    )
    return (f"{counted(n, 'row')} {'was' if n == 1 else 'were'} left out ({why}).",)


def flow_rows(record: JsonRecord) -> list[tuple[str, str, str]]:
    """Each step, its number of rows and its reason: of the exports, each by its file's name, then of the table."""
    steps = [
        (f"{words(export, 'source')}: {_verb(step)}", step)
        for export in _exports(record)
        for step in _without_repeats(_steps(export))
    ]
    steps += [(_verb(step).capitalize(), step) for step in _steps(record)]
    return [(name, f"{step.rows:,}", step.reason) for name, step in steps]


def _of_export(export: JsonRecord) -> str:
    """'Of the export pilot.csv (qualtrics), 120 rows of the export were read; 3 were left out (...); ...'"""
    said = []
    for step in _without_repeats(_steps(export)):
        was, reason = "was" if step.rows == 1 else "were", step.reason or "rows"
        kept = "kept" if step.step == "analysed" else _verb(step)
        if step.step == "dropped":
            said.append(f"{step.rows:,} {was} left out ({reason})")
        else:
            said.append(f"{step.rows:,} {reason} {was} {kept}")
    return f"Of the export {words(export, 'source')} ({words(export, 'platform')}), {'; '.join(said)}."


def _without_repeats(steps: Iterable[FlowStep]) -> Iterator[FlowStep]:
    """The steps without a reading of just what the steps before it have left."""
    left: int | None = None
    for step in steps:
        if step.step == "dropped":
            left = None if left is None else left - step.rows
        elif step.step == "read":
            if step.rows == left:
                continue
            left = step.rows
        yield step


def _of_table(step: FlowStep) -> str:
    why = f" ({step.reason})" if step.reason else ""
    return f"{step.rows:,} {'row was' if step.rows == 1 else 'rows were'} {_verb(step)}{why}"


def _verb(step: FlowStep) -> str:
    return "of another criterion" if _is_of_another(step) else _VERBS.get(step.step, "kept")


def _is_of_another(step: FlowStep) -> bool:
    return step.step == "dropped" and step.reason.startswith(OF_ANOTHER_CRITERION)


def _is_left_out(step: FlowStep) -> bool:
    return step.step == "dropped" and step.rows > 0 and not _is_of_another(step)


def _steps(record: JsonRecord) -> list[FlowStep]:
    return [
        FlowStep(step["step"], int(number(step, "rows") or 0), words(step, "reason") or "")
        for step in listed(record, "flow")
        if isinstance(step, Mapping)
    ]


def _exports(record: JsonRecord) -> list[JsonRecord]:
    """The exports; where there are many, those of a platform together."""
    exports = [export for export in listed(record, "exports") if isinstance(export, Mapping)]
    if len(exports) <= _MOST_APART:
        return exports
    alike: dict[object, list[JsonRecord]] = {}
    for export in exports:
        alike.setdefault(export.get("platform"), []).append(export)
    return [
        {
            **first,
            "source": f"{words(first, 'source')} and {len(others):,} more" if others else first["source"],
            "flow": list(map(asdict, merged_flow(map(_steps, (first, *others))))),
        }
        for first, *others in alike.values()
    ]
