"""How long simulated studies of several systems take, about."""

from __future__ import annotations

from humeval_power.comparisons import ComparisonFamily
from humeval_power.designs import Design
from humeval_power.estimation.joint.strands import MOST_EVEN_LEVELS, MOST_LEVELS
from humeval_power.planning.workload import Workload, study_workload
from humeval_power.rules import DecisionRule
from humeval_power.systems import SystemsParameters

_PER_STUDY, _PER_STUDY_COLUMN = 1e-4, 5e-8  # seconds of a complete study, and of its systems cubed
_PER_ALONE = 2e-3  # seconds of preparing a fit of one pair, whose rows no other study has
_PER_JOINT = 1.2e-7  # seconds of a fit of any other, for the cube of the order of its dense matrix
# of one whose systems are rated together: seconds of a rating, of a pair and of the cube of its levels; and with
# equal loads of each level, for a pair and for the squares of systems with variances of their own
_PER_RATING, _PER_PAIR, _PER_CUBE = 2e-7, 4e-5, 8e-9
_PER_EVEN_LEVEL, _PER_OWN_LEVEL = 5e-7, 2e-6


def systems_workload(
    parameters: SystemsParameters,
    design: Design,
    family: ComparisonFamily,
    rule: DecisionRule,
    *,
    n_simulations: int,
    n_jobs: int = 1,
    one_by_one: bool = False,
) -> Workload:
    """Of simulated studies with this design, fitted by the family's model; `one_by_one` where each has rows of its
    own."""
    K = parameters.n_systems
    n_pairs = len(family.pairs(parameters.names))
    plain = rule.analysis == "ratings" and rule.estimator == "reml" and not one_by_one
    if design.is_balanced and plain:
        return Workload((_PER_STUDY + _PER_STUDY_COLUMN * K**3) * n_simulations / n_jobs, 0.0)
    one = study_workload(design, n_simulations=n_simulations, n_jobs=n_jobs)
    least = min(design.n_workers, design.n_items)
    own = family.model == "joint" and family.variances == "own"
    even = design.n_ratings // K % design.n_workers == 0
    together = (
        design.kind == "k-per-item"
        and not design.n_documents
        and least <= (MOST_EVEN_LEVELS if even else MOST_LEVELS)
    )
    if plain and together and (even or not own):
        each = _PER_PAIR + (_PER_EVEN_LEVEL * least if even else _PER_CUBE * least**3)
        fits = n_pairs if family.model == "pairwise" else K / 2
        seconds = _PER_STUDY + _PER_RATING * design.n_ratings + each * fits
        if own:
            seconds += _PER_OWN_LEVEL * least * K**2
        return Workload(seconds * n_simulations / n_jobs, one.n_bytes)
    if family.model == "pairwise":
        alone = _PER_ALONE * n_simulations / n_jobs if one_by_one else 0.0
        return Workload((one.seconds + alone) * n_pairs, one.n_bytes)
    order = K * least
    each = 0.02 + _PER_JOINT * order**3 * (K if family.variances == "own" else 1) / 8
    return one + Workload(each * n_simulations / n_jobs, 0.0)
