"""How the workers of a study work, in its status: who stands out, and whom the rules would leave out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from humeval_power.exclusions import rule_words
from humeval_power.reporting.document import Paragraph, Points, Table
from humeval_power.reporting.numbers import counted

if TYPE_CHECKING:
    from humeval_power.reporting.field.status import StatusResult

_ENDS = 3  # workers that are named at an end of a statistic
_MOST_NAMED = 20
# The statistics at whose ends a worker stands out: the column, what is said of it, whether low values do.
_LOOKED_AT = (
    ("failed_checks", "checks failed", False),
    ("seconds", "fastest, in seconds", True),
    ("seconds", "slowest, in seconds", False),
    ("same_answer", "share of one answer", False),
    ("repeats", "repeats differ by", False),
    ("agreement", "least agreement", True),
)


def standing_out(result: StatusResult) -> Iterator[Table]:
    """The slots at the ends of each statistic."""
    slots = result.slots
    if result.quality is None:
        return
    rows = []
    for name, said, low in _LOOKED_AT:
        known = slots[slots[name].notna() & slots["done"].gt(0)].sort_values(
            name, ascending=low, kind="stable"
        )
        if name == "failed_checks":
            known = known[known["checks_failed"] > 0]
        elif name == "seconds" and not low:  # of a few slots the others are the fastest
            known = known.head(max(len(known) - _ENDS, 0))
        if len(known):
            named = [f"{row['slot']} ({_value(name, row)})" for row in known.head(_ENDS).to_dict("records")]
            rows.append((said, ", ".join(named)))
    if rows:
        caption = (
            "The first three of each. Whether that is too much is for rules to say that were set beforehand. "
            "Repeats differ by a share of the scale; agreement is the correlation with the others."
        )
        yield Table(("statistic", "slots"), tuple(rows), caption, in_words=True)


def _value(name: str, row: Mapping[object, object]) -> str:
    if name == "failed_checks":
        return f"{row['checks_failed']} of {row['checks']}"
    return f"{float(str(row[name])):.3g}"


def rules_so_far(result: StatusResult) -> Iterator[Points | Paragraph]:
    """Whom the rules of the plan would leave out as things stand."""
    if not result.rules or result.quality is None:
        return
    broken = result.rules.broken(result.quality.statistics)
    slot_of = dict(zip(result.progress.slots["worker"], result.progress.slots["slot"], strict=True))
    said = []
    for name, mask in broken.items():
        slots = [
            slot_of.get(worker, "?")
            for worker, out in zip(result.quality.workers, mask, strict=True)
            if out
        ]
        more = f" and {len(slots) - _MOST_NAMED:,} more" if len(slots) > _MOST_NAMED else ""
        named = f" ({', '.join(slots[:_MOST_NAMED])}{more})" if slots else ""
        said.append(
            f"{counted(len(slots), 'worker')} {rule_words(name, result.rules.limits[name])}{named}."
        )
    yield Points(tuple(said))
    yield Paragraph("Limits are reached for good only when a slot is complete.")


_STATISTICS = {
    "seconds": "seconds",
    "same_answer": "one answer",
    "repeats": "repeats differ",
    "agreement": "agreement",
}


def work_of_slots(result: StatusResult) -> Iterator[Table]:
    """The statistics of every slot that is begun."""
    if result.quality is None:
        return
    begun = result.slots[result.slots["done"] > 0]
    rows = tuple(
        (
            str(row["slot"]),
            f"{row['checks_failed']} of {row['checks']}",
            *(_cell(row[name]) for name in _STATISTICS),
        )
        for row in begun.to_dict("records")
    )
    yield Table(("slot", "checks failed", *_STATISTICS.values()), rows)


def _cell(value: object) -> str:
    number = float(str(value))
    return "-" if math.isnan(number) else f"{number:.3g}"
