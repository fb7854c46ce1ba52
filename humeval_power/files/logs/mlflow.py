"""Results of MLflow's evaluation of language models (version 3.17, `result_df` of `mlflow.genai.evaluate` as CSV or
JSON lines): `request`, `response`, and a column NAME/value for each scorer. `trace_id` is new in each run.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

from humeval_power.checking.logs.log import Log
from humeval_power.files.logs.score_rows import Harness, RawLog, canonical, first_row, log_of_rows, texts_in

_ASKED, _END = "request", "/value"
_EXPECTED = {"expected_response", "expected_facts", "expected_retrieved_context", "guidelines"}
_ASSESSMENT = re.compile(
    r"""["']assessment_name["']: ?["']([^"']+)["'].{0,2000}?["'](feedback|expectation)["']: ?""", re.DOTALL
)
_LOOKED_AT = 100  # rows
_LONGEST = 10_000  # characters of an object that is looked into


def _known_by(raw: RawLog) -> str | None:
    row = first_row(raw)
    scores = [name for name in row if name.endswith(_END)]
    return f"its columns are {_ASKED} and {scores[0]}" if _ASKED in row and scores else None


def _read(raw: RawLog) -> Iterator[Log]:
    texts = [canonical(record.get("assessments") or "") for _, record in raw.rows[:_LOOKED_AT]]
    found = (match for text in texts for match in _ASSESSMENT.finditer(text))
    expected = _EXPECTED | {match[1] for match in found if match[2] == "expectation"}  # beside the scores

    def metric(column: str) -> str | None:
        name = column.removesuffix(_END)
        return name if name != column and name not in expected else None

    yield log_of_rows(
        raw,
        request=_ASKED,
        question=(_ASKED,),
        answer="response",
        label=f"expected_response{_END}",
        metric=metric,
        fields=_fields,
    )


def _fields(record: Mapping[str, Any]) -> Mapping[str, str]:
    """What was asked, where it is an object: a table has it as Python writes it."""
    request = record.get(_ASKED)
    if isinstance(request, str) and request.startswith("{") and len(request) <= _LONGEST:
        try:
            request = ast.literal_eval(request)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return {}
    return texts_in(request)


MLFLOW = Harness(
    "mlflow",
    _known_by,
    _read,
    files="a table: CSV or JSON lines",
    written_by="`result_df` of `mlflow.genai.evaluate`",
    item="`request`",
    proved="3.17.2, 2026-11-25",
    names_system=False,
)
