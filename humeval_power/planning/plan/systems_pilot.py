"""What a fit of several systems together tells a plan."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from humeval_power.scales import RatingScale
from humeval_power.systems import SystemsParameters


@dataclass(frozen=True, slots=True)
class SystemsPilot:
    """Systems as they were fitted, on [0, 1], the scale that they were rated on and the name of that table;
    `boundary` names the standard deviations that were estimated as zero."""

    parameters: SystemsParameters
    scale: RatingScale | None = None
    boundary: tuple[str, ...] = ()
    ratings: str | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know before planning from it."""
        if not self.boundary:
            return ()
        shown = ", ".join(self.boundary[:3]) + (" and others" if len(self.boundary) > 3 else "")
        return (
            f"Estimated as zero: {shown}. That is no proof that workers or items do not differ; power planned "
            "from it is too high if they do.",
        )


def systems_of_deviations(
    names: Sequence[str], means: Sequence[float], deviations: Mapping[str, float]
) -> SystemsParameters:
    """Parameters from standard deviations as a joint fit names them: `sd_worker_system` for all systems, or
    'sd_worker_system of NAME' for each."""

    def own(name: str) -> tuple[float, ...]:
        return tuple(
            float(deviations[name] if name in deviations else deviations[f"{name} of {system}"])
            for system in names
        )

    return SystemsParameters(
        names=tuple(names),
        means=tuple(map(float, means)),
        sd_worker=float(deviations["sd_worker"]),
        sd_worker_system=own("sd_worker_system"),
        sd_item=float(deviations["sd_item"]),
        sd_item_system=own("sd_item_system"),
        sd_residual=float(deviations["sd_residual"]),
    )


def for_systems(parameters: SystemsParameters, names: Sequence[str]) -> SystemsParameters:
    """The same for systems of these names: those that were fitted keep what is theirs, and where others are among
    them all get the average variances and means; a note says so."""
    known = {name: place for place, name in enumerate(parameters.names)}
    if set(names) <= set(known):
        places = [known[name] for name in names]
        return replace(
            parameters,
            names=tuple(names),
            means=tuple(parameters.means[place] for place in places),
            sd_worker_system=tuple(parameters.sd_worker_system[place] for place in places),
            sd_item_system=tuple(parameters.sd_item_system[place] for place in places),
            sd_document_system=tuple(parameters.sd_document_system[place] for place in places),
            effect=None,
        )
    note = (
        f"The systems are not the {parameters.n_systems} that were fitted: each is taken to vary as these do on "
        "average."
    )
    count = len(names)
    return replace(
        parameters,
        names=tuple(names),
        means=count * (math.fsum(parameters.means) / parameters.n_systems,),
        sd_worker_system=count * (_root_mean_square(parameters.sd_worker_system),),
        sd_item_system=count * (_root_mean_square(parameters.sd_item_system),),
        sd_document_system=count * (_root_mean_square(parameters.sd_document_system),),
        effect=None,
        notes=(*parameters.notes, note),
    )


def _root_mean_square(values: Sequence[float]) -> float:
    return math.sqrt(math.fsum(value**2 for value in values) / len(values))
