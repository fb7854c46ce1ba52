"""A study of several systems whose looks drop them: levels, the long run, and the record of both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

from humeval_power.saying.answer_words import of_hundred
from humeval_power.saying.document import Block, Document, Facts, Paragraph, Section, Table
from humeval_power.saying.numbers import counted, percent
from humeval_power.saying.result import Record, Result
from humeval_power.saying.stated import table
from humeval_power.scales import RatingScale
from humeval_power.studies.looks.dropping import DropExpectation, DroppingPlan
from humeval_power.studies.looks.repeated import (
    few_workers_note,
)
from humeval_power.studies.looks.result import calibration_words, rows_record, rows_table, study_facts

NOT_BY_RANK = (
    "Nothing is dropped by its rank: dropping the worse half at each look can name a best one falsely in 16 % of "
    "studies. Ratings that are saved are not used to look earlier or to add workers."
)


def drop_rule(alpha: float) -> str:
    """How systems are dropped and the best is named."""
    return (
        "At each look every two systems that are left are compared by the ratings of these two alone. A system is "
        "dropped where one that is left beats it at the drop level; it is rated no more. The best is named, and "
        "the study ends, where one system beats all that are left at the claim level, or is left alone. Before a "
        f"claim those left hold the best with {100 * (1 - alpha):g} % confidence."
    )


def expectation_blocks(points: Sequence[DropExpectation]) -> Iterator[Block]:
    """How studies end with each true means, and what that takes."""

    def of_best(point: DropExpectation, share: float) -> str:
        """Of means that tie none is the best."""
        return f"{share:.3f}" if point.means.count(max(point.means)) == 1 else "-"

    group = {"top group": lambda point: f"{point.top_group:.3f}"}
    yield table(
        points,
        {
            "if": lambda point: point.name,
            "best named": lambda point: of_best(point, point.best_named),
            "(no looks)": lambda point: of_best(point, point.fixed_named),
            "false claim": lambda point: f"{point.false_claim:.3f}",
            "best dropped": lambda point: f"{point.best_dropped:.3f}",
            **(group if any(point.top_group for point in points) else {}),
            "ratings": lambda point: f"{point.ratings:,.0f}",
            "saved": lambda point: percent(point.saved),
        },
    )
    looks = range(len(points[0].left))
    yield Table(
        ("ratings of each stage if", *(f"to look {look + 1}" for look in looks), "systems left"),
        tuple(
            (
                point.name,
                *(f"{stage:,.0f}" for stage in point.stages),
                ", ".join(f"{left:.1f}" for left in point.left),
            )
            for point in points
        ),
    )
    yield Paragraph(
        f"Means of {points[0].n_simulations:,} simulated studies. '(no looks)': all workers rate all systems, "
        "and the winner is tested against the runner-up. Where several tie for the best every claim is false, and "
        "a best one is dropped where one of them named beforehand is."
    )


def worst_sentence(plan: DroppingPlan) -> str:
    """How often the plan errs where it errs most."""
    claim, drop = plan.worst_claim, plan.worst_drop
    return (
        f"at worst a false claim in {100 * claim.false_claim:.1f} % of studies ({claim.name}), and a best one "
        f"dropped in {100 * drop.best_dropped:.1f} % ({drop.name}); simulated"
    )


def drop_record(plan: DroppingPlan) -> Record:
    """Levels of the hardest comparison, calibration, errors and the long run as plain values."""
    bounds, at = plan.bounds, plan.place
    return {
        "drop_levels": bounds.drop[:, at].tolist(),
        "claim_levels": bounds.claim[:, at].tolist(),
        "interval_levels": bounds.interval[:, at].tolist(),
        "interval_calibration": asdict(plan.interval_calibration),
        "drops": [asdict(point) for point in plan.points],
        "ties": [asdict(point) for point in plan.ties],
    }


@dataclass(frozen=True, kw_only=True)
class DroppingResult(Result):
    """A study of several systems whose looks drop them."""

    schema: ClassVar[str] = "humeval_power/looks_dropping/1"

    plan: DroppingPlan
    setting: str
    understood: str
    scale: RatingScale | None = None
    remarks: tuple[str, ...] = ()

    def body(self) -> Document:
        plan, alpha = self.plan, self.plan.bounds.rule.alpha
        few, point = few_workers_note(plan.rows[0].n_workers), plan.planned
        sizes = plan.stop_when.sizes(self.scale)
        facts = (
            *study_facts(
                plan,
                self.understood,
                self.setting,
                stops=("Top group", top_group_words(sizes) if sizes else ""),
                over=f"; {counted(len(plan.study.pairs), 'comparison')}",
            ),
            ("Intervals", calibration_words(plan.interval_calibration)),
            ("Errors", worst_sentence(plan)),
        )
        bounds, at = plan.bounds, plan.place
        levels = table(
            range(len(bounds.drop)),
            {
                "look": lambda look: str(look + 1),
                "dropped at p <=": lambda look: f"{bounds.drop[look, at]:.5f}",
                "best named at p <=": lambda look: f"{bounds.claim[look, at]:.5f}",
                "intervals": lambda look: f"{100 * (1 - bounds.interval[look, at]):.3f} %",
            },
            caption="p is two-sided; the intervals of all pairs cover together at every look.",
        )
        proved = Paragraph(
            "That those left hold the best is proved for z-values and calibrated by simulation for few workers; "
            f"that a claim errs in at most {100 * alpha:g} % of studies is checked by simulation, not proved."
        )
        ties = tuple(expectation_blocks(plan.ties))
        return Document(
            f"A study of {plan.study.parameters.n_systems} systems whose looks drop them",
            lead=f"Of 100 such studies, {of_hundred(point.best_named, point.interval)} would name the best system, "
            f"{of_hundred(point.fixed_named)} with all systems rated to the end. They take on average "
            f"{point.ratings:,.0f} of {plan.study.sizes[-1]:,} ratings, {percent(point.saved)} fewer.",
            caveats=() if few is None else (few,),
            sections=(
                Section("", (Facts(facts),)),
                Section("The rule", (Paragraph(drop_rule(alpha)), Paragraph(NOT_BY_RANK))),
                Section("What is there at each look, if no system is dropped", (rows_table(plan.rows),)),
                Section("Levels", (levels, proved)),
                Section("Long run", tuple(expectation_blocks(plan.points))),
                Section("Where systems tie for the best", ties, is_detail=True),
            ),
        )

    def content(self) -> Record:
        """What is there at each look, levels, errors and the long run."""
        plan, looks = self.plan, self.plan.study.looks
        return {
            "understood": self.understood,
            "setting": self.setting,
            "parameters": plan.study.parameters.as_dict(),
            "looks": {"by": looks.kind, "shares": list(looks.shares)},
            "stop_when": asdict(plan.stop_when),
            "at_looks": rows_record(plan.rows),
            "calibration": asdict(plan.calibration),
            **drop_record(plan),
            "n_simulations": plan.n_simulations,
        }


def top_group_words(sizes: Mapping[str, str]) -> str:
    """When those left are said to be a top group."""
    why = {
        "equivalence": "the intervals of all pairs left lie within {} of no difference",
        "half_width": "they all reach at most {} to each side",
    }
    reasons = ", or ".join(why[name].format(size) for name, size in sizes.items())
    return f"the study also ends where {reasons}"
