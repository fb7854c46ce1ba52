"""What a form is filled from: the documents of one study, of one criterion."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from humeval_power.planning.plan.plan import Plan
from humeval_power.ratings import Ratings
from humeval_power.reporting.report.facts.record import StudyFacts, study_facts
from humeval_power.reporting.values import (
    NOTHING,
    Document,
    cells,
    listed,
    number,
    part,
    ratings_source,
    words,
)
from humeval_power.systems import SystemsParameters

_SAME = 1e-9  # estimates of the same ratings, in another order perhaps
_OF_PILOT: tuple[str, ...] = (
    "baseline",
    "sd_worker_intercept",
    "sd_worker_slope",
    "sd_item_intercept",
    "sd_item_slope",
    "sd_residual",
)
_NAMES = {
    "parameters": "the parameter document",
    "analysis": "the analysis",
    "surface": "the surface document",
    "power": "the power document",
    "imported": "the import",
    "plan": "the plan",
}


@dataclass(frozen=True, slots=True)
class Documents:
    """The JSON documents of `fit`, `analyze`, `surface`, `power` and `import`, as read, and the plan.

    plan_checksum : of the plan's file. ratings : what the analysis is of, for pictures.
    names : what the sources are called, by 'parameters', 'analysis', 'surface', 'power', 'imported' and 'plan';
        the names of their files, for example. criterion_name : of the criterion, before there is a document of it.
    """

    parameters: Document | None = None
    analysis: Document | None = None
    surface: Document | None = None
    power: Document | None = None
    plan: Plan | None = None
    plan_checksum: str | None = None
    ratings: Ratings | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    criterion_name: str | None = None
    imported: Document | None = None

    @property
    def study(self) -> Document:
        """What is known of the ratings: the analysis, or without one the fit; with what left the exports that they
        were imported from."""
        found = self.analysis or self.parameters or NOTHING
        if self.imported is None or not found or listed(found, "exports"):
            return found
        return {**found, "exports": self.imported["exports"]}

    @property
    def facts(self) -> StudyFacts:
        """What `study` says, whatever kind of study it is."""
        return study_facts(self.study)

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems, by the plan before there are ratings."""
        return self.facts.systems or (() if self.plan is None else tuple(self.plan.systems))

    @property
    def is_of_pilot(self) -> bool:
        """Whether these ratings are those that the plan took its variances from."""
        if self.plan is None or self.plan.source.ratings is None:
            return False
        # No digest of ratings stands in a document that may be published; the estimates tell as well.
        planned: Mapping[str, object] = self.plan.parameters.as_dict()
        fitted, names = part(self.study, "parameters"), _OF_PILOT
        if self.plan.many is not None:
            planned = _of_systems(self.plan.many.parameters)
            fitted = part(self.study, "joint_fit", "standard_deviations")
            names = tuple(fitted) or names
        pairs = [(number(fitted, name), number(planned, name)) for name in names]
        return all(
            one is not None and two is not None and math.isclose(one, two, rel_tol=_SAME, abs_tol=_SAME)
            for one, two in pairs
        )

    @property
    def study_source(self) -> str:
        """The document of `study` and the ratings it was made from."""
        ratings = ratings_source(self.study)
        name = self.name("analysis" if self.analysis else "parameters")
        return f"{name}; {ratings}" if ratings else name

    @property
    def power_source(self) -> str:
        """The documents that hold a power."""
        held = [self.name(kind) for kind in ("power", "surface") if cells(getattr(self, kind) or NOTHING)]
        return "; ".join(held)

    @property
    def criterion(self) -> str | None:
        """The name of the criterion, where it is known."""
        return words(self.study, "criterion_name") or self.criterion_name

    def name(self, kind: str) -> str:
        """What the source is called."""
        return self.names.get(kind, _NAMES[kind])


def _of_systems(planned: SystemsParameters) -> dict[str, float]:
    """The SDs that a plan of several systems assumes, by the names that a joint fit gives them."""
    factors = ("worker", "item", *(("document",) if planned.has_documents else ()))
    found = {f"sd_{name}": getattr(planned, f"sd_{name}") for name in (*factors, "residual")}
    for name in (f"sd_{factor}_system" for factor in factors):
        own = getattr(planned, name)
        found |= {
            name: own[0],
            **{f"{name} of {each}": sd for each, sd in zip(planned.names, own, strict=True)},
        }
    return found
