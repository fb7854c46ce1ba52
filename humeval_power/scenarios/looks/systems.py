"""A study of several systems looked at as it grows: nested data, every comparison refitted at every look."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humeval_power.comparisons import DEFAULT_FAMILY, ComparisonFamily
from humeval_power.designs import Design
from humeval_power.errors import InputError
from humeval_power.inference.study.formula import smallest_count
from humeval_power.inference.study.pair_designs import pair_design
from humeval_power.inference.study.systems_replication import Pairs, SystemsFits, SystemsReplication
from humeval_power.inference.study.wald import reference, wald_p
from humeval_power.kernels.growing_table import growing_products
from humeval_power.rules import DEFAULT_RULE, DecisionRule
from humeval_power.scenarios.blocks import parts_in_blocks
from humeval_power.scenarios.looks.looks import Looks, NestedDesigns, nested_designs
from humeval_power.simulation.study import Response
from humeval_power.simulation.systems import CompleteSums
from humeval_power.systems import SystemsParameters

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
_TOGETHER = 256  # studies drawn from one child of the seed; part of what a seed means
_FITTED = 64  # studies to ask for at once where each is fitted


@dataclass(frozen=True, slots=True, eq=False)
class SystemsLookReplicates:
    """What each simulated study finds at each look: means (n, looks, K); of each comparison the estimate, standard
    error, df and p-value of the look alone (n, looks, comparisons), NaN where there is none; and which studies were
    fitted at every look, (n,)."""

    means: Floats
    estimate: Floats
    standard_error: Floats
    df: Floats
    p_value: Floats
    usable: Flags

    def __len__(self) -> int:
        return len(self.usable)

    def part(self, rows: slice | Flags) -> SystemsLookReplicates:
        """Some of the studies."""
        return SystemsLookReplicates(*(getattr(self, name)[rows] for name in self.__slots__))

    @classmethod
    def joined(cls, parts: list[SystemsLookReplicates]) -> SystemsLookReplicates:
        """One record from consecutive parts."""
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__slots__))


@dataclass(frozen=True, eq=False)
class SystemsLooks:
    """A study of several systems and the looks at it. Every comparison of `family` is tested at every look by
    `rule`, whose alpha is not used.

    Complete studies of Gaussian ratings with looks by items or workers are simulated by their sums, any other by
    its ratings.
    """

    parameters: SystemsParameters
    design: Design
    looks: Looks
    family: ComparisonFamily = DEFAULT_FAMILY
    rule: DecisionRule = DEFAULT_RULE
    response: Response = "gaussian"
    points: int | None = None

    def __post_init__(self) -> None:
        if self.rule.is_simulated or self.rule.is_latent:
            raise InputError(
                f"Looks at several systems are tested by t or z tests of numbers; got {self.rule.reference_words}."
            )
        if self.rule.margin is not None:
            raise InputError(
                f"Looks are for showing a difference; the alternative '{self.rule.alternative}' with a margin "
                "has no boundaries here."
            )
        if self.design.n_documents:
            raise InputError(
                "Looks at several systems are of items that stand alone: leave out the documents, or look at two "
                "systems."
            )
        if self.design.n_systems != self.parameters.n_systems:
            raise InputError(
                f"The study has {self.design.n_systems} systems, and the parameters are of "
                f"{self.parameters.n_systems}."
            )

    @cached_property
    def pairs(self) -> Pairs:
        """The comparisons, as places of systems."""
        place = {name: code for code, name in enumerate(self.parameters.names)}
        return tuple((place[one], place[two]) for one, two in self.family.pairs(self.parameters.names))

    @property
    def n_looks(self) -> int:
        """Number of looks."""
        return self.looks.n_looks

    @cached_property
    def nested(self) -> NestedDesigns:
        """The designs at the looks."""
        return nested_designs(self.design, self.looks)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Ratings at each look."""
        return tuple(design.n_ratings for design in self.nested.designs)

    @property
    def by_sums(self) -> bool:
        """Whether sums are drawn instead of ratings."""
        growing = self.looks.kind in ("items", "workers") or self.n_looks == 1
        return growing and self.shifts and all(one.by_sums for one in self._replications)

    @property
    def shifts(self) -> bool:
        """Whether other means only move the estimates."""
        return self.response == "gaussian"

    @property
    def drawn_together(self) -> int:
        """Studies that are drawn or fitted at once."""
        return _TOGETHER if self.by_sums else _FITTED

    def with_means(self, means: tuple[float, ...]) -> SystemsLooks:
        """The same with other true means."""
        return replace(self, parameters=self.parameters.with_means(means))

    def with_worker_sd(self, sd: float) -> SystemsLooks:
        """The same with another largest SD of what workers give single systems, the others in proportion."""
        own = self.parameters.sd_worker_system
        largest = max(own)
        sds = tuple(sd * one / largest if largest else sd for one in own)
        return replace(self, parameters=replace(self.parameters, sd_worker_system=sds))

    def draw_looks(self, n: int, *, seed: int, first: int = 0, n_jobs: int = 1) -> SystemsLookReplicates:
        """Simulate studies `first` to `first + n - 1` and fit each at every look."""
        if self.by_sums:
            from humeval_power.blas import one_blas_thread

            with one_blas_thread():
                parts = parts_in_blocks(
                    self._from_sums, n, seed=seed, first=first, n_jobs=n_jobs, size=_TOGETHER
                )
            return SystemsLookReplicates.joined(parts)
        final = self._replications[-1]
        studies = range(first, first + n)
        parts = [
            self.from_ratings(final.ratings(studies[begin : begin + _FITTED], seed=seed), n_jobs=n_jobs)
            for begin in range(0, n, _FITTED)
        ]
        return SystemsLookReplicates.joined(parts)

    def from_ratings(self, ratings: Floats, *, n_jobs: int = 1) -> SystemsLookReplicates:
        """Fit given ratings of the whole study, shape (n, n_ratings) in the order of the final design's assignment,
        at every look."""
        return self._tested(
            [
                one.fit_rows(np.ascontiguousarray(ratings[:, rows]), n_jobs=n_jobs)
                for one, rows in zip(self._replications, self.nested.rows, strict=True)
            ]
        )

    def at_means(self, looks: SystemsLookReplicates, means: Floats) -> SystemsLookReplicates:
        """Studies of Gaussian ratings as they would be with true means larger by `means`: only estimates move."""
        first, second = np.array(self.pairs).T
        estimate = looks.estimate + (means[second] - means[first])
        p_value = wald_p(estimate, looks.standard_error, looks.df, self.rule.alternative)
        return replace(looks, means=looks.means + means, estimate=estimate, p_value=p_value)

    @cached_property
    def _replications(self) -> tuple[SystemsReplication, ...]:
        return tuple(
            SystemsReplication(
                self.parameters, design, self.family, self.pairs, self.rule, self.response, self.points
            )
            for design in self.nested.designs
        )

    def _from_sums(self, rng: np.random.Generator, size: int) -> SystemsLookReplicates:
        values, final = self.parameters, self.nested.final
        by_workers = self.looks.kind == "workers"
        growing = [one.n_workers if by_workers else one.n_items for one in self.nested.designs]
        worker, item = (
            np.column_stack([np.full(values.n_systems, shared), np.diag(own)])
            for shared, own in (
                (values.sd_worker, values.sd_worker_system),
                (values.sd_item, values.sd_item_system),
            )
        )
        drawn = growing_products(
            rng,
            n_fixed=final.n_items if by_workers else final.n_workers,
            blocks=[int(count) for count in np.diff(growing, prepend=0)],
            roots=(item, worker) if by_workers else (worker, item),
            residual_sd=values.sd_residual,
            n_repeats=final.n_repeats,
            n_replicates=size,
        )
        workers, items = (drawn.growing, drawn.fixed) if by_workers else (drawn.fixed, drawn.growing)
        means, none = drawn.means + np.array(values.means), np.zeros_like(drawn.fixed[0])  # documents
        return self._tested(
            [
                one.fit_sums(CompleteSums(means[at], workers[at], items[at], drawn.residual[at], none))
                for at, one in enumerate(self._replications)
            ]
        )

    def _tested(self, fits: list[SystemsFits]) -> SystemsLookReplicates:
        looks: list[tuple[Any, ...]] = []
        for fitted, design in zip(fits, self.nested.designs, strict=True):
            found = fitted.contrasts
            error, df = reference(
                self.rule,
                standard_error=found.standard_error,
                adjusted=found.adjusted,
                satterthwaite=found.satterthwaite,
                kenward_roger=found.kenward_roger,
                smallest=smallest_count(design) - 1,
            )
            with np.errstate(divide="ignore", invalid="ignore"):
                p_value = wald_p(found.estimate, error, df, self.rule.alternative)
            usable = (found.status == 0) & (error > 0).all(axis=1) & (df > 0).all(axis=1)
            looks.append((fitted.means, found.estimate, error, df, p_value, usable))
        means, estimate, error, df, p_value, usable = (
            np.stack(kind, axis=1) for kind in zip(*looks, strict=True)
        )
        every = np.asarray(usable.all(axis=1))
        return SystemsLookReplicates(means, estimate, error, df, p_value, every)


def pair_designs(study: SystemsLooks, place: int) -> tuple[Design, ...]:
    """The ratings of one comparison at each look, as designs of two systems."""
    return tuple(pair_design(design, *study.pairs[place]) for design in study.nested.designs)
