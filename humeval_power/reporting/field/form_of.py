"""The form of an assignment: the texts of its rows, and attention checks with their right answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from humeval_power.checking.outputs import Outputs
from humeval_power.planning.plan.assignment_table import AssignmentPlan, blinding_codes
from humeval_power.planning.plan.session_order import CHECK, KINDS
from humeval_power.reporting.field.form import CheckText, Question, RatingForm, Shown
from humeval_power.scales import RatingScale

DEFAULT_TITLE = "Rating texts"
DEFAULT_INSTRUCTIONS = (
    "Read each text, and answer what is asked below it. There are no right answers but yours; where a text says "
    "that it is an attention check, do what it says."
)
DEFAULT_QUESTION = Question("quality", "How good is this text?", {})
_STREAM = 7  # of random numbers, beside those of the assignment


@dataclass(frozen=True, slots=True)
class Asked:
    """What workers are told and asked. `checks` are attention checks; without any they are written.

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

    def __post_init__(self) -> None:
        self.form([Shown("", 1, 1, "check", "", one.text, one.source, one.right) for one in self.checks])

    def form(self, shown: Sequence[Shown]) -> RatingForm:
        """The form that shows these."""
        return RatingForm(self.title, self.instructions, self.questions, self.scale, tuple(shown))


def form_of(plan: AssignmentPlan, rows: pd.DataFrame, outputs: Outputs, asked: Asked) -> RatingForm:
    """The form of the rows of an assignment: what is shown stands in the order of the rows.

    Checks are dealt at random by the seed of the assignment: a worker meets all before one comes again. Each has a
    code of its own, as outputs have.

    rows : as the plan's table has them, with the names of items and systems.
    """
    checks = asked.checks or written_checks(asked.form(()))
    codes = blinding_codes(
        [("attention check", str(number)) for number in range(len(checks))],
        seed=plan.seed,
        others=plan.codes,
    )
    is_check = (rows["kind"] == KINDS[CHECK]).to_numpy()
    dealt = _dealt(rows["worker_slot"][is_check].to_numpy(), len(checks), plan.seed)
    check = np.full(len(rows), -1)
    check[is_check] = dealt
    columns = ("worker_slot", "batch", "order", "kind", "code", "item", "system")
    return asked.form(
        [
            _check(values, checks[number], codes[number]) if number >= 0 else _output(values, outputs)
            for number, *values in zip(
                check.tolist(), *(rows[name].tolist() for name in columns), strict=True
            )
        ]
    )


def written_checks(form: RatingForm) -> tuple[CheckText, ...]:
    """Checks that ask for a point each; of a slider for its ends, which a hand can reach."""
    points = (form.points[0], form.points[-1]) if form.is_slider else form.points
    every = " for every question" if len(form.questions) > 1 else ""
    do = "please move the slider to" if form.is_slider else "please choose"
    return tuple(CheckText(f"This is an attention check: {do} {point}{every}.", point) for point in points)


def rows_shown(rows: pd.DataFrame, form: RatingForm) -> pd.DataFrame:
    """The rows with the codes of checks, and in a column `right` the point that each asks for."""
    right = [None if one.right is None else str(one.right) for one in form.shown]
    return rows.assign(
        code=[one.code for one in form.shown], right=pd.Series(right, dtype=object, index=rows.index)
    )


def _output(values: Sequence[str], outputs: Outputs) -> Shown:
    slot, batch, order, kind, code, item, system = values
    assert kind in ("rating", "repeat")
    text, source = outputs.texts[item, system], outputs.sources.get(item, "")
    return Shown(
        slot, int(batch), int(order), "repeat" if kind == "repeat" else "rating", code, text, source
    )


def _check(values: Sequence[str], check: CheckText, code: str) -> Shown:
    slot, batch, order, *_ = values
    return Shown(slot, int(batch), int(order), "check", code, check.text, check.source, check.right)


def _dealt(slots: np.ndarray, n_checks: int, seed: int) -> list[int]:
    """Which check each row is, given its slot: each slot goes through all in an order of its own."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_STREAM,)))
    left: dict[str, list[int]] = {}
    found = []
    for slot in slots:
        if not left.get(slot):
            left[slot] = rng.permutation(n_checks).tolist()
        found.append(left[slot].pop())
    return found
