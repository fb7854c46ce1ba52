"""Logs of models' scores that were imported: one table of them, and what each log was read as."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from humeval_power.checking.columns import listing, shortened
from humeval_power.checking.logs.combined import LogTable
from humeval_power.checking.logs.reported import reported_means
from humeval_power.reporting.document import Document, Facts, Points, Section, Table
from humeval_power.reporting.numbers import counted, significant
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result
from humeval_power.safe_text import table_csv

if TYPE_CHECKING:
    import pandas as pd

IMPORT_SCORES_SCHEMA = "humeval_power/import_scores/1"
_DIGITS = 12  # of scores that are no whole numbers
_METRICS_SHOWN = 6
_LOGS_SHOWN = 40


@dataclass(frozen=True, kw_only=True)
class ScoresImportResult(Result):
    """Scores out of logs of harnesses."""

    schema: ClassVar[str] = IMPORT_SCORES_SCHEMA
    endings: ClassVar[tuple[str, ...]] = (".csv",)

    table: LogTable
    provenance: Provenance = UNKNOWN

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was read as what, and what was left out."""
        return self.table.said

    @cached_property
    def means(self) -> pd.DataFrame:
        """The mean of each metric, a row for each system, in the order of the logs."""
        frame = self.table.frame
        numbers = frame[list(self.table.scores)].astype(float)
        return numbers.groupby(frame["system"], sort=False).mean()

    def body(self) -> Document:
        """Who has how many scores of what, the means to compare with the harness's own, and the clusters."""
        frame = self.table.frame
        return Document(
            f"{counted(len(frame), 'answer')} imported",
            lead=f"The table has {counted(frame['system'].nunique(), 'system')} and "
            f"{counted(frame['item'].nunique(), 'item')}; nothing is compared yet.",
            sections=(
                Section("", (Facts(tuple(self._counts())),)),
                Section("Means of the samples", (self._means_table(),)),
                Section("What was read", (self._logs_table(),)),
                Section("What may not be independent", (Points(tuple(self._dependences())),)),
            ),
        )

    def _counts(self) -> Iterator[tuple[str, str]]:
        frame = self.table.frame
        for name in ("run", "task"):
            if name in frame:
                yield f"{name.capitalize()}s", f"{frame[name].nunique():,}"
        yield "Metrics", listing(list(self.table.scores), limit=_METRICS_SHOWN)
        yield "Harness", listing(list(dict.fromkeys(log.harness for log in self.table.logs)))
        logged = [(log.metrics, sample.scores) for log in self.table.logs for sample in log.samples]
        missing = sum(
            scores.get(name) is None
            for known, scores in logged
            for name in self.table.scores
            if name in known
        )
        if missing:
            yield "Scores that are missing", f"{missing:,}"
        reported = [one for log in self.table.logs for one in reported_means(log)]
        if reported:
            n_agree = sum(one.agrees for one in reported)
            yield "Means as the harness reported", f"{n_agree:,} of {len(reported):,}"

    def _means_table(self) -> Table:
        shown = list(self.table.scores[:_METRICS_SHOWN])
        sizes = self.table.frame.groupby("system", sort=False).size()
        rows = tuple(
            (str(name), f"{size:,}", *(significant(float(row[metric])) for metric in shown))
            for size, (name, row) in zip(sizes, self.means.iterrows(), strict=True)
        )
        return Table(("system", "answers", *(shortened(name) for name in shown)), rows)

    def _logs_table(self) -> Table:
        rows = [
            (log.source, log.system, log.task, f"{len(log.samples):,}")
            for log in self.table.logs[:_LOGS_SHOWN]
        ]
        rest = len(self.table.logs) - len(rows)
        caption = f"and {rest:,} more logs." if rest else ""
        return Table(("log", "system", "task", "samples"), tuple(rows), caption)

    def _dependences(self) -> Iterator[str]:
        frame = self.table.frame
        yield from (one.sentence() for one in self.table.clusters)
        if not self.table.clusters:
            yield (
                "Nothing in the logs looks like clusters of items. Where items share a passage or a document that "
                "the logs do not name, items of one are not independent: put its name into a column."
            )
        if "run" in frame:
            n_runs = frame["run"].nunique()
            yield (
                f"An item has up to {n_runs:,} runs, which are no further items: humeval-power runs test "
                "takes them into account."
            )
        if "task" in frame:
            yield "Several tasks are in one table: --dataset task counts over them, --task reads one."

    def content(self) -> Record:
        """Counts, means and what each log was read as; no scores."""
        frame = self.table.frame
        return {
            "n_rows": len(frame),
            "n_systems": frame["system"].nunique(),
            "n_items": frame["item"].nunique(),
            "n_runs": frame["run"].nunique() if "run" in frame else 1,
            "tasks": list(dict.fromkeys(log.task for log in self.table.logs)),
            "metrics": list(self.table.scores),
            "columns": list(map(str, frame.columns)),
            "means": {str(name): dict(row) for name, row in self.means.iterrows()},
            "clusters": [asdict(one) for one in self.table.clusters],
            "logs": [
                {
                    "source": log.source,
                    "harness": log.harness,
                    "known_by": log.why,
                    "system": log.system,
                    "task": log.task,
                    "n_samples": len(log.samples),
                    "reported": [asdict(one) for one in reported_means(log)],
                    "notices": list(log.notices),
                }
                for log in self.table.logs
            ],
            "notices": list(self.table.notices),
        }

    def to_frame(self) -> pd.DataFrame:
        """The scores, a row for each answer."""
        return self.table.frame.reset_index(drop=True)

    def artefact(self, ending: str) -> str:  # noqa: ARG002
        """The scores as CSV."""
        return table_csv(self.to_frame(), digits=_DIGITS)

    def files(self) -> dict[str, str]:
        """The scores, beside the page."""
        return {"scores.csv": self.artefact(".csv")}
