"""Files to upload: what each platform takes of an assignment, and the table to follow it by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

from humeval_power.errors import Problem
from humeval_power.safe_text import table_csv
from humeval_power.saying.document import Document, Section, Table
from humeval_power.saying.result import UNKNOWN, Provenance, Record, Result, Source
from humeval_power.scales import RatingScale
from humeval_power.studies.field.form import Content, RatingForm, needs_slider, rows_shown
from humeval_power.studies.field.uploads import UPLOADERS
from humeval_power.studies.plan.result_assignment import AssignmentResult

if TYPE_CHECKING:
    import pandas as pd

ASSIGNMENT = "assignment.csv"


@dataclass(frozen=True, kw_only=True)
class UploadResult(Result):
    """An assignment with the files to upload: a folder for each platform, and beside them the assignment by codes.
    Nothing in them names a system."""

    schema: ClassVar[str] = "humeval_power/uploads/1"
    files_alone: ClassVar[bool] = True

    assignment: AssignmentResult
    form: RatingForm
    platforms: tuple[str, ...]
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        """What is uploaded, and how the work is laid out."""
        assigned = self.assignment.body()
        rows = tuple((UPLOADERS[name].title, f"{name}/", self._count(name)) for name in self.platforms)
        uploaded = Section(
            "What is uploaded",
            (Table(("platform", "folder", "files"), rows, "Each has a README.md: what to do."),),
        )
        return replace(assigned, sections=(uploaded, *assigned.sections))

    def _count(self, name: str) -> str:
        return f"{sum(file.startswith(f'{name}/') for file in self._files):,}"

    def content(self) -> Record:
        """The rows as the coordinator follows them, and what is uploaded."""
        record = self.assignment.content()
        rows = [
            {name: None if value == "" else value for name, value in row.items()}
            for row in self.to_frame().to_dict("records")
        ]
        criteria = [one.criterion for one in self.form.questions]
        return {**record, "rows": rows, "criteria": criteria, "platforms": list(self.platforms)}

    def to_frame(self) -> pd.DataFrame:
        """A row for each thing that a worker is shown, with the codes of checks and their right answers."""
        return rows_shown(self.assignment.to_frame(), self.form)

    def files(self) -> Mapping[str, Content]:
        """What is uploaded, in a folder for each platform, and the assignment."""
        return self._files

    @cached_property
    def _files(self) -> Mapping[str, Content]:
        made = {
            f"{name}/{file}": content
            for name in self.platforms
            for file, content in UPLOADERS[name].write(self.form).items()
        }
        return {ASSIGNMENT: table_csv(self.to_frame()), **made}

    def key(self) -> pd.DataFrame:
        """What the codes stand for: for the coordinator alone."""
        return self.assignment.key()

    def key_csv(self) -> str:
        """The file of the key."""
        return self.assignment.key_csv()

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is said beside the result."""
        of_platforms = (said for name in self.platforms for said in UPLOADERS[name].remarks(self.form))
        return (*self.assignment.remarks, *self._looks(), *of_platforms)

    def _looks(self) -> Iterator[str]:
        """Of a plan with looks: where workers have to wait."""
        plan = self.assignment.assignment
        if plan.look is not None and (plan.look == 1).any():
            last = int(plan.batch[plan.look == 1].max())
            yield (
                f"The plan has {int(plan.look.max())} looks: let workers stop after their batches of the first one "
                f"(batch {last} at the latest; the column look of {ASSIGNMENT} says which) until it was taken."
            )

    def with_command(self, command: str, sources: tuple[Source, ...]) -> Self:  # noqa: ARG002
        """The same: the command and its files may hold the seed and the systems."""
        return self


def platform_problems(platforms: Sequence[str], scale: RatingScale) -> list[Problem]:
    """Platforms that are not known, and those that have no sliders where the scale needs one."""
    problems = [
        Problem(f"There is no platform {name!r} to upload to; there are {', '.join(UPLOADERS)}.", "")
        for name in platforms
        if name not in UPLOADERS
    ]
    if needs_slider(scale):
        problems += [
            Problem(
                f"{UPLOADERS[name].title} has no sliders, and the scale {scale} needs one.", "Take points."
            )
            for name in platforms
            if name in UPLOADERS and not UPLOADERS[name].sliders
        ]
    return problems
