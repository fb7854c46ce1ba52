"""How far a study has come while it is collected: a result that never shows the effect, nor anything by system."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from humeval_power.checking.exports.assigned import Assigned
from humeval_power.exclusions import NO_RULES, ExclusionRules
from humeval_power.inference.field.progress import Progress
from humeval_power.inference.field.worker_quality import WorkerQuality
from humeval_power.reporting.document import Document
from humeval_power.reporting.field.spares import Spare, spares_to_call
from humeval_power.reporting.field.status_document import status_document
from humeval_power.reporting.field.workers import BY_ID, Names
from humeval_power.reporting.records import COLLECT_STATUS_SCHEMA, Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result
from humeval_power.safe_text import table_csv

if TYPE_CHECKING:
    import pandas as pd

_DIGITS = 12
_MISSING = ("slot", "batch", "order", "kind", "code", "item", "look")


@dataclass(frozen=True, kw_only=True)
class StatusResult(Result):
    """Who has done what of an assignment, and what to do next.

    quality : statistics of each worker's work, blind to the systems; None before any answer.
    rules : by which workers will be left out, where the plan has such rules.
    names : how workers are named in what is shown and written.
    notices : what was noticed in reading the exports.
    """

    schema: ClassVar[str] = COLLECT_STATUS_SCHEMA
    endings: ClassVar[tuple[str, ...]] = (".csv",)

    progress: Progress
    assigned: Assigned
    quality: WorkerQuality | None
    rules: ExclusionRules = NO_RULES
    names: Names = BY_ID
    notices: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was noticed in reading the exports."""
        return self.notices

    @cached_property
    def slots(self) -> pd.DataFrame:
        """A row for each slot: how far it is, and how its worker works."""
        found = self.progress.slots
        if self.quality is not None:
            frame = self.quality.to_frame().drop(columns="ratings")
            found = found.merge(frame.rename(columns={"failed": "checks_failed"}), on="worker", how="left")
            found = found.astype({"checks": "Int64", "checks_failed": "Int64"})
            found["left_out"] = found["worker"].isin(self.broken)
        return found.assign(worker=self.names.of(found["worker"]))

    @cached_property
    def broken(self) -> frozenset[str]:
        """The workers whom the rules leave out as things stand, by their ids."""
        if self.quality is None or not self.rules:
            return frozenset()
        left_out = self.rules.left_out(self.quality.statistics)
        return frozenset(np.array(self.quality.workers, dtype=object)[left_out])

    @cached_property
    def spares(self) -> tuple[Spare, ...]:
        """The spares to call, the certain ones first."""
        found = self.progress.slots
        slots = found.loc[found["worker"].isin(self.broken), "slot"]
        return spares_to_call(self.progress, self.assigned, broken=frozenset(slots))

    @cached_property
    def missing(self) -> pd.DataFrame:
        """A row for each showing that is not done."""
        rows = self.progress.showings
        return rows.loc[~rows["done"], list(_MISSING)].reset_index(drop=True)

    def body(self) -> Document:
        """How far the study is, who stands out, what does not fit, and which spares to call."""
        return status_document(self)

    def content(self) -> Record:
        """Counts, a row for each slot, and what to do next; no rating, and nothing by system."""
        found = self.progress
        fates = {
            fate.replace(" ", "_"): n
            for fate, n in found.fates.items()
            if fate not in ("fits", "own check")
        }
        kinds = {kind: {"done": done, "expected": n} for kind, (done, n) in found.of_kind().items()}
        items = found.items()
        return {
            "n_expected": found.n_expected,
            "n_done": found.n_done,
            "kinds": kinds,
            "n_workers": found.n_workers,
            "n_withdrawn": found.n_withdrawn,
            "states": {str(name): int(n) for name, n in found.slots["state"].value_counts().items()},
            "n_without_slot": found.n_without_slot,
            "n_own_checks": found.fates["own check"],
            "not_counted": fates,
            "looks": [{"look": name, "done": done, "expected": n} for name, done, n in found.looks()],
            "items": {"n": len(items), "n_complete": int((items["done"] >= items["expected"]).sum())},
            "rules": self.rules.limits,
            "spares": [
                {
                    "spare": one.name,
                    "slot": one.slot,
                    "first_batch": one.first_batch,
                    "why": one.why,
                    "certain": one.certain,
                    "replace": one.takeover,
                }
                for one in self.spares
            ],
            "rows": _records(self.slots),
        }

    def to_frame(self) -> pd.DataFrame:
        """A row for each slot."""
        return self.slots.copy()

    def artefact(self, ending: str) -> str:
        """The slots as CSV."""
        assert ending in self.endings
        return table_csv(self.slots, digits=_DIGITS)

    def files(self) -> dict[str, str]:
        """All that is missing; the slots are the table."""
        return {"missing.csv": table_csv(self.missing)}


def _records(slots: pd.DataFrame) -> list[Record]:
    """Rows as plain values; None where nothing is known."""
    plain = slots.astype(object).where(slots.notna(), None)
    return [{str(name): value for name, value in row.items()} for row in plain.to_dict("records")]
