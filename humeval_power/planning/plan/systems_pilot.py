"""What a fit of several systems together tells a plan."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from humeval_power.comparisons import SystemVariances
from humeval_power.parameters import Parameters
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
        sd_document=float(deviations.get("sd_document", 0.0)),
        sd_document_system=own("sd_document_system") if "sd_document" in deviations else (),
    )


def systems_of_pairs(
    names: Sequence[str],
    means: Sequence[float],
    pairs: Mapping[tuple[int, int], Parameters],
    *,
    variances: SystemVariances,
) -> tuple[SystemsParameters, tuple[str, ...]]:
    """Parameters of all systems from those of every two, and the names of the standard deviations that are zero.

    The variance of a level's own difference between two systems is the sum of what the level has about each: least
    squares over the pairs, none below 0. What systems share and the residual are averages over the pairs.
    """
    from scipy.optimize import nnls

    K, places = len(names), np.array(list(pairs))
    which = np.zeros((len(places), K))
    which[np.arange(len(places)), places[:, 0]] = which[np.arange(len(places)), places[:, 1]] = 1.0
    found: dict[str, float] = {}
    for factor in ("worker", "item", "document"):
        slope, level = (
            np.array([getattr(pair, f"sd_{factor}_{part}") ** 2 for pair in pairs.values()])
            for part in ("slope", "intercept")
        )
        own = np.full(K, slope.mean() / 2)
        if variances == "own" and K > 2:
            own = nnls(which, slope)[0]
        shared = max(0.0, float((level - which @ own / 4).mean()))
        found[f"sd_{factor}"] = math.sqrt(shared)
        found |= {
            f"sd_{factor}_system of {name}": math.sqrt(float(v)) for name, v in zip(names, own, strict=True)
        }
    found["sd_residual"] = math.sqrt(np.mean([pair.sd_residual**2 for pair in pairs.values()]))
    boundary = tuple(name for name, deviation in found.items() if deviation == 0)
    return systems_of_deviations(names, means, found), boundary


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
