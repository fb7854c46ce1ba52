"""The participants of a Prolific study: no ratings, but who was approved and how long it took."""

from __future__ import annotations

from humeval_power.checking.exports.export import Export
from humeval_power.files.exports.platform import Platform, columns_named
from humeval_power.files.exports.raw import RawExport

_PERSON, _STATUS, _TIME = "Participant id", "Status", "Time taken"


def _known_by(export: RawExport) -> str | None:
    if not columns_named(export, ("Submission id", _PERSON, _STATUS)):
        return None
    return f"its columns are Submission id, {_PERSON} and {_STATUS}"


def _read(export: RawExport, why: str) -> Export:
    kept = {_PERSON: "worker", _STATUS: "submission_status", _TIME: "submission_time_s"}
    frame = export.table[[name for name in kept if name in export.table]]
    return Export(
        platform="prolific",
        why=why,
        source=export.source,
        frame=frame.set_axis([kept[name] for name in frame.columns], axis=1),
        notices=export.notices,
        person="worker",
        people=True,
    )


PROLIFIC = Platform("prolific", _known_by, _read)
