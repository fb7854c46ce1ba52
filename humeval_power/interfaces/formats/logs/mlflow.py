"""Results of MLflow's evaluation of language models (version 3.18, `result_df` of `mlflow.genai.evaluate` as CSV or
JSON lines): `request`, `response`, and a column NAME/value for each scorer. `trace_id` is new in each run."""

from __future__ import annotations

from humeval_power.checking.logs.log import Log
from humeval_power.interfaces.formats.logs.harness import Harness
from humeval_power.interfaces.formats.logs.raw import RawLog
from humeval_power.interfaces.formats.logs.score_rows import first_row, log_of_rows

_ASKED, _END = "request", "/value"


def _known_by(raw: RawLog) -> str | None:
    row = first_row(raw)
    scores = [name for name in row if name.endswith(_END)]
    return f"its columns are {_ASKED} and {scores[0]}" if _ASKED in row and scores else None


def _metric(column: str) -> str | None:
    return column.removesuffix(_END) if column.endswith(_END) else None


def _read(raw: RawLog, why: str) -> list[Log]:
    return [
        log_of_rows(
            raw,
            why,
            harness=MLFLOW.title,
            asked=_ASKED,
            question=(_ASKED,),
            answer="response",
            label="expected_response/value",
            metric=_metric,
        )
    ]


MLFLOW = Harness("mlflow", "MLflow", _known_by, _read)
