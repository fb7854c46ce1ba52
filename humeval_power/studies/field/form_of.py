"""The form of an assignment: the texts of its rows, and attention checks with their right answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from humeval_power.checking.outputs import Outputs
from humeval_power.checking.suspects import TableSize
from humeval_power.choices import (
    DEFAULT_CRITERION,
    DEFAULT_INSTRUCTIONS,
    DEFAULT_QUESTION_TEXT,
    DEFAULT_TITLE,
)
from humeval_power.costs import CostModel
from humeval_power.errors import InputError, Problem
from humeval_power.safe_text import table_csv
from humeval_power.saying.document import Document, Fact, Facts, Section
from humeval_power.saying.numbers import counted
from humeval_power.saying.result import UNKNOWN, WITHDRAWAL_SCHEMA, Provenance, Record, Result
from humeval_power.scales import RatingScale
from humeval_power.studies.field.form import CheckText, FormRow, Question, RatingForm
from humeval_power.studies.plan.assignment import AssignmentPlan, blinding_codes
from humeval_power.studies.plan.session_order import CHECK

_STREAM = 7  # of random numbers, beside those of the assignment
DEFAULT_QUESTION = Question(DEFAULT_CRITERION, DEFAULT_QUESTION_TEXT, {})


def questions_of(
    criteria: Sequence[str], questions: Sequence[Question], labels: Mapping[int, str]
) -> tuple[Question, ...]:
    """What is asked of a study with these criteria (none: it has one without a name); a question that nobody has
    worded is worded by its criterion.

    Raises
    ------
    InputError
        Questions of other criteria than the study has, or of some of them alone.
    """
    if questions:
        names = [one.criterion for one in questions]
        if criteria and set(names) != set(criteria):
            rule = f"Questions are asked of {', '.join(names)}; the plan has the criteria {', '.join(criteria)}."
            raise InputError([Problem(rule, "Ask one question of each.")])
        return tuple(questions)
    usual = [Question(name, f"{DEFAULT_QUESTION.text} ({name})", labels) for name in criteria]
    return tuple(usual) or (replace(DEFAULT_QUESTION, labels=labels),)


@dataclass(frozen=True, slots=True)
class Asked:
    """What workers are told and asked, and what they are paid, where that is known. `checks` are attention checks;
    without any they are written.

    Raises
    ------
    InputError
        What `RatingForm` refuses, and checks that ask for what is no point of the scale: all at once.
    """

    scale: RatingScale
    title: str = DEFAULT_TITLE
    instructions: str = DEFAULT_INSTRUCTIONS
    questions: tuple[Question, ...] = (DEFAULT_QUESTION,)
    checks: tuple[CheckText, ...] = ()
    costs: CostModel | None = None

    def __post_init__(self) -> None:
        self.form([FormRow("", 1, 1, "check", "", one.text, one.source, one.right) for one in self.checks])

    def form(self, shown: Sequence[FormRow]) -> RatingForm:
        """The form that shows these."""
        content = (self.title, self.instructions, self.questions, self.scale)
        return RatingForm(*content, tuple(shown), self.costs)


def form_of(plan: AssignmentPlan, rows: pd.DataFrame, outputs: Outputs, form: Asked) -> RatingForm:
    """The form of the rows of an assignment: what is shown stands in the order of the rows.

    Checks are dealt at random by the seed of the assignment: a worker meets all before one comes again. Each has a
    code of its own, as outputs have.

    plan : a blind one: it has the bits of the codes.
    rows : as the plan's table has them, with the names of items and systems.
    """
    checks = form.checks or written_checks(form.form(()))
    assert plan.bits is not None
    names = [("attention check", str(number)) for number in range(len(checks))]
    codes = blinding_codes(names, bits=plan.bits, others=plan.codes)
    dealt = _dealt(plan, len(checks))
    shown = []
    columns = ("worker_slot", "batch", "order", "kind", "code", "item", "system")
    planned = rows["replaces" if "replaces" in rows else "worker_slot"]  # a spare sees the same checks
    for slot, *values in zip(planned.tolist(), *(rows[name].tolist() for name in columns), strict=True):
        number = dealt.get((slot, values[columns.index("order")]))
        shown.append(
            _output(values, outputs) if number is None else _check(values, checks[number], codes[number])
        )
    return form.form(shown)


def written_checks(form: RatingForm) -> tuple[CheckText, ...]:
    """Checks that ask for a point each; of a slider for its ends, which a hand can reach."""
    points = (form.points[0], form.points[-1]) if form.is_slider else form.points
    every = " for every question" if len(form.questions) > 1 else ""
    do = "please answer" if form.is_slider else "please choose"  # not all platforms have a slider
    return tuple(CheckText(f"This is an attention check: {do} {point}{every}.", point) for point in points)


def rows_shown(rows: pd.DataFrame, form: RatingForm) -> pd.DataFrame:
    """The rows with the codes of checks, and in a column `right` the point that each asks for."""
    right = [None if one.right is None else str(one.right) for one in form.shown]
    return rows.assign(
        code=[one.code for one in form.shown], right=pd.Series(right, dtype=object, index=rows.index)
    )


def _output(values: Sequence[Any], outputs: Outputs) -> FormRow:
    slot, batch, order, kind, code, item, system = values
    assert kind in ("rating", "repeat")
    text, source = outputs.texts[item, system], outputs.sources.get(item, "")
    return FormRow(
        slot, int(batch), int(order), "repeat" if kind == "repeat" else "rating", code, text, source
    )


def _check(values: Sequence[Any], check: CheckText, code: str) -> FormRow:
    slot, batch, order, *_ = values
    return FormRow(slot, int(batch), int(order), "check", code, check.text, check.source, check.right)


def _dealt(plan: AssignmentPlan, n_checks: int) -> Mapping[tuple[str, int], int]:
    """Which check is shown at a slot and order: each slot goes through all of them in an order of its own."""
    counts: dict[tuple[str, int], int] = {}
    places = np.flatnonzero(plan.kind == CHECK)
    for worker in np.unique(plan.worker[places]).tolist():
        rng = np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=(_STREAM, worker)))
        mine = plan.order[places[plan.worker[places] == worker]]
        rounds = [rng.permutation(n_checks) for _ in range(-(-len(mine) // n_checks))]
        for order, number in zip(np.sort(mine).tolist(), np.concatenate(rounds).tolist(), strict=False):
            counts[plan.slots[worker], order] = number
    return counts


# Participants who withdrew: what goes, what stays, and what the ledger of looks was told.

_DIGITS = 12


@dataclass(frozen=True, kw_only=True)
class WithdrawalResult(Result):
    """A table without the participants who withdrew.

    table : all rows of the others, as they were.
    gone, left : what goes with them, and what is left.
    n_planned : the workers that the plan asks for; None without a plan.
    ledger : the ledger of looks that was told; None where no look had seen anything of theirs.
    n_seen : of the ratings that go, those that looks saw.
    """

    schema: ClassVar[str] = WITHDRAWAL_SCHEMA
    endings: ClassVar[tuple[str, ...]] = (".csv",)

    table: pd.DataFrame
    gone: TableSize
    left: TableSize
    n_planned: int | None = None
    ledger: str | None = None
    n_seen: int = 0
    provenance: Provenance = UNKNOWN

    def seen(self, ledger: str, n_seen: int) -> WithdrawalResult:
        """The same with what the ledger of looks was told."""
        return replace(self, ledger=ledger if n_seen else None, n_seen=n_seen)

    def body(self) -> Document:
        """What goes and what is left, beside what was planned."""
        planned = "" if self.n_planned is None else f", where {self.n_planned:,} were planned"
        return Document(
            f"{counted(self.gone.n_workers, 'participant')} withdrew",
            lead=f"{counted(self.gone.n_rows, 'row')} of theirs {'is' if self.gone.n_rows == 1 else 'are'} gone; "
            f"{counted(self.left.n_rows, 'row')} of {counted(self.left.n_workers, 'worker')} "
            f"{'is' if self.left.n_rows == 1 else 'are'} left{planned}.",
            sections=(Section("", (Facts(tuple(self._facts())),)),),
        )

    def _facts(self) -> Iterator[Fact]:
        if self.ledger is None:
            yield "Looks", "none has seen ratings of theirs"
        else:
            yield (
                "Looks",
                f"had seen {counted(self.n_seen, 'rating')} of theirs; {self.ledger} says that they are gone",
            )

    def content(self) -> Record:
        """Counts; nothing of a participant."""
        return {
            "n_withdrawn": self.gone.n_workers,
            "n_rows_gone": self.gone.n_rows,
            "n_rows": self.left.n_rows,
            "n_workers": self.left.n_workers,
            "n_planned": self.n_planned,
            "ledger": self.ledger,
            "n_seen": self.n_seen,
        }

    def to_frame(self) -> pd.DataFrame:
        """The table without them."""
        return self.table.reset_index(drop=True)

    def artefact(self, ending: str) -> str:
        """The table without them as CSV."""
        assert ending in self.endings
        return table_csv(self.to_frame(), digits=_DIGITS)

    def files(self) -> dict[str, str]:
        """The table without them."""
        return {"ratings.csv": self.artefact(".csv")}
