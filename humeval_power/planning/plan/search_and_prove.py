"""From parameters, prices and limits to one design: found by formula, proved by simulation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np

from humeval_power.costs import cost_of, split_advice
from humeval_power.errors import InputError
from humeval_power.inference.study.replication import NO_LOSSES
from humeval_power.latent import Latent
from humeval_power.parameters import Parameters
from humeval_power.planning.plan.assurance import Assurance, assurance
from humeval_power.planning.plan.bottleneck import find_bottleneck, what_would_do
from humeval_power.planning.plan.candidates import (
    Candidates,
    cheapest,
    front,
    list_candidates,
    most_powerful,
)
from humeval_power.planning.plan.planned_rules import PlannedRules, planned_rules, workers_out
from humeval_power.planning.plan.request import FrontPoint, Option, PlanRequest, PlanResult
from humeval_power.planning.plan.sensitivity import each_alone, most_demanding
from humeval_power.planning.plan.with_looks import formula_power, prove
from humeval_power.planning.plan.workers_out import NOBODY_OUT, WorkersOut, expected_out
from humeval_power.planning.power import (
    DEFAULT_SEED,
    DEFAULT_SIMULATIONS,
    PowerEstimate,
    Progress,
    estimate_power,
    part_of,
)
from humeval_power.planning.study.designs_of import design_of
from humeval_power.planning.study.required import counts_power
from humeval_power.planning.workload import Ahead, Workload, rating_study_workload, study_workload
from humeval_power.scenarios.study import RatingStudy
from humeval_power.study_counts import StudyCounts

_MOST_PROOFS = 6  # designs tried by simulation before the last one stands
_USUAL_PROOFS = 3  # the chosen design and its neighbours


def make_plan(
    request: PlanRequest,
    *,
    n_simulations: int = DEFAULT_SIMULATIONS,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
    ahead: Ahead | None = None,
    progress: Progress | None = None,
) -> PlanResult:
    """Search the space by formula, then prove the winner and its neighbours on the front.

    ahead : is told of the work of the usual proofs before the first, and may refuse it.
    progress : is told how many studies are simulated, and how many there may be.

    Raises
    ------
    InputError
        No design within the limits, or none within the budget.
    """
    with_effect = {name: p.with_difference(request.effect) for name, p in request.settings.items()}
    out = _workers_out(request, with_effect, seed, n_jobs)
    alone = each_alone(request, with_effect, out) if len(with_effect) > 1 else ()
    if request.cautious and alone:
        request = replace(request, assumed=request.assumed.led_by(most_demanding(alone)))
        with_effect = {name: with_effect[name] for name in request.settings}
    searched = with_effect if request.robust else dict([next(iter(with_effect.items()))])
    candidates = list_candidates(
        searched, request.space, request.costs, rule=request.rule, losses=request.losses, out=out
    )
    best = front(candidates)
    place = _choose(request, candidates, best)
    # far on the front a thousand designs differ by cents; neighbours are those that differ in power
    chosen, proofs = _exact_place(request, with_effect, candidates, best, place), 0
    run = _Proofs(request, with_effect, n_simulations, seed, n_jobs, progress)
    if ahead is not None:
        ahead(run.work(candidates.counts(int(best[chosen]))))
    option = run.prove(candidates.counts(int(best[chosen])))
    while _falls_short(request, option) and chosen + 1 < len(best) and proofs < _MOST_PROOFS:
        nearer = _next_above(candidates, best, chosen, 0.01)
        if nearer is None or not _affordable(request, candidates, int(best[nearer])):
            break
        chosen, proofs = nearer, proofs + 1
        option = run.prove(candidates.counts(int(best[chosen])))
    around = [_next_below(candidates, best, chosen, 0.02), _next_above(candidates, best, chosen, 0.02)]
    neighbours = tuple(run.prove(candidates.counts(int(best[i]))) for i in around if i is not None)
    promised = option.powers[_judged(request, option.powers)]
    reached = promised >= request.target - 1e-12
    if (request.losses != NO_LOSSES or request.proves_rules) and option.simulated is not None:
        reached = option.simulated.interval[1] >= request.target
    sure = _assurance(request, option.counts, seed)
    if request.confidence is not None and sure is not None:
        reached = reached and sure.quantile(1 - request.confidence) >= request.target
    main = with_effect[_judged(request, option.powers)]
    bottleneck = find_bottleneck(main, option.counts, target=request.target, rule=request.rule)
    reason = ""
    would_do: tuple[str, ...] = ()
    if not reached and promised >= request.target and sure is not None:
        reason = (
            f"The power is {promised:.2f} at the pilot's variances, but reaches {request.target:g} with "
            f"probability {sure.chance_of(request.target):.2f} only, given how little the pilot knows."
        )
        would_do = ("more workers than the limits allow, or a larger pilot",)
    elif not reached:
        reason, would_do = what_would_do(
            main, candidates, option.counts, request.target, request.rule, request.costs, request.budget
        )
        if request.looks is not None:
            reason += " (Said of one test at the end; looks cost a little more.)"
    return PlanResult(
        request=request,
        chosen=option,
        neighbours=neighbours,
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


def _refuse_too_strict(request: PlanRequest, counts: StudyCounts, found: PowerEstimate) -> None:
    """Refuse rules that leave too little of so many studies that there is no power."""
    if request.control is not None and found.too_many_failed:
        raise InputError(
            f"The rules {request.control.rules} leave too few workers for a test in "
            f"{found.failure_rate:.0%} of the simulated studies of {counts.n_workers:,} workers and "
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
    if request.budget is not None:
        index = most_powerful(candidates, budget_cents=int(request.budget * 100))
        if index is None:
            least = Decimal(int(candidates.cents.min())) / 100
            raise InputError(
                f"No design within a budget of {request.budget}: within these limits the cheapest costs "
                f"{least:.2f}."
            )
    elif request.confidence is not None:
        return _confident_place(request, candidates, best)
    else:
        index = cheapest(candidates, target=request.target)
        if index is None:
            index = most_powerful(candidates)
    return int(np.searchsorted(candidates.cents[best], candidates.cents[index], side="right")) - 1


def _exact_place(
    request: PlanRequest,
    settings: Mapping[str, Parameters],
    candidates: Candidates,
    best: np.ndarray,
    place: int,
) -> int:
    """The same place, or the next on the front whose exact power reaches the target: unpaired designs
    and those with documents are ranked by an approximate df, and all without the looks."""
    exact = all(request.space.pairings) and request.looks is None and not request.space.documents
    if request.budget is not None or exact:
        return place
    judged = list(settings.values()) if request.robust else [next(iter(settings.values()))]
    while True:
        counts = candidates.counts(int(best[place]))
        if min(_formula(request, one, counts) for one in judged) >= request.target:
            return place
        above = _next_above(candidates, best, place, 0.005)
        if above is None:
            return place
        place = above


def _confident_place(request: PlanRequest, candidates: Candidates, best: np.ndarray) -> int:
    """The first design on the front whose power reaches the target with the wanted confidence."""
    assert request.uncertainty is not None
    assert request.confidence is not None

    def surely(place: int) -> bool:
        assert request.uncertainty is not None
        assert request.confidence is not None
        found = assurance(
            request.uncertainty,
            candidates.counts(int(best[place])),
            effect=request.effect,
            latent=_first_latent(request),
            rule=request.rule,
            documents=request.assumed.entries[0].parameters,
        )
        return found.quantile(1 - request.confidence) >= request.target

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
    done: int = 0

    def work(self, counts: StudyCounts) -> Workload:
        """Of the proofs of a design and of its neighbours."""
        study = _study(self.request, counts, next(iter(self.settings.values())))
        n = _USUAL_PROOFS * self.n_simulations
        if self.request.looks is not None:
            return study_workload(study.design, n_simulations=n, n_jobs=self.n_jobs)
        return rating_study_workload(study, n_simulations=n, n_jobs=self.n_jobs)

    def prove(self, counts: StudyCounts) -> Option:
        """The design with its price, its power by formula and by simulation."""
        request = self.request
        powers = {name: _formula(request, each, counts) for name, each in self.settings.items()}
        cost = cost_of(counts, request.costs)
        judged = self.settings[_judged(request, powers)]
        part = part_of(self.progress, self.done, _MOST_PROOFS + _USUAL_PROOFS)
        self.done += 1
        if request.looks is None:
            simulated = estimate_power(
                _study(request, counts, judged),
                n_simulations=self.n_simulations,
                seed=self.seed,
                n_jobs=self.n_jobs,
                progress=part,
            )
            _refuse_too_strict(request, counts, simulated)
            return Option(counts, cost, powers, simulated)
        found = prove(
            judged,
            counts,
            request.looks,
            request.rule,
            costs=request.costs,
            n_simulations=self.n_simulations,
            seed=self.seed,
            n_jobs=self.n_jobs,
        )
        if part is not None:
            part(self.n_simulations, self.n_simulations)
        return Option(counts, cost, powers, found.simulated, found)

    def rules(self, option: Option) -> PlannedRules | None:
        """The rules by which workers are left out, and what they cost this design; None without any."""
        request, judged = self.request, self.settings[_judged(self.request, option.powers)]
        found = option.simulated if isinstance(option.simulated, PowerEstimate) else None
        study = _study(request, option.counts, judged)
        known = found if request.looks is None else None
        return planned_rules(study, known, seed=self.seed, n_jobs=self.n_jobs)


def _formula(request: PlanRequest, parameters: Parameters, counts: StudyCounts) -> float:
    """Power by formula, with the looks if there are any."""
    if request.looks is None:
        return counts_power(parameters, counts, rule=request.rule)
    return formula_power(parameters, counts, request.looks, request.rule)


def _judged(request: PlanRequest, powers: Mapping[str, float]) -> str:
    """The setting that the design is judged by: the worst if robust, else the first."""
    return min(powers, key=lambda name: powers[name]) if request.robust else next(iter(powers))


def _falls_short(request: PlanRequest, option: Option) -> bool:
    """Whether simulation contradicts a promise of the formula, beyond Monte Carlo error."""
    if request.budget is not None or option.simulated is None:
        return False
    return math.isnan(option.simulated.power) or option.simulated.interval[1] < request.target


def _affordable(request: PlanRequest, candidates: Candidates, index: int) -> bool:
    return request.budget is None or int(candidates.cents[index]) <= int(request.budget * 100)


def _next_above(candidates: Candidates, best: np.ndarray, place: int, step: float) -> int | None:
    power = candidates.worst_power[best]
    above = np.flatnonzero(power >= power[place] + step)
    return int(above[0]) if len(above) else None


def _next_below(candidates: Candidates, best: np.ndarray, place: int, step: float) -> int | None:
    power = candidates.worst_power[best]
    below = np.flatnonzero(power <= power[place] - step)
    return int(below[-1]) if len(below) else None


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
