"""What a plan is asked to be, and what the search for it found."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Literal, NamedTuple

from humeval_power.choices import MAX_RATE, Exclusion
from humeval_power.errors import InputError
from humeval_power.parameters import Parameters
from humeval_power.rules import DEFAULT_RULE, DecisionRule
from humeval_power.simulation.quality_control import QualityControl
from humeval_power.simulation.study import NO_LOSSES, Losses
from humeval_power.studies.looks.repeated import StopWhen, check_offered
from humeval_power.studies.power.analytic import Ceiling, check_target
from humeval_power.studies.power.assurance import PowerSpread
from humeval_power.studies.power.required import check_effect, design_of
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.study_counts import StudyCounts
from humeval_power.uncertainty import VarianceUncertainty

if TYPE_CHECKING:
    from humeval_power.assumptions import Assumptions
    from humeval_power.costs import Cost, CostModel, SplitAdvice
    from humeval_power.studies.looks.dropping import DropExpectation
    from humeval_power.studies.looks.rating_looks import LookSchedule
    from humeval_power.studies.looks.repeated import RepeatedPoint
    from humeval_power.studies.plan.candidates import SearchSpace
    from humeval_power.studies.plan.plan import SequentialOption
    from humeval_power.studies.plan.planned_systems import PlannedRules, PlannedSystems
    from humeval_power.studies.power.assurance import Assurance
    from humeval_power.studies.power.estimate import PowerEstimate
    from humeval_power.studies.power.outlook import Bottleneck
    from humeval_power.studies.power.systems_goals import SystemsPower

_SAFER = 0.9
_NEAR = Decimal("1.5")  # times the price of the cheapest: what several ratings of an item may cost
_ALIKE = 0.02  # of powers that are about the same
WayName = Literal["cheapest", "fewer workers", "safer", "all the budget", "yours"]


@dataclass(frozen=True, eq=False)
class PlanRequest:
    """What is known and wanted.

    assumed : parameters by name; the first is planned for, unless `robust` takes the worst of all.
    effect : the smallest effect of interest, B - A on [0, 1], positive; under a rule with a margin the
        true difference that is planned for, usually 0.
    budget : what may be spent. The plan is the cheapest design within it that reaches `target`, else the most
        powerful; with `spend_budget` the most powerful in any case.
    losses, exclusion : what is expected to happen to the ratings, and who will be left out: by rules that are
        sealed (`QualityControl`), or as a word says.
    looks : look at the data before the end; power is then that of the whole procedure.
    many : of several systems, or of several criteria, what is assumed of them and asked for, by the names of the
        settings; `assumed` is then of the two systems that its goal is about.
    confidence : with it, `target` must be reached with this probability over the pilot's uncertainty.
    safe : `assumed` takes how workers differ at this upper confidence limit; None where as estimated.
    beside : a design that somebody has in mind, to stand beside those that are found, whatever the limits.
    """

    assumed: Assumptions
    effect: float
    space: SearchSpace
    costs: CostModel
    target: float = 0.8
    budget: Decimal | None = None
    spend_budget: bool = False
    rule: DecisionRule = DEFAULT_RULE
    robust: bool = False
    confidence: float | None = None
    safe: float | None = None
    losses: Losses = NO_LOSSES
    exclusion: Exclusion | QualityControl = "none"
    looks: LookSchedule | None = None
    many: Mapping[str, PlannedSystems] | None = None
    beside: StudyCounts | None = None

    @property
    def settings(self) -> dict[str, Parameters]:
        """The parameters alone, by name."""
        return self.assumed.by_name

    @property
    def safer_power(self) -> float:
        """What a plan that is safer than the target asks for: 0.9, or half of what the target leaves open."""
        return max(_SAFER, (1 + self.target) / 2 if self.target >= _SAFER else _SAFER)

    @property
    def control(self) -> QualityControl | None:
        """The rules by which workers are left out, if they are sealed ones."""
        return self.exclusion if isinstance(self.exclusion, QualityControl) else None

    @property
    def proves_rules(self) -> bool:
        """Whether studies can be simulated with these rules: of two systems, with one test at the end."""
        return self.control is not None and self.many is None and self.looks is None

    @property
    def says_assurance(self) -> bool:
        """Whether what is known of the variances says what the power may be: an own pilot's does, or it was asked
        for. How well somebody else's study was known does not say how like it this one is."""
        return self.assumed.entries[0].is_own or self.confidence is not None

    @property
    def stop_when(self) -> StopWhen | None:
        """For which reasons intervals stop the study; None where none do."""
        return None if self.looks is None else self.looks.stop_when

    @property
    def uncertainty(self) -> VarianceUncertainty | None:
        """How uncertain the parameters planned for are."""
        return self.assumed.uncertainty

    @property
    def limit(self) -> int | None:
        """The budget in cents."""
        return None if self.budget is None else int(self.budget * 100)

    def judged(self, powers: Mapping[str, float]) -> str:
        """The setting that a design is judged by: the worst if robust, else the first."""
        return min(powers, key=lambda name: powers[name]) if self.robust else next(iter(powers))

    def falls_short(self, option: Option) -> bool:
        """Whether simulation contradicts a promise of the formula, beyond Monte Carlo error."""
        simulated = option.simulated
        if self.spend_budget or simulated is None:
            return False
        return math.isnan(simulated.power) or not simulated.interval[1] >= self.target

    def too_dear(self, least_cents: int) -> InputError:
        """The error of a budget that buys none of the designs, of which the cheapest costs so much."""
        return InputError(
            f"No design within a budget of {self.budget}: within these limits the cheapest costs "
            f"{Decimal(least_cents) / 100:.2f}."
        )

    def study(self, counts: StudyCounts, parameters: Parameters) -> RatingStudy:
        """A study of two systems of this size, with what is expected of its ratings and workers."""
        return RatingStudy(
            parameters,
            design_of(counts),
            rule=self.rule,
            losses=self.losses,
            exclusion=self.exclusion,
        )

    def alone(self, name: str, best: float, cheapest: FrontPoint | None) -> Alone:
        """What an entry asks for by itself: the best power within the budget, and the cheapest design that has the
        target's, whatever it costs."""
        if best < self.target or cheapest is None:
            return Alone(name, None, None, best)
        return Alone(name, cheapest.counts, cheapest.cost, best)

    def __post_init__(self) -> None:
        if not self.assumed.entries:
            raise InputError("A plan needs parameters: there are none.")
        check_target(self.target, self.rule)
        if self.rule.margin is not None:
            check_effect(self.effect, self.rule)
        elif self.many is not None and self.effect == 0:
            raise InputError(
                "These means are all equal: there is nothing to find. Give an effect, or other means."
            )
        elif not 0 < self.effect <= 1:
            raise InputError(
                "The effect of interest must be a positive difference B - A on [0, 1], at most 1; got "
                f"{self.effect:g}. If a negative one is of interest, exchange the systems."
            )
        if self.budget is not None and not (self.budget.is_finite() and self.budget > 0):
            raise InputError(f"The budget must be an amount above 0; got {self.budget}.")
        if self.spend_budget and self.budget is None:
            raise InputError("To spend the budget there must be one: say how much with --budget.")
        for name in ("checks", "repeats"):
            share = getattr(self.costs, f"{name}_per_rating")
            if float(share) > MAX_RATE:
                raise InputError(
                    f"An assignment has at most {MAX_RATE:g} {name} for each rating; the plan has {share:g}."
                )
        if self.confidence is not None and not 0 < self.confidence < 1:
            raise InputError(f"The assurance must lie between 0 and 1; got {self.confidence:g}.")
        if self.looks is not None:
            self._check_looks(self.looks)
        if self.many is not None:
            self._check_many(self.many)
        if self.confidence is not None and self.uncertainty is None:
            raise InputError(
                "An assurance needs to know how uncertain the parameters are: plan from a "
                "pilot, or from a file that 'fit -o' wrote."
            )

    def _check_many(self, many: Mapping[str, PlannedSystems]) -> None:
        for planned in many.values():
            planned.check(self.rule)
        if self.confidence is not None:
            raise InputError(
                "A plan of several systems or criteria cannot be searched with an assurance over the pilot's "
                "uncertainty yet: leave that out, or plan the two systems that matter most."
            )

    def _check_looks(self, wish: LookSchedule) -> None:
        wish.rule(self.rule)
        if wish.drop_systems:
            from humeval_power.studies.looks.dropping import check_dropping_study
            from humeval_power.studies.looks.repeated import enough_workers

            check_dropping_study(
                workers=wish.looks.counts(
                    max(enough_workers(self.space.workers, wish.looks, "drop_systems"))
                ),
                exclusions=self.exclusion != "none",
                documents=bool(self.space.documents),
                paired=any(self.space.pairings),
            )
        elif wish.stop_when is not None:
            check_offered(
                several=self.many is not None,
                exclusions=self.exclusion != "none",
                documents=bool(self.space.documents),
                settings=tuple(self.settings.values()),
            )
        if self.losses != NO_LOSSES:
            raise InputError("Looks and losses of ratings cannot be simulated together: leave out one.")


@dataclass(frozen=True, slots=True)
class Option:
    """One design with its price and its power: by formula for every setting, simulated if it was; with looks
    it is the power of the whole procedure, and `sequential` says more."""

    counts: StudyCounts
    cost: Cost
    powers: Mapping[str, float]
    simulated: PowerEstimate | SystemsPower | RepeatedPoint | DropExpectation | None = None
    sequential: SequentialOption | None = None


@dataclass(frozen=True, slots=True)
class Way:
    """One way to spend money: the cheapest design that reaches the target, where its workers have little to rate
    the cheapest of those with enough for each (`costs.SESSION`), one that is safer (power 0.9; where the
    uncertainty of the variances is known, on average over it), the most powerful one that the budget buys, or one
    that somebody has in mind. None where no design within the limits and the budget does it.

    spread : its power under all that may be assumed of the variances. chance : that it really has the target power,
        given what a pilot knows of them; None where there is no pilot, or several sets are assumed.
    """

    name: WayName
    option: Option | None
    spread: PowerSpread | None = None
    chance: float | None = None

    @classmethod
    def of(
        cls, name: WayName, option: Option | None, target: float = 1.0, sure: Assurance | None = None
    ) -> Way:
        """With the risk of its power: over several sets of assumptions, else over what a pilot leaves open."""
        if option is None:
            return cls(name, None)
        powers = option.powers.values()
        if len(powers) > 1:
            return cls(name, option, PowerSpread(min(powers), max(powers), "assumed"))
        if sure is None:
            return cls(name, option)
        return cls(name, option, sure.spread, sure.chance_of(target))


@dataclass(frozen=True, slots=True)
class FrontPoint:
    """A design with its price and its power, such as one that no other beats in both."""

    counts: StudyCounts
    cost: Decimal
    power: float

    @property
    def cents(self) -> int:
        """Its price in cents."""
        return int(100 * self.cost)


@dataclass(frozen=True, slots=True)
class Alone:
    """What one entry asks for if nothing else is assumed: its cheapest design by formula (within a budget the
    most powerful), None where none reaches the target; and the best power that it has within the limits."""

    name: str
    counts: StudyCounts | None
    cost: Decimal | None
    best: float


@dataclass(frozen=True, eq=False)
class PlanResult:
    """The chosen design, other ways to spend the money, what holds it back, and how sure all this is.

    `reached` tells whether the target is reached (within the budget, where there is one); if not,
    `reason` says why and `would_do` what would. `alone` is what each entry asks for, where there are several;
    `rules` are those by which workers are left out, and what they cost.
    """

    request: PlanRequest
    chosen: Option
    ways: tuple[Way, ...]
    front: tuple[FrontPoint, ...]
    reached: bool
    reason: str
    would_do: tuple[str, ...]
    bottleneck: Bottleneck
    assurance: Assurance | None
    split: SplitAdvice | None
    n_candidates: int
    alone: tuple[Alone, ...] = ()
    rules: PlannedRules | None = None

    @property
    def judged(self) -> str:
        """The name of the parameters that the plan is made for: the worst if robust, else the first."""
        return self.request.judged(self.chosen.powers)

    def by_formula(self, option: Option) -> float:
        """The power of a design by formula: as planned, of a robust plan the least."""
        return option.powers[self.request.judged(option.powers)]

    @property
    def recommended(self) -> WayName | Literal["best"] | None:
        """The first way that is about as sure as the cheapest, at a price near that, with several ratings of an
        item, so that agreement can be measured; 'best' is the chosen design where no way reaches the target."""
        ways: list[tuple[WayName | Literal["best"], Option]] = [
            (way.name, way.option) for way in self.ways if way.option is not None
        ]
        if all(name == "yours" for name, _ in ways):
            ways.insert(0, ("best", self.chosen))
        cheapest = ways[0][1]
        return next((name for name, option in ways if self._is_near(option, cheapest)), None)

    def _is_near(self, option: Option, cheapest: Option) -> bool:
        sure, least = (
            self.by_formula(one) if one.simulated is None else one.simulated.power
            for one in (option, cheapest)
        )
        is_near = option.cost.total <= _NEAR * cheapest.cost.total and sure >= least - _ALIKE
        return is_near and option.counts.ratings_per_item > 1


class Formulas(NamedTuple):
    """What formulas say of designs under one setting: their power, whether they reach the target, the smallest
    difference (under a rule with a margin the smallest margin) with which they do, and what endless items and
    workers make of them."""

    power: Callable[[StudyCounts], float]
    reaches: Callable[[StudyCounts], bool]
    smallest: Callable[[StudyCounts], float]
    ceilings: Callable[[StudyCounts], tuple[Ceiling, ...]]
