"""From parameters, prices and limits to one design: found by formula, proved by simulation."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from humeval_power.choices import DEFAULT_SEED, DEFAULT_SIMULATIONS
from humeval_power.costs import cost_of, least_of_a_worker, money, split_advice
from humeval_power.errors import InputError
from humeval_power.parameters import Parameters
from humeval_power.rules import claim
from humeval_power.saying.answer_words import of_hundred, points_words
from humeval_power.simulation.study import NO_LOSSES
from humeval_power.studies.looks.repeated import StopWhen, enough_workers
from humeval_power.studies.plan.candidates import (
    Candidates,
    SearchSpace,
    cheapest,
    front,
    list_candidates,
    most_powerful,
)
from humeval_power.studies.plan.plan import (
    check_stops,
    formula_power,
    guessed_factor,
    prove,
    prove_stops,
    rating_looks,
    stops_simulations,
    stops_workload,
)
from humeval_power.studies.plan.planned_systems import (
    NOBODY_OUT,
    WorkersOut,
    expected_out,
    planned_rules,
    workers_out,
)
from humeval_power.studies.plan.request import (
    Alone,
    Formulas,
    FrontPoint,
    Option,
    PlanRequest,
    PlanResult,
    Way,
    WayName,
)
from humeval_power.studies.power.analytic import detectable
from humeval_power.studies.power.assurance import Assurance, assurance
from humeval_power.studies.power.estimate import PowerEstimate, Progress, estimate_power
from humeval_power.studies.power.outlook import find_bottleneck, pair_ceilings
from humeval_power.studies.power.questions import smallest_true
from humeval_power.studies.power.required import counts_power, counts_precision, design_of
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.studies.power.workload import (
    Workload,
    measured_seconds,
    measured_workload,
    study_workload,
)
from humeval_power.study_counts import StudyCounts

if TYPE_CHECKING:
    from humeval_power.studies.looks.rating_looks import LookSchedule
    from humeval_power.studies.looks.replicates import RatingLooks
    from humeval_power.studies.plan.systems_search import RowSearch

_MOST_PROOFS, _MOST_STOP_PROOFS = 6, 2  # further designs tried by simulation before the last one stands
_CALIBRATED_TO = 0.01  # what the noise of a calibration makes of the power
_MOST_WORKERS = _MOST_DOCUMENTS = 5000  # that would do where the limits do not
_SHOWN = 40  # designs of the front
_MOST_TRIED = 50  # designs whose exact power is looked at
_GUESSED_ITEMS = 100  # of a table that a factor is guessed from: workers are what it hangs on


def make_plan(
    request: PlanRequest,
    *,
    n_simulations: int | None = None,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
    ahead: Callable[..., None] | None = None,
    progress: Progress | None = None,
) -> PlanResult:
    """Search the space by formula, then prove the winner with its real assignment; of two systems other ways to
    spend the money too where no formula tells.

    ahead : of two systems is told of the work of the usual proofs before the first, and may refuse it; where
        intervals stop the study also of its `n_simulations`.
    progress : is told how many studies are simulated, and how many there may be.
    Raises InputError: no design within the limits, none within the budget, or none whose intervals meet the
    sizes of stop_when.
    """
    how: dict[str, Any] = {
        "n_simulations": n_simulations,
        "seed": seed,
        "n_jobs": n_jobs,
        "progress": progress,
    }
    search: _ListSearch | RowSearch  # along rows, where the power of a design takes long to compute
    if request.many is None:
        search = _ListSearch.of(request, **how)
    else:
        from humeval_power.studies.plan.systems_search import RowSearch

        search = RowSearch.of(request, **how)
    option = search.first(ahead)
    while (dearer := search.dearer(option)) is not None:
        option = dearer
    designs = list(search.ways(option))
    if request.beside is not None:
        proved = (option, *(one for _, one in designs if one is not None))
        same = next((one for one in proved if one.counts == request.beside), None)
        designs.append(("yours", same or search.other(request.beside)))
    ways = tuple(
        Way.of(
            name,
            one,
            request.target,
            None if one is None or not request.says_assurance else _assurance(request, one.counts, seed),
        )
        for name, one in designs
    )
    name = request.judged(option.powers)
    promised, stops = option.powers[name], request.stop_when is not None and request.many is None
    reached = promised >= request.target - (_CALIBRATED_TO if stops else 1e-12)
    if option.simulated is not None:
        enough = option.simulated.interval[1] >= request.target
        if request.losses != NO_LOSSES or request.proves_rules:
            reached = enough
        elif stops:
            reached = reached and enough
        elif request.many is not None:
            reached = reached and not request.falls_short(option)
    sure = _assurance(request, option.counts, seed)
    if request.confidence is not None and sure is not None:
        reached = reached and sure.quantile(1 - request.confidence) >= request.target
    formulas = search.formulas(name)
    bottleneck = find_bottleneck(
        option.counts, power_of=formulas.power, ceilings=formulas.ceilings(option.counts)
    )
    reason, would_do = "", tuple[str, ...]()
    if not reached and promised >= request.target and sure is not None:
        reason = (
            f"The power is {promised:.2f} at the pilot's variances, but reaches {request.target:g} with "
            f"probability {sure.chance_of(request.target):.2f} only, given how little the pilot knows."
        )
        would_do = ("more workers than the limits allow, or a larger pilot",)
    elif not reached and stops:
        reason, would_do = _why_stops_fall_short(request, option, promised)
    elif not reached:
        reason, would_do = _what_would_do(request, option.counts, formulas, search.cheapest_price)
    rules = None
    if request.control is not None:
        known = option.simulated if request.proves_rules else None
        assert known is None or isinstance(known, PowerEstimate)
        rules = planned_rules(search.pair_study(option), known, seed=seed, n_jobs=n_jobs)
    return PlanResult(
        request=request,
        chosen=option,
        ways=ways,
        front=search.front(),
        reached=reached,
        reason=reason,
        would_do=would_do,
        bottleneck=bottleneck,
        assurance=sure,
        split=split_advice(option.counts, request.costs),
        n_candidates=search.n_candidates,
        alone=search.alone,
        rules=rules,
    )


def _assurance(request: PlanRequest, counts: StudyCounts, seed: int) -> Assurance | None:
    if request.uncertainty is None:
        return None
    first = next(iter(request.settings.values()))
    return assurance(
        request.uncertainty,
        counts,
        effect=request.effect,
        latent=first.with_difference(request.effect).latent,
        rule=request.rule,
        documents=request.assumed.entries[0].parameters,
        seed=seed,
    )


def _why_stops_fall_short(
    request: PlanRequest, option: Option, power: float
) -> tuple[str, tuple[str, ...]]:
    """Why a study that its intervals stop has too little power, and whether decisions alone would do."""
    assert option.sequential is not None
    assert request.stop_when is not None
    effect, rule = request.effect, request.rule
    expected = min(option.sequential.stops, key=lambda one: abs(one.effect - effect))
    goal = f"for an effect of {effect:g}" if rule.margin is None else f"to show {claim(rule)}"
    reason = (
        f"No design within these limits has a power of {request.target:g} {goal} at these looks: the best has "
        f"{power:.2f} by formula."
    )
    if request.stop_when == StopWhen():
        return f"{reason} With one look at the end it has {expected.fixed_power:.2f}.", ()
    reason += (
        f" If decisions alone stopped it, it would have {expected.decision_power:.2f}; the other reasons to stop "
        "end some studies before they decide."
    )
    enough = expected.decision_power >= request.target
    return reason, ("stop_when = decision alone",) if enough else ()


def _what_would_do(
    request: PlanRequest, best: StudyCounts, formulas: Formulas, price: Callable[[], Decimal | None]
) -> tuple[str, tuple[str, ...]]:
    """Why the target is not reached, and each change that would reach it alone, in points of the scale."""
    rule, scale, costs, budget = request.rule, request.assumed.scale, request.costs, request.budget
    thing, size = ("difference", request.effect) if rule.margin is None else ("margin", rule.margin)
    wanted, power = of_hundred(request.target), of_hundred(formulas.power(best))
    if request.many is not None:
        finds = "reach their goal"
        in_all = f"{finds} for a {thing} of {points_words(size, scale)}"
    else:
        in_all = finds = (
            f"find a difference of {points_words(size, scale)}"
            if rule.margin is None
            else f"show {claim(rule)}"
        )
    ways = []
    cheapest = None if budget is None else price()
    if budget is not None and cheapest is not None:
        reason = f"With {money(budget, costs.currency)} {power} of 100 such studies {finds}, not {wanted}."
        ways.append(f"a budget of {money(cheapest, costs.currency)}")
    else:
        reason = (
            f"No design within these limits is enough: with the best {power} of 100 such studies {in_all}, by "
            f"formula, not {wanted}."
        )
    if request.looks is not None and request.many is None:
        reason += " (Said of one test at the end; looks cost a little more.)"
    smallest = formulas.smallest(best)
    if smallest <= 1:
        smaller = points_words(smallest, scale, digits=3)
        ways.append(f"a {thing} of {smaller} instead of {points_words(size, scale)}, with this design")
    complete = best.is_complete

    def wider(m: int) -> StudyCounts:
        return replace(best, n_workers=m, ratings_per_item=m if complete else best.ratings_per_item)

    most = _MOST_WORKERS
    if not complete:
        most = min(most, best.n_items * best.ratings_per_item * (1 if best.paired else best.n_systems))
    workers = smallest_true(lambda m: formulas.reaches(wider(m)), best.n_workers, most)
    if workers is not None and workers > best.n_workers:
        enough = wider(workers)
        ways.append(
            f"{enough.n_workers} workers with {enough.n_items} items and "
            f"{enough.ratings_per_item} ratings per item ({cost_of(enough, costs)})"
        )
    if best.n_documents:
        each = best.n_items // best.n_documents

        def longer(number: int) -> StudyCounts:
            return replace(best, n_documents=number, n_items=number * each)

        documents = smallest_true(
            lambda number: formulas.reaches(longer(number)), best.n_documents, _MOST_DOCUMENTS
        )
        if documents is not None and documents > best.n_documents:
            ways.append(f"{documents} documents of {each} items ({cost_of(longer(documents), costs)})")
    return reason, tuple(ways)


@dataclass(slots=True, eq=False)
class _ListSearch:
    """The search for a plan of two systems: all designs with their power by formula, and the proofs of those on the
    front, one after the other. Places are on the front.

    settings : with the effect of interest. typed : simulations that were asked for.
    """

    request: PlanRequest
    settings: Mapping[str, Parameters]
    candidates: Candidates
    n_simulations: int
    seed: int
    n_jobs: int
    progress: Progress | None
    typed: int | None = None
    alone: tuple[Alone, ...] = ()
    best: np.ndarray = field(init=False)
    chosen: int = field(init=False)
    proofs: int = 0  # of further designs
    tried_largest: bool = False
    done: float = 0.0  # milliseconds of one core that the proofs so far were to take
    known: dict[StudyCounts, RatingStudy] = field(default_factory=dict)
    factor: float = 1.0  # of the levels of looks at which intervals stop the study, as last calibrated

    def __post_init__(self) -> None:
        self.best = front(self.candidates)

    @classmethod
    def of(
        cls,
        request: PlanRequest,
        *,
        n_simulations: int | None,
        seed: int,
        n_jobs: int,
        progress: Progress | None,
    ) -> _ListSearch:
        """n_simulations : of a proof. [the usual number]"""
        settings = {name: p.with_difference(request.effect) for name, p in request.settings.items()}
        first = dict([next(iter(settings.items()))])
        usual = n_simulations or DEFAULT_SIMULATIONS

        def search(settings: Mapping[str, Parameters], space: SearchSpace, out: WorkersOut) -> _ListSearch:
            candidates = list_candidates(
                settings, space, request.costs, rule=request.rule, losses=request.losses, out=out
            )
            return cls(request, settings, candidates, usual, seed, n_jobs, progress, n_simulations)

        out = NOBODY_OUT
        if isinstance(request.exclusion, str):
            out = expected_out(request.exclusion)
        elif request.proves_rules:
            # of sealed rules by simulation of the design that would be chosen if they found just the careless ones
            careless = search(first, request.space, expected_out("careless"))
            study = request.study(careless._counts(careless._choose()), next(iter(first.values())))
            out = workers_out(study, seed=seed, n_jobs=n_jobs)
        each = settings if len(settings) > 1 else {}
        alone = tuple(search({name: one}, request.space, out)._alone(name) for name, one in each.items())
        space = request.space
        if request.looks is not None and request.stop_when is not None:
            space = replace(space, workers=enough_workers(space.workers, request.looks.looks, "stop_when"))
        found = search(settings if request.robust else first, space, out)
        found.settings, found.alone = settings, alone
        return found

    def _alone(self, name: str) -> Alone:
        power = self.candidates.worst_power
        within = np.ones(len(power), dtype=bool)
        if self.request.limit is not None:
            within = self.candidates.cents <= self.request.limit
        best = float(power[within].max()) if within.any() else 0.0
        index = cheapest(self.candidates, target=self.request.target)
        return self.request.alone(name, best, None if index is None else self._point(index))

    def _point(self, index: int) -> FrontPoint:
        candidates = self.candidates
        price = Decimal(int(candidates.cents[index])) / 100
        return FrontPoint(candidates.counts(index), price, float(candidates.power[:, index].min()))

    def _counts(self, place: int) -> StudyCounts:
        return self.candidates.counts(int(self.best[place]))

    # The walk along the front.

    def first(self, ahead: Callable[..., None] | None) -> Option:
        """The design to prove first, proved; `ahead` is told of the work before."""
        stops, place = self.request.stop_when is not None, self._choose()
        if stops:
            self._guess_factor(self._counts(place))
        # far on the front a thousand designs differ by cents; the next is one that differs in power
        self.chosen = self._exact_place(place)
        if ahead is not None and stops:
            counts = self._counts(self.chosen)
            n = self._n_stops(counts)
            ahead(
                stops_workload(self._looks_study(counts), n_simulations=n, n_jobs=self.n_jobs),
                n_simulations=n,
            )
        elif ahead is not None:
            ahead(self._work(self._to_prove()))
        return self._prove(self._to_prove())

    def dearer(self, option: Option) -> Option | None:
        """A dearer design, proved, in the place of one that falls short; None where this one stands. Raises
        InputError: a last design that its intervals cannot stop."""
        stops = self.request.stop_when is not None
        following = self._following(stops) if self._falls_short(option) else None
        if following is not None:
            self.chosen, self.proofs = following, self.proofs + 1
            return self._prove(self._to_prove())
        if (refusal := self._refusal(option.counts)) is not None:
            raise refusal
        return None

    def _following(self, stops: bool) -> int | None:
        """The place to prove next; where intervals stop the study at last the largest, before it is said that no
        design will do."""
        if self.tried_largest:
            return None
        if self.chosen + 1 < len(self.best) and self.proofs < (
            _MOST_STOP_PROOFS if stops else _MOST_PROOFS
        ):
            nearer = self._exact_place(self.chosen) if stops else self.chosen
            above = self._next_above(self.chosen, 0.01) if nearer == self.chosen else nearer
            if above is not None and self._affordable(above):
                return above
        if not stops:
            return None
        self.tried_largest = True
        largest = self._largest_place()
        return largest if largest > self.chosen else None

    def ways(self, option: Option) -> Iterator[tuple[WayName, Option | None]]:
        """Designs by the ways to spend the money, None where a way is closed."""
        places = tuple(self._places())
        proved, others = {self.chosen: option}, self._others(places)
        for number, other in enumerate(others):
            proved[other] = self._other([self._counts(each) for each in others[number:]])
        for name, at in places:
            yield name, None if at is None else proved[at]
            if name == "cheapest" and (fewer := self._fewer_workers(option.counts)) is not None:
                yield "fewer workers", self._other([fewer])

    def _fewer_workers(self, chosen: StudyCounts) -> StudyCounts | None:
        """The cheapest design that reaches the target with enough to rate for each worker, where nothing says what
        one more worker costs and those of the chosen design have little to rate; None where there is none."""
        request, candidates = self.request, self.candidates
        least = least_of_a_worker(request.costs)
        has_enough = chosen.ratings_of_a_worker >= least
        if has_enough or request.stop_when is not None or request.confidence is not None:
            return None
        rated = 2 * candidates.items * candidates.ratings_per_item
        within = (rated >= least * candidates.workers) & (candidates.worst_power >= request.target)
        within &= candidates.workers < chosen.n_workers
        if request.limit is not None:
            within &= candidates.cents <= request.limit
        order = np.lexsort((-candidates.worst_power, candidates.cents))
        for index in order[within[order]][:_MOST_TRIED]:  # the formula of the search is not always exact
            counts = candidates.counts(int(index))
            if self._judged_power(counts) >= request.target:
                return counts
        return None

    def other(self, counts: StudyCounts) -> Option:
        """A design that is not planned."""
        return self._other([counts])

    def front(self) -> tuple[FrontPoint, ...]:
        """The front at about equal steps of power, both ends included."""
        power = self.candidates.worst_power[self.best]
        wanted = np.linspace(power[0], power[-1], _SHOWN)
        kept = np.unique(np.searchsorted(power, wanted, side="left").clip(0, len(self.best) - 1))
        return tuple(self._point(int(self.best[i])) for i in kept)

    @property
    def n_candidates(self) -> int:
        """How many designs there are to choose from."""
        return len(self.candidates)

    def cheapest_price(self) -> Decimal | None:
        """Price of the cheapest design that reaches the target, whatever the budget."""
        index = cheapest(self.candidates, target=self.request.target)
        return None if index is None else self._point(index).cost

    def formulas(self, name: str) -> Formulas:
        """What formulas say of designs under this setting: of one test at the end, with intervals of all looks."""
        request, parameters = self.request, self.settings[name]
        target, rule = request.target, request.rule

        def power(counts: StudyCounts) -> float:
            return counts_power(parameters, counts, rule=rule)

        def smallest(counts: StudyCounts) -> float:
            precision = counts_precision(parameters, counts)
            return detectable(precision, effect=parameters.difference, power=target, rule=rule)

        return Formulas(
            power=power if request.stop_when is None else partial(self._formula, parameters),
            reaches=lambda counts: power(counts) >= target,
            smallest=smallest,
            ceilings=lambda counts: pair_ceilings(parameters, counts, target=target, rule=rule),
        )

    def pair_study(self, option: Option) -> RatingStudy:
        """The study of the design."""
        return self.request.study(option.counts, self.settings[self.request.judged(option.powers)])

    # Places on the front.

    def _choose(self) -> int:
        """Place of the design to prove first."""
        largest = self._largest_place()
        if self.request.spend_budget:
            return largest
        cheap = self._cheapest_place()
        return largest if cheap is None else min(cheap, largest)

    def _largest_place(self) -> int:
        """Place of the most powerful design, within the budget where there is one."""
        limit = self.request.limit
        if limit is None:
            return len(self.best) - 1
        index = most_powerful(self.candidates, budget_cents=limit)
        if index is None:
            raise self.request.too_dear(int(self.candidates.cents.min()))
        return self._place_of(index)

    def _cheapest_place(self) -> int | None:
        """Place of the cheapest design that reaches the target, with the wanted confidence if there is one."""
        request = self.request
        if request.confidence is None:
            index = cheapest(self.candidates, target=request.target)
            return None if index is None else self._place_of(index)
        missed = 1 - request.confidence

        def surely(place: int) -> bool:
            sure = _assurance(request, self._counts(place), DEFAULT_SEED)
            assert sure is not None
            return sure.quantile(missed) >= request.target

        last = len(self.best) - 1
        return bisect_left(range(last), True, key=surely) if surely(last) else last

    def _place_of(self, index: int) -> int:
        """The place on the front of what a design costs."""
        cents = self.candidates.cents
        return int(np.searchsorted(cents[self.best], cents[index], side="right")) - 1

    def _places(self) -> Iterator[tuple[WayName, int | None]]:
        """Places of the ways to spend the money, None where a way is closed."""
        request, largest, cheap = self.request, self._largest_place(), self._cheapest_place()
        if not request.spend_budget and cheap is not None and cheap <= largest:
            cheap = self.chosen  # which was proved to do it
        yield "cheapest", None if cheap is None or cheap > largest else cheap

        def is_safe(place: int) -> bool:
            sure = _assurance(request, self._counts(place), DEFAULT_SEED)
            power = float(self.candidates.worst_power[self.best[place]]) if sure is None else sure.expected
            return power >= request.safer_power

        low = cheap or 0
        smallest = bisect_left(range(low, largest + 1), True, key=is_safe) + low
        yield "safer", smallest if smallest <= largest else None
        if request.budget is not None:
            yield "all the budget", largest

    def _others(self, places: Iterable[tuple[WayName, int | None]]) -> list[int]:
        """The places of other designs than the one that is chosen, each once."""
        return list(dict.fromkeys(at for _, at in places if at is not None and at != self.chosen))

    def _to_prove(self) -> list[StudyCounts]:
        """The chosen design, and those that are to be proved after it."""
        others = self._others(self._places()) if self._proves_others else []
        return [self._counts(at) for at in (self.chosen, *others)]

    def _exact_place(self, place: int) -> int:
        """The same place, or the next on the front whose exact power reaches the target: unpaired designs and
        those with documents are ranked by an approximate df, and all without the looks. Raises InputError: no
        design within the budget whose intervals meet the sizes of stop_when."""
        request = self.request
        exact = all(request.space.pairings) and request.looks is None and not request.space.documents
        if request.stop_when is not None:
            return self._stopped_place(place)
        if request.spend_budget or exact:
            return place
        while self._judged_power(self._counts(place)) < request.target:
            above = self._next_above(place, 0.005)
            if above is None or not self._affordable(above):
                break
            place = above
        return place

    def _stopped_place(self, place: int) -> int:
        """The same place, or the next on the front whose last interval is expected to meet the sizes of stop_when
        and whose power with them reaches the target; the most powerful design within the budget where none does."""

        def does(at: int) -> bool:
            counts = self._counts(at)
            if self._refusal(counts) is not None:
                return False
            return self.request.spend_budget or self._judged_power(counts) >= self.request.target

        if does(place):
            return place
        most = max(place, self._largest_place())
        if (reason := self._refusal(self._counts(most), factor=1.0)) is not None:
            raise reason  # whatever the calibration
        return place + bisect_left(range(place, most), True, key=does)

    def _affordable(self, place: int) -> bool:
        limit = self.request.limit
        return limit is None or int(self.candidates.cents[self.best[place]]) <= limit

    def _next_above(self, place: int, step: float) -> int | None:
        power = self.candidates.worst_power[self.best]
        above = np.flatnonzero(power >= power[place] + step)
        return int(above[0]) if len(above) else None

    # Power by formula, and proofs.

    @property
    def _judged(self) -> list[Parameters]:
        """The settings that a design has to do for."""
        settings = list(self.settings.values())
        return settings if self.request.robust else settings[:1]

    def _judged_power(self, counts: StudyCounts) -> float:
        """Power by formula under the worst of them."""
        return min(self._formula(one, counts) for one in self._judged)

    @property
    def _looks(self) -> LookSchedule | None:
        """Those that are wished for, at calibrated levels where intervals stop the study."""
        wish = self.request.looks
        return wish if wish is None or wish.stop_when is None else replace(wish, factor=self.factor)

    def _formula(self, parameters: Parameters, counts: StudyCounts) -> float:
        """Power by formula, with the looks if there are any."""
        if self._looks is None:
            return counts_power(parameters, counts, rule=self.request.rule)
        return formula_power(parameters, counts, self._looks, self.request.rule)

    def _guess_factor(self, counts: StudyCounts) -> None:
        """Choose designs by the factor of a complete table with these workers, drawn by its mean squares."""
        assert self.request.looks is not None
        complete = StudyCounts(counts.n_workers, min(counts.n_items, _GUESSED_ITEMS), counts.n_workers)
        self.factor = guessed_factor(
            self._judged[0], complete, self.request.looks, self.request.rule, self.seed
        )

    def _refusal(self, counts: StudyCounts, factor: float | None = None) -> InputError | None:
        """Why intervals cannot stop this design for the reasons that are wished for; None where they can. At levels
        of the factor that is known, or of another: the larger it is, the narrower are the intervals."""
        if self._looks is None or self._looks.stop_when is None:
            return None
        looks = self._looks if factor is None else replace(self._looks, factor=factor)
        try:
            for one in self._judged:
                check_stops(one, counts, looks, self.request.rule, self.request.assumed.scale)
        except InputError as error:
            return error
        return None

    def _falls_short(self, option: Option) -> bool:
        """Whether a design that is proved will not do: simulation contradicts the formula, or intervals, at the
        levels of its calibration, cannot stop it or have clearly less power than the target."""
        request = self.request
        if request.falls_short(option):
            return True
        if request.stop_when is None or self._refusal(option.counts) is not None:
            return request.stop_when is not None
        power = self._judged_power(option.counts)
        return not request.spend_budget and power < request.target - _CALIBRATED_TO

    def _n_stops(self, counts: StudyCounts) -> int:
        """How many studies calibrate and prove a design that its intervals stop."""
        return stops_simulations(self._looks_study(counts), self.typed)

    def _looks_study(self, counts: StudyCounts) -> RatingLooks:
        assert self.request.looks is not None
        return rating_looks(self._judged[0], design_of(counts), self.request.looks, self.request.rule)

    def _work(self, designs: Sequence[StudyCounts]) -> Workload:
        """Of the proofs of these designs."""
        studies = [self._study(counts) for counts in designs]
        if self.request.looks is not None:
            n = len(studies) * self.n_simulations
            return study_workload(studies[0].design, n_simulations=n, n_jobs=self.n_jobs)
        return measured_workload(studies, n_simulations=self.n_simulations, n_jobs=self.n_jobs)

    @property
    def _proves_others(self) -> bool:
        """Whether designs that are not planned are simulated: where the formula does not know all that simulated
        studies are put through, unless each would have to be calibrated."""
        request, rule = self.request, self.request.rule
        is_whole = request.looks is None and request.losses == NO_LOSSES and request.exclusion == "none"
        formula_tells = is_whole and rule.analysis == "ratings" and not rule.is_simulated
        return not formula_tells and request.stop_when is None

    def _other(self, designs: Sequence[StudyCounts]) -> Option:
        """A design that is not planned."""
        if self._proves_others:
            return self._prove(designs)
        return Option(designs[0], cost_of(designs[0], self.request.costs), self._powers(designs[0]))

    def _study(self, counts: StudyCounts) -> RatingStudy:
        """What is simulated of a design, the same each time it is asked for."""
        if counts not in self.known:
            judged = self.settings[self.request.judged(self._powers(counts))]
            self.known[counts] = self.request.study(counts, judged)
        return self.known[counts]

    def _powers(self, counts: StudyCounts) -> dict[str, float]:
        """By formula, under each setting."""
        return {name: self._formula(each, counts) for name, each in self.settings.items()}

    def _prove(self, designs: Sequence[StudyCounts]) -> Option:
        """The first design with its price, its power by formula and by simulation; the others follow."""
        request, counts = self.request, designs[0]
        powers = self._powers(counts)
        cost = cost_of(counts, request.costs)
        judged = self.settings[request.judged(powers)]
        part = self._part(designs)
        if request.looks is None:
            simulated = estimate_power(
                self._study(counts),
                n_simulations=self.n_simulations,
                seed=self.seed,
                n_jobs=self.n_jobs,
                progress=part,
            )
            if request.control is not None and simulated.too_many_failed:
                raise InputError(
                    f"The rules {request.control.rules} leave too few workers for a test in "
                    f"{simulated.failure_rate:.0%} of the simulated studies of {counts.n_workers:,} workers and "
                    f"{counts.n_items:,} items. Choose other limits, "
                    "or give each worker more to be judged by: ratings, checks or repeats."
                )
            return Option(counts, cost, powers, simulated)
        how: dict[str, Any] = {"costs": request.costs, "seed": self.seed, "n_jobs": self.n_jobs}
        if request.stop_when is None:
            how |= {"n_simulations": self.n_simulations, "progress": part}
            result = prove(judged, counts, request.looks, request.rule, **how)
        else:
            result = prove_stops(
                judged, counts, request.looks, request.rule, n_simulations=self._n_stops(counts), **how
            )
            self.factor = result.calibrated(request.looks).factor
            powers = self._powers(counts)
        if part is not None:
            part(self.n_simulations, self.n_simulations)
        return Option(counts, cost, powers, result.simulated, result)

    def _part(self, designs: Sequence[StudyCounts]) -> Progress | None:
        """Progress of the proof of the first design, told as that of all proofs that are known to come: in
        milliseconds of one core."""
        if self.progress is None:
            return None
        tell, before = self.progress, self.done
        studies = [self._study(counts) for counts in designs]
        each = measured_seconds(studies, n_simulations=self.n_simulations)
        own, all_of_them = (1e3 * self.n_simulations * seconds for seconds in (each[0], sum(each)))
        self.done += own

        def report(done: int, total: int) -> None:
            tell(round(before + own * done / total), round(before + all_of_them))

        return report
