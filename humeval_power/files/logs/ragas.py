"""Results of ragas (version 0.4, `result.to_pandas()` as CSV or JSON lines): what was asked and answered in columns
of known names, and a column for each metric.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from humeval_power.checking.columns import ROLES
from humeval_power.checking.logs.log import Log
from humeval_power.files.logs.score_rows import Harness, RawLog, canonical, first_row, is_score, log_of_rows

_ASKED = "user_input"
_INPUTS = {
    *(_ASKED, "response", "reference", "retrieved_contexts", "reference_contexts", "multi_responses"),
    *("retrieved_context_ids", "reference_context_ids", "rubrics", "rubric", "reference_topics"),
    *("reference_tool_calls", "persona_name", "query_style", "query_length", "synthesizer_name"),
}


def _known_by(raw: RawLog) -> str | None:
    row = first_row(raw)
    inputs = [name for name in row if name in _INPUTS]
    has_scores = any(_metric(name) and is_score(cell) for name, cell in row.items())
    is_known = _ASKED in inputs and len(inputs) > 1 and has_scores
    return f"its columns are {', '.join(inputs)}" if is_known else None


def _metric(column: str) -> str | None:
    is_other = column in _INPUTS or column in ("", "Unnamed: 0") or ROLES["item"].fits(column)
    return None if is_other else column


def _fields(record: Mapping[str, Any]) -> Mapping[str, str]:
    """All but what was asked and answered: contexts are one where they are the same."""
    return {
        name: canonical(value)
        for name, value in record.items()
        if name not in (_ASKED, "response", "reference") and value not in (None, "")
    }


def _read(raw: RawLog) -> Iterator[Log]:
    yield log_of_rows(
        raw,
        request=_ASKED,
        question=(_ASKED, "reference"),
        answer="response",
        label="reference",
        metric=_metric,
        fields=_fields,
    )


RAGAS = Harness(
    "ragas",
    _known_by,
    _read,
    files="a table: CSV or JSON lines",
    written_by="`result.to_pandas()`",
    item="`user_input` with `reference`",
    proved="0.4.3, 2026-11-25",
    names_system=False,
)
