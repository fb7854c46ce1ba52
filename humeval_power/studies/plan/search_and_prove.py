"""From parameters, prices and limits to one design: found by formula, proved by simulation."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from humeval_power.choices import DEFAULT_SEED, DEFAULT_SIMULATIONS
from humeval_power.costs import cost_of, least_of_a_worker, split_advice
from humeval_power.errors import InputError
from humeval_power.latent import Latent
from humeval_power.parameters import Parameters
from humeval_power.rules import claim
from humeval_power.simulation.losses import NO_LOSSES
from humeval_power.studies.looks.repeated import StopWhen, enough_workers
from humeval_power.studies.plan.candidates import (
    Candidates,
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
from humeval_power.studies.plan.planned_rules import (
    NOBODY_OUT,
    PlannedRules,
    WorkersOut,
    expected_out,
    planned_rules,
    workers_out,
)
from humeval_power.studies.plan.request import (
    FrontPoint,
    Option,
    PlanRequest,
    PlanResult,
    Way,
    WayName,
    each_alone,
)
from humeval_power.studies.power.assurance import Assurance, assurance
from humeval_power.studies.power.bottleneck import find_bottleneck, what_would_do
from humeval_power.studies.power.estimate import PowerEstimate, Progress, estimate_power
from humeval_power.studies.power.required import counts_power, design_of
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

_MOST_PROOFS, _MOST_STOP_PROOFS = 6, 2  # further designs tried by simulation before the last one stands
_CALIBRATED_TO = 0.01  # what the noise of a calibration makes of the power
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
    """Search the space by formula, then prove the winner; other ways to spend the money too where no formula tells.

    ahead : is told of the work of the usual proofs before the first, and may refuse it; where intervals stop the
        study also of its `n_simulations`.
    progress : is told how many studies are simulated, and how many there may be.

    Raises
    ------
    InputError
        No design within the limits, none within the budget, or none whose intervals meet the sizes of stop_when.
    """
    with_effect = {name: p.with_difference(request.effect) for name, p in request.settings.items()}
    out = _workers_out(request, with_effect, seed, n_jobs)
    alone = each_alone(request, with_effect, out) if len(with_effect) > 1 else ()
    searched = with_effect if request.robust else dict([next(iter(with_effect.items()))])
    space, stops = request.space, request.stop_when is not None
    if request.looks is not None and stops:
        space = replace(space, workers=enough_workers(space.workers, request.looks.looks, "stop_when"))
    candidates = list_candidates(
        searched, space, request.costs, rule=request.rule, losses=request.losses, out=out
    )
    best = front(candidates)
    place = _choose(request, candidates, best)
    usual = n_simulations or DEFAULT_SIMULATIONS
    run = _Proofs(request, with_effect, usual, seed, n_jobs, progress, typed=n_simulations)
    if stops:
        run.guess_factor(candidates.counts(int(best[place])))
    # far on the front a thousand designs differ by cents; the next is one that differs in power
    chosen, proofs = _exact_place(run, candidates, best, place), 0

    def to_prove(chosen: int) -> list[StudyCounts]:
        others = _others(_places(request, candidates, best, chosen), chosen) if run.proves_others else []
        return [candidates.counts(int(best[at])) for at in (chosen, *others)]

    if ahead is not None and stops:
        first = to_prove(chosen)[0]
        ahead(run.stops_work(first), n_simulations=run.n_stops(first))
    elif ahead is not None:
        ahead(run.work(to_prove(chosen)))
    option = run.prove(to_prove(chosen))
    while chosen + 1 < len(best) and proofs < (_MOST_STOP_PROOFS if stops else _MOST_PROOFS):
        if not run.falls_short(option):
            break
        nearer: int | None = _exact_place(run, candidates, best, chosen) if stops else chosen
        if nearer == chosen:
            nearer = _next_above(candidates, best, chosen, 0.01)
        if nearer is None or not _affordable(request, candidates, int(best[nearer])):
            break
        chosen, proofs = nearer, proofs + 1
        option = run.prove(to_prove(chosen))
    if stops and run.falls_short(option):
        largest = _largest_place(request, candidates, best)
        if largest > chosen:  # before it is said that no design will do
            chosen = largest
            option = run.prove(to_prove(chosen))
    if (refusal := run.refusal(option.counts)) is not None:
        raise refusal
    places = tuple(_places(request, candidates, best, chosen))
    proved, others = {chosen: option}, _others(places, chosen)
    for number, at in enumerate(others):
        proved[at] = run.other([candidates.counts(int(best[each])) for each in others[number:]])
    designs = [(name, None if at is None else proved[at]) for name, at in places]
    if (fewer := _fewer_workers(run, candidates, option.counts)) is not None:
        designs.insert(1, ("fewer workers", run.other([fewer])))
    if request.beside is not None:
        same = next((one for one in proved.values() if one.counts == request.beside), None)
        designs.append(("yours", same or run.other([request.beside])))
    ways = tuple(
        Way.of(
            name,
            one,
            request.target,
            None if one is None or not request.says_assurance else _assurance(request, one.counts, seed),
        )
        for name, one in designs
    )
    promised = option.powers[_judged(request, option.powers)]
    reached = promised >= request.target - (_CALIBRATED_TO if stops else 1e-12)
    if (request.losses != NO_LOSSES or request.proves_rules) and option.simulated is not None:
        reached = option.simulated.interval[1] >= request.target
    if stops and option.simulated is not None:
        reached = reached and option.simulated.interval[1] >= request.target
    sure = _assurance(request, option.counts, seed)
    if request.confidence is not None and sure is not None:
        reached = reached and sure.quantile(1 - request.confidence) >= request.target
    main = with_effect[_judged(request, option.powers)]
    bottleneck = find_bottleneck(
        main,
        option.counts,
        target=request.target,
        rule=request.rule,
        power_of=partial(run.formula, main) if stops else None,
    )
    reason = ""
    would_do: tuple[str, ...] = ()
    if not reached and promised >= request.target and sure is not None:
        reason = (
            f"The power is {promised:.2f} at the pilot's variances, but reaches {request.target:g} with "
            f"probability {sure.chance_of(request.target):.2f} only, given how little the pilot knows."
        )
        would_do = ("more workers than the limits allow, or a larger pilot",)
    elif not reached and option.sequential is not None and stops:
        reason, would_do = _why_stops_fall_short(request, option, promised)
    elif not reached:
        reason, would_do = what_would_do(
            main,
            candidates,
            option.counts,
            request.target,
            request.rule,
            request.costs,
            request.budget,
            request.assumed.scale,
        )
        if request.looks is not None:
            reason += " (Said of one test at the end; looks cost a little more.)"
    return PlanResult(
        request=request,
        chosen=option,
        ways=ways,
        front=_thinned_front(candidates, best),
        reached=reached,
        reason=reason,
        would_do=would_do,
        bottleneck=bottleneck,
        assurance=sure,
        split=split_advice(option.counts, request.costs),
        n_candidates=len(candidates),
        alone=alone,
        rules=run.rules(option),
    )


def _workers_out(
    request: PlanRequest, settings: Mapping[str, Parameters], seed: int, n_jobs: int
) -> WorkersOut:
    """Which share of the workers is expected to be left out: of sealed rules, by simulation of the design that
    would be chosen if they found just the careless ones."""
    control = request.control
    if control is None:
        assert isinstance(request.exclusion, str)
        return expected_out(request.exclusion)
    if not request.proves_rules:
        return NOBODY_OUT
    first = dict([next(iter(settings.items()))])
    out = expected_out("careless")
    candidates = list_candidates(
        first, request.space, request.costs, rule=request.rule, losses=request.losses, out=out
    )
    best = front(candidates)
    counts = candidates.counts(int(best[_choose(request, candidates, best)]))
    return workers_out(_study(request, counts, next(iter(first.values()))), seed=seed, n_jobs=n_jobs)


def _refuse_too_strict(request: PlanRequest, counts: StudyCounts, estimate: PowerEstimate) -> None:
    """Refuse rules that leave too little of so many studies that there is no power."""
    if request.control is not None and estimate.too_many_failed:
        raise InputError(
            f"The rules {request.control.rules} leave too few workers for a test in "
            f"{estimate.failure_rate:.0%} of the simulated studies of {counts.n_workers:,} workers and "
            f"{counts.n_items:,} items. Choose other limits, "
            "or give each worker more to be judged by: ratings, checks or repeats."
        )


def _study(request: PlanRequest, counts: StudyCounts, parameters: Parameters) -> RatingStudy:
    """A study of two systems of this size, with what is expected of its ratings and workers."""
    return RatingStudy(
        parameters,
        design_of(counts),
        rule=request.rule,
        losses=request.losses,
        exclusion=request.exclusion,
    )


def _choose(request: PlanRequest, candidates: Candidates, best: np.ndarray) -> int:
    """Place on the front of the design to prove first."""
    largest = _largest_place(request, candidates, best)
    if request.spend_budget:
        return largest
    cheap = _cheapest_place(request, candidates, best)
    return largest if cheap is None else min(cheap, largest)


def _largest_place(request: PlanRequest, candidates: Candidates, best: np.ndarray) -> int:
    """Place of the most powerful design, within the budget where there is one."""
    if request.budget is None:
        return len(best) - 1
    index = most_powerful(candidates, budget_cents=int(request.budget * 100))
    if index is None:
        least = Decimal(int(candidates.cents.min())) / 100
        raise InputError(
            f"No design within a budget of {request.budget}: within these limits the cheapest costs "
            f"{least:.2f}."
        )
    return _place_of(candidates, best, index)


def _cheapest_place(request: PlanRequest, candidates: Candidates, best: np.ndarray) -> int | None:
    """Place of the cheapest design that reaches the target, with the wanted confidence if there is one."""
    if request.confidence is not None:
        return _confident_place(request, candidates, best)
    index = cheapest(candidates, target=request.target)
    return None if index is None else _place_of(candidates, best, index)


def _place_of(candidates: Candidates, best: np.ndarray, index: int) -> int:
    """The place on the front of what a design costs."""
    return int(np.searchsorted(candidates.cents[best], candidates.cents[index], side="right")) - 1


def _places(
    request: PlanRequest, candidates: Candidates, best: np.ndarray, chosen: int
) -> Iterator[tuple[WayName, int | None]]:
    """Places on the front of the ways to spend the money, None where a way is closed."""
    largest = _largest_place(request, candidates, best)
    cheap = _cheapest_place(request, candidates, best)
    if not request.spend_budget and cheap is not None and cheap <= largest:
        cheap = chosen  # which was proved to do it
    yield "cheapest", None if cheap is None or cheap > largest else cheap

    def is_safe(place: int) -> bool:
        sure = _assurance(request, candidates.counts(int(best[place])), DEFAULT_SEED)
        power = float(candidates.worst_power[best[place]]) if sure is None else sure.expected
        return power >= request.safer_power

    low = cheap or 0
    smallest = bisect_left(range(low, largest + 1), True, key=is_safe) + low
    yield "safer", smallest if smallest <= largest else None
    if request.budget is not None:
        yield "all the budget", largest


def _fewer_workers(run: _Proofs, candidates: Candidates, chosen: StudyCounts) -> StudyCounts | None:
    """The cheapest design that reaches the target with enough to rate for each worker, where nothing says what one
    more worker costs and those of the design that is chosen have little to rate; None where there is none."""
    request = run.request
    least = least_of_a_worker(request.costs)
    has_enough = chosen.ratings_of_a_worker >= least
    if has_enough or request.stop_when is not None or request.confidence is not None:
        return None
    given = 2 * candidates.items * candidates.ratings_per_item
    within = (given >= least * candidates.workers) & (candidates.worst_power >= request.target)
    within &= candidates.workers < chosen.n_workers
    if request.budget is not None:
        within &= candidates.cents <= int(request.budget * 100)
    order = np.lexsort((-candidates.worst_power, candidates.cents))
    for index in order[within[order]][
        :_MOST_TRIED
    ]:  # the search ranks by a formula that is not always exact
        counts = candidates.counts(int(index))
        if min(run.formula(one, counts) for one in run.judged) >= request.target:
            return counts
    return None


def _others(places: Iterable[tuple[WayName, int | None]], chosen: int) -> list[int]:
    """The places of other designs than the one that is chosen, each once."""
    return list(dict.fromkeys(at for _, at in places if at is not None and at != chosen))


def _exact_place(run: _Proofs, candidates: Candidates, best: np.ndarray, place: int) -> int:
    """The same place, or the next on the front whose exact power reaches the target: unpaired designs
    and those with documents are ranked by an approximate df, and all without the looks.

    Raises
    ------
    InputError
        No design within the budget whose intervals meet the sizes of stop_when.
    """
    request = run.request
    exact = all(request.space.pairings) and request.looks is None and not request.space.documents
    if request.stop_when is not None:
        return _stopped_place(run, candidates, best, place)
    if request.spend_budget or exact:
        return place
    while True:
        counts = candidates.counts(int(best[place]))
        if min(run.formula(one, counts) for one in run.judged) >= request.target:
            return place
        above = _next_above(candidates, best, place, 0.005)
        if above is None or not _affordable(request, candidates, int(best[above])):
            return place
        place = above


def _stopped_place(run: _Proofs, candidates: Candidates, best: np.ndarray, place: int) -> int:
    """The same place, or the next on the front whose last interval is expected to meet the sizes of stop_when and
    whose power with them reaches the target; the most powerful design within the budget where none does."""
    request = run.request

    def does(at: int) -> bool:
        counts = candidates.counts(int(best[at]))
        if run.refusal(counts) is not None:
            return False
        return request.spend_budget or min(run.formula(one, counts) for one in run.judged) >= request.target

    if does(place):
        return place
    most = max(place, _largest_place(request, candidates, best))
    if (reason := run.refusal(candidates.counts(int(best[most])), factor=1.0)) is not None:
        raise reason  # whatever the calibration
    return place + bisect_left(range(place, most), True, key=does)


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


def _confident_place(request: PlanRequest, candidates: Candidates, best: np.ndarray) -> int:
    """The first design on the front whose power reaches the target with the wanted confidence."""
    assert request.uncertainty is not None
    assert request.confidence is not None

    def surely(place: int) -> bool:
        assert request.uncertainty is not None
        assert request.confidence is not None
        result = assurance(
            request.uncertainty,
            candidates.counts(int(best[place])),
            effect=request.effect,
            latent=_first_latent(request),
            rule=request.rule,
            documents=request.assumed.entries[0].parameters,
        )
        return result.quantile(1 - request.confidence) >= request.target

    low, high = 0, len(best) - 1
    if not surely(high):
        return high
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if surely(middle) else (middle + 1, high)
    return high


@dataclass(slots=True)
class _Proofs:
    """Simulations of designs that the formula found, one after the other."""

    request: PlanRequest
    settings: Mapping[str, Parameters]
    n_simulations: int
    seed: int
    n_jobs: int
    progress: Progress | None
    done: float = 0.0  # milliseconds of one core that the proofs so far were to take
    known: dict[StudyCounts, RatingStudy] = field(default_factory=dict)
    typed: int | None = None  # simulations that were asked for
    factor: float = 1.0  # of the levels of looks at which intervals stop the study, as last calibrated

    @property
    def judged(self) -> list[Parameters]:
        """The settings that a design has to do for."""
        settings = list(self.settings.values())
        return settings if self.request.robust else settings[:1]

    @property
    def looks(self) -> LookSchedule | None:
        """Those that are wished for, at calibrated levels where intervals stop the study."""
        wish = self.request.looks
        return wish if wish is None or wish.stop_when is None else replace(wish, factor=self.factor)

    def formula(self, parameters: Parameters, counts: StudyCounts) -> float:
        """Power by formula, with the looks if there are any."""
        if self.looks is None:
            return counts_power(parameters, counts, rule=self.request.rule)
        return formula_power(parameters, counts, self.looks, self.request.rule)

    def guess_factor(self, counts: StudyCounts) -> None:
        """Choose designs by the factor of a complete table with these workers, drawn by its mean squares."""
        assert self.request.looks is not None
        complete = StudyCounts(counts.n_workers, min(counts.n_items, _GUESSED_ITEMS), counts.n_workers)
        self.factor = guessed_factor(
            self.judged[0], complete, self.request.looks, self.request.rule, self.seed
        )

    def refusal(self, counts: StudyCounts, factor: float | None = None) -> InputError | None:
        """Why intervals cannot stop this design for the reasons that are wished for; None where they can. At levels
        of the factor that is known, or of another: the larger it is, the narrower are the intervals."""
        if self.looks is None or self.looks.stop_when is None:
            return None
        looks = self.looks if factor is None else replace(self.looks, factor=factor)
        try:
            for one in self.judged:
                check_stops(one, counts, looks, self.request.rule, self.request.assumed.scale)
        except InputError as error:
            return error
        return None

    def falls_short(self, option: Option) -> bool:
        """Whether a design that is proved will not do: simulation contradicts the formula, or intervals, at the
        levels of its calibration, cannot stop it or have clearly less power than the target."""
        request = self.request
        if _falls_short(request, option):
            return True
        if request.stop_when is None or self.refusal(option.counts) is not None:
            return request.stop_when is not None
        power = min(self.formula(one, option.counts) for one in self.judged)
        return not request.spend_budget and power < request.target - _CALIBRATED_TO

    def n_stops(self, counts: StudyCounts) -> int:
        """How many studies calibrate and prove a design that its intervals stop."""
        assert self.request.looks is not None
        study = rating_looks(self.judged[0], design_of(counts), self.request.looks, self.request.rule)
        return stops_simulations(study, self.typed)

    def stops_work(self, counts: StudyCounts) -> Workload:
        """Of the proof of a design that its intervals stop."""
        assert self.request.looks is not None
        study = rating_looks(self.judged[0], design_of(counts), self.request.looks, self.request.rule)
        return stops_workload(study, n_simulations=self.n_stops(counts), n_jobs=self.n_jobs)

    def work(self, designs: Sequence[StudyCounts]) -> Workload:
        """Of the proofs of these designs."""
        studies = [self.study(counts) for counts in designs]
        if self.request.looks is not None:
            n = len(studies) * self.n_simulations
            return study_workload(studies[0].design, n_simulations=n, n_jobs=self.n_jobs)
        return measured_workload(studies, n_simulations=self.n_simulations, n_jobs=self.n_jobs)

    @property
    def formula_tells(self) -> bool:
        """Whether the formula knows all that simulated studies are put through."""
        request, rule = self.request, self.request.rule
        is_whole = request.looks is None and request.losses == NO_LOSSES and request.exclusion == "none"
        return is_whole and rule.analysis == "ratings" and not rule.is_simulated

    @property
    def proves_others(self) -> bool:
        """Whether designs that are not planned are simulated: where the formula does not tell their power, unless
        each would have to be calibrated."""
        return not self.formula_tells and self.request.stop_when is None

    def other(self, designs: Sequence[StudyCounts]) -> Option:
        """A design that is not planned."""
        if self.proves_others:
            return self.prove(designs)
        return Option(designs[0], cost_of(designs[0], self.request.costs), self.powers(designs[0]))

    def study(self, counts: StudyCounts) -> RatingStudy:
        """What is simulated of a design, the same each time it is asked for."""
        if counts not in self.known:
            judged = self.settings[_judged(self.request, self.powers(counts))]
            self.known[counts] = _study(self.request, counts, judged)
        return self.known[counts]

    def powers(self, counts: StudyCounts) -> dict[str, float]:
        """By formula, under each setting."""
        return {name: self.formula(each, counts) for name, each in self.settings.items()}

    def prove(self, designs: Sequence[StudyCounts]) -> Option:
        """The first design with its price, its power by formula and by simulation; the others follow."""
        request, counts = self.request, designs[0]
        powers = self.powers(counts)
        cost = cost_of(counts, request.costs)
        judged = self.settings[_judged(request, powers)]
        part = self._part(designs)
        if request.looks is None:
            simulated = estimate_power(
                self.study(counts),
                n_simulations=self.n_simulations,
                seed=self.seed,
                n_jobs=self.n_jobs,
                progress=part,
            )
            _refuse_too_strict(request, counts, simulated)
            return Option(counts, cost, powers, simulated)
        how: dict[str, Any] = {"costs": request.costs, "seed": self.seed, "n_jobs": self.n_jobs}
        if request.stop_when is None:
            result = prove(
                judged, counts, request.looks, request.rule, n_simulations=self.n_simulations, **how
            )
        else:
            result = prove_stops(
                judged, counts, request.looks, request.rule, n_simulations=self.n_stops(counts), **how
            )
            self.factor = result.calibrated(request.looks).factor
            powers = self.powers(counts)
        if part is not None:
            part(self.n_simulations, self.n_simulations)
        return Option(counts, cost, powers, result.simulated, result)

    def _part(self, designs: Sequence[StudyCounts]) -> Progress | None:
        """Progress of the proof of the first design, told as that of all proofs that are known to come: in
        milliseconds of one core."""
        if self.progress is None:
            return None
        tell, before = self.progress, self.done
        studies = [self.study(counts) for counts in designs]
        each = measured_seconds(studies, n_simulations=self.n_simulations)
        own, all_of_them = (1e3 * self.n_simulations * seconds for seconds in (each[0], sum(each)))
        self.done += own

        def report(done: int, total: int) -> None:
            tell(round(before + own * done / total), round(before + all_of_them))

        return report

    def rules(self, option: Option) -> PlannedRules | None:
        """The rules by which workers are left out, and what they cost this design; None without any."""
        request, judged = self.request, self.settings[_judged(self.request, option.powers)]
        result = option.simulated if isinstance(option.simulated, PowerEstimate) else None
        study = _study(request, option.counts, judged)
        known = result if request.looks is None else None
        return planned_rules(study, known, seed=self.seed, n_jobs=self.n_jobs)


def _judged(request: PlanRequest, powers: Mapping[str, float]) -> str:
    """The setting that the design is judged by: the worst if robust, else the first."""
    return min(powers, key=lambda name: powers[name]) if request.robust else next(iter(powers))


def _falls_short(request: PlanRequest, option: Option) -> bool:
    """Whether simulation contradicts a promise of the formula, beyond Monte Carlo error."""
    if request.spend_budget or option.simulated is None:
        return False
    return math.isnan(option.simulated.power) or option.simulated.interval[1] < request.target


def _affordable(request: PlanRequest, candidates: Candidates, index: int) -> bool:
    return request.budget is None or int(candidates.cents[index]) <= int(request.budget * 100)


def _next_above(candidates: Candidates, best: np.ndarray, place: int, step: float) -> int | None:
    power = candidates.worst_power[best]
    above = np.flatnonzero(power >= power[place] + step)
    return int(above[0]) if len(above) else None


def _assurance(request: PlanRequest, counts: StudyCounts, seed: int) -> Assurance | None:
    if request.uncertainty is None:
        return None
    return assurance(
        request.uncertainty,
        counts,
        effect=request.effect,
        latent=_first_latent(request),
        rule=request.rule,
        documents=request.assumed.entries[0].parameters,
        seed=seed,
    )


def _first_latent(request: PlanRequest) -> Latent | None:
    """The latent variable that is planned for, at the effect of interest; None for numbers."""
    first = next(iter(request.settings.values()))
    return first.with_difference(request.effect).latent


def _thinned_front(candidates: Candidates, best: np.ndarray, most: int = 40) -> tuple[FrontPoint, ...]:
    """The front at about equal steps of power, both ends included."""
    power = candidates.worst_power[best]
    wanted = np.linspace(power[0], power[-1], most)
    kept = np.unique(np.searchsorted(power, wanted, side="left").clip(0, len(best) - 1))
    return tuple(
        FrontPoint(
            candidates.counts(int(best[i])),
            Decimal(int(candidates.cents[best[i]])) / 100,
            float(power[i]),
        )
        for i in kept
    )
