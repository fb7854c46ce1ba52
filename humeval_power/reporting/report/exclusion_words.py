"""Workers whom rules left out, in the words of a paper, from the record of an analysis."""

from __future__ import annotations

from collections.abc import Mapping

from humeval_power.reporting.numbers import counted, interval_words, p_words
from humeval_power.reporting.values import Document, listed, number, part

_BOTH = ("with_rules", "without_rules")


def exclusion_sentence(record: Document) -> str | None:
    """'By rules that were sealed beforehand 2 of 12 workers were left out (...). ...'; None without rules."""
    found = part(record, "worker_exclusion")
    if not found:
        return None
    kept, everybody = (int(number(part(found, "workers"), name) or 0) for name in _BOTH)
    beforehand = "sealed beforehand" if found.get("sealed") else "not planned beforehand"
    each = "; ".join(filter(None, (_of_rule(one) for one in _records(found, "by_rule"))))
    said = (
        f"By rules that were {beforehand} {everybody - kept:,} of {counted(everybody, 'worker')} were left out "
        f"({each})."
    )
    rows = _records(found, "comparisons")
    if kept == everybody or len(rows) != 1:
        return said
    other = part(rows[0], "without_rules")
    low, high = (float(end) for end in listed(other, "interval"))
    estimate, p = number(other, "estimate"), number(other, "p_value")
    if estimate is None or p is None:
        return said
    return (
        f"{said} With all workers the difference would be {estimate:.4f}, interval {interval_words(low, high)} "
        f"({p_words(p)})."
    )


def _of_rule(rule: Document) -> str:
    if not rule.get("applied"):
        return f"not applied: {rule.get('rule')}"
    return f"{int(number(rule, 'workers') or 0):,} {rule.get('words')}"


def _records(record: Document, name: str) -> list[Document]:
    return [one for one in listed(record, name) if isinstance(one, Mapping)]
