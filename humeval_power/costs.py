"""Costs: what a study costs to the cent, and when publishing its work in copies saves platform fees.

Money is exact: amounts are decimal, sums are made in whole cents. What people are paid is rounded up to
the next cent, a platform's fee half up, as the platforms do; each part is rounded once and the total is
the sum of the parts. Currencies have 100 cents to the unit.

A unit of work is what one worker does in one sitting: an item under all systems where ratings are
paired, otherwise an item under one system. `units_per_assignment` of them make one HIT, which is offered
to as many different workers as an item gets ratings under each system.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humeval_power.choices import CURRENCY, UNITS_PER_ASSIGNMENT
from humeval_power.designs import Design
from humeval_power.errors import InputError, Problem, field_problem, refuse
from humeval_power.fees import NO_FEE, ZERO, as_dict, build, is_whole, settle
from humeval_power.fees import PlatformFee as PlatformFee
from humeval_power.kernels.pricing import Charge, Whole, charge_by_assignment, charge_by_study, up, whole
from humeval_power.study_counts import StudyCounts as StudyCounts
from humeval_power.study_counts import units_of_work

SESSION = 20
"""Ratings that are worth a worker's instructions: ten minutes of work at half a minute each."""
_CENT = Decimal("0.01")
_MOST_CENTS = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class CostModel:
    """Prices of a study. Work is priced by the rating, or by the hour and the seconds of a rating.

    Amounts are exact decimals; numbers and text are accepted too (0.12 is read as "0.12").

    cost_per_worker : once for each recruited worker (qualification, training), with any fee on it.
    cost_per_document : once for each document that items come out of (its choice, its licence).
    cost_per_item, cost_per_output : once for each item (a reference), and for each item and system (a
        generated text).
    rejected_share : of the submitted work, what is paid for, thrown away and collected again. Work that
        is rejected without pay costs nothing and does not belong here.
    checks_per_rating : paid attention checks for each planned rating.
    repeats_per_rating : outputs shown to a worker once more, paid as a rating, for each planned rating.
    units_per_assignment : units of work in one HIT (see the module).
    split_hits : whether HITs are published in copies, each below the number of assignments from which
        the platform charges more.
    """

    price_per_rating: Decimal | None = None
    pay_per_hour: Decimal | None = None
    seconds_per_rating: Decimal | None = None
    cost_per_worker: Decimal = ZERO
    cost_per_document: Decimal = ZERO
    cost_per_item: Decimal = ZERO
    cost_per_output: Decimal = ZERO
    rejected_share: Decimal = ZERO
    checks_per_rating: Decimal = ZERO
    repeats_per_rating: Decimal = ZERO
    fee: PlatformFee = NO_FEE
    units_per_assignment: int = UNITS_PER_ASSIGNMENT
    split_hits: bool = False
    currency: str = CURRENCY

    def __post_init__(self) -> None:
        optional = ("price_per_rating", "pay_per_hour", "seconds_per_rating")
        given = tuple(name for name in optional if getattr(self, name) is not None)
        once = ("cost_per_worker", "cost_per_document", "cost_per_item", "cost_per_output")
        prices = (*given, *once)
        problems = self._pay_problems(given)
        shares = ("rejected_share", "checks_per_rating", "repeats_per_rating")
        problems += settle(self, shares=shares, amounts=prices)
        if self.seconds_per_rating == 0:
            problems.append(
                field_problem("seconds_per_rating", self.seconds_per_rating, "must be above 0.")
            )
        if not isinstance(self.fee, PlatformFee):
            problems.append(field_problem("fee", self.fee, "must be a PlatformFee."))
        if not is_whole(self.units_per_assignment, 1):
            rule = "must be a whole number of at least 1."
            problems.append(field_problem("units_per_assignment", self.units_per_assignment, rule))
        if not isinstance(self.split_hits, bool):
            problems.append(field_problem("split_hits", self.split_hits, "must be true or false."))
        if not isinstance(self.currency, str) or not re.fullmatch("[A-Z]{3}", self.currency):
            problems.append(
                field_problem("currency", self.currency, "must be three capital letters, such as USD.")
            )
        refuse(problems)

    def _pay_problems(self, given: tuple[str, ...]) -> list[Problem]:
        if "price_per_rating" in given and "pay_per_hour" in given:
            rule = "price_per_rating and pay_per_hour both say what a rating costs."
            return [Problem(rule, "Give one of them.")]
        if "pay_per_hour" in given and "seconds_per_rating" not in given:
            return [Problem("pay_per_hour needs seconds_per_rating.", "Take the median of a pilot.")]
        if not {"price_per_rating", "pay_per_hour"} & set(given):
            remedy = "Give price_per_rating, or pay_per_hour with seconds_per_rating."
            return [Problem("nothing says what a rating costs.", remedy)]
        return []

    @property
    def pays_workers(self) -> bool:
        """Whether one more worker costs something, whatever they rate."""
        return bool(self.cost_per_worker or self.fee.per_worker)

    @property
    def exact_price(self) -> Fraction:
        """Price of one rating, in currency units, not rounded."""
        if self.price_per_rating is not None:
            return Fraction(self.price_per_rating)
        assert self.pay_per_hour is not None  # __post_init__ requires a price
        assert self.seconds_per_rating is not None
        return Fraction(self.pay_per_hour) * Fraction(self.seconds_per_rating) / 3600

    @property
    def hourly_pay(self) -> Decimal | None:
        """What workers earn per hour, rounded down to the cent; None if no time per rating is known."""
        if self.seconds_per_rating is None:
            return None
        return _money(math.floor(100 * self.exact_price * 3600 / Fraction(self.seconds_per_rating)))

    def reward(self, outputs: int) -> Decimal:
        """What one worker gets for so many outputs, rounded up to the cent."""
        return _money(math.ceil(100 * self.exact_price * outputs))

    def as_dict(self) -> dict[str, object]:
        """The fields for a document: amounts as text, the fee as a dictionary; repeats only where there are any."""
        values = as_dict(self)
        if not self.repeats_per_rating:
            del values["repeats_per_rating"]
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, object]) -> CostModel:
        """Read what `as_dict` writes; every problem is reported at once."""
        read, problems = dict(values), []
        if isinstance(values.get("fee"), Mapping):
            try:
                read["fee"] = PlatformFee.from_dict(values["fee"])  # type: ignore[arg-type]
            except InputError as error:
                problems = list(error.problems)
                del read["fee"]
        return build(cls, read, required=(), problems=problems)


def least_of_a_worker(costs: CostModel | None) -> int:
    """Ratings that each worker of a practical design gives: a short session where nothing says what one more worker
    costs, as designs of the fewest ratings are then those of ever more workers with a few ratings each."""
    return 0 if costs is not None and costs.pays_workers else SESSION


def money(amount: Decimal | float, currency: str) -> str:
    """An amount in words: '1,234.50 USD'; a price finer than a cent keeps its digits."""
    exact = Decimal(str(amount))
    digits = "" if isinstance(amount, Decimal) and exact != exact.quantize(_CENT) else ".2"
    return f"{exact:,{digits}f} {currency}"


@dataclass(frozen=True, slots=True)
class Cost:
    """What a study costs, part by part, in currency units to the cent.

    ratings : pay for the planned ratings. attention_checks, repeats, rejected_work : pay beyond them.
    fees : everything that the platform adds, also to checks and to repeated work.
    n_ratings : planned ratings. assignments_per_hit : different workers on a unit of work, the largest.
    notes : what to know before trusting the numbers.
    """

    ratings: Decimal
    attention_checks: Decimal
    rejected_work: Decimal
    workers: Decimal
    items: Decimal
    fees: Decimal
    currency: str
    n_ratings: int
    assignments_per_hit: int
    notes: tuple[str, ...] = ()
    documents: Decimal = ZERO
    repeats: Decimal = ZERO

    @property
    def parts(self) -> dict[str, Decimal]:
        """The parts by name, in the order in which they are shown; repeats only where they cost something."""
        work = ("ratings", "attention_checks", *(("repeats",) if self.repeats else ()), "rejected_work")
        names = (*work, "workers", "documents", "items", "fees")
        return {name: getattr(self, name) for name in names}

    @property
    def total(self) -> Decimal:
        """The sum of the parts."""
        return sum(self.parts.values(), ZERO)

    @property
    def cents(self) -> int:
        """The total in whole cents."""
        return int(self.total / _CENT)

    def __str__(self) -> str:
        return money(self.total, self.currency)


@dataclass(frozen=True, slots=True)
class Rewards:
    """What workers are paid place by place, and the platform's fee on it, in currency units to the cent."""

    paid: Decimal
    fee: Decimal

    @property
    def total(self) -> Decimal:
        """Both together."""
        return self.paid + self.fee


@dataclass(frozen=True, slots=True)
class SplitAdvice:
    """Publishing every HIT in copies instead of once.

    copies : assignments of each copy of the HIT with the most assignments.
    """

    copies: tuple[int, ...]
    once: Cost
    split: Cost

    @property
    def saving(self) -> Decimal:
        """What the copies save, in currency units."""
        return self.once.total - self.split.total

    def __str__(self) -> str:
        shape = " + ".join(str(count) for count in self.copies)
        return (
            f"Publish each HIT in {len(self.copies)} copies of {shape} assignments instead of once with "
            f"{sum(self.copies)}: this saves {money(self.saving, self.once.currency)} of fees "
            f"({self.split} instead of {self.once}). Keep workers of one copy out of the others, for "
            "example with a qualification."
        )


def cost_of(study: Design | StudyCounts, model: CostModel) -> Cost:
    """Price a study.

    A design that its counts do not describe (nested, counterbalanced, a table) is priced from its
    assignment; there, a worker rates all systems of an item in one sitting if all workers rate all.
    """
    n_outputs, groups = units_of_work(study)
    units, workers, ratings = (whole(column)[:, None] for column in zip(*groups, strict=True))
    work = _charge(model, units, workers, ratings)
    counts = (study.n_workers, study.n_items, n_outputs, study.n_documents)
    once = _fixed(model, *map(whole, counts))
    _check_total(_total(work, once)[0])
    return Cost(
        ratings=_money(work.ratings[0]),
        attention_checks=_money(work.checks[0]),
        rejected_work=_money(work.redone[0]),
        workers=_money(once.workers[0]),
        items=_money(once.items[0]),
        fees=_money(work.fees[0] + once.fees[0]),
        currency=model.currency,
        n_ratings=sum(n * k * each for n, k, each in groups),
        assignments_per_hit=max(k for _, k, _ in groups),
        notes=(model.fee.caveat,) if model.fee.caveat else (),
        documents=_money(once.documents[0]),
        repeats=_money(work.repeats[0]),
    )


def rewards_of(outputs: Sequence[int], model: CostModel, *, alike: bool) -> Rewards:
    """Price places that each pay one reward, each filled once.

    outputs : shown at each place, repeats and attention checks among them.
    alike : all pay the reward of the place with the most outputs, as one study at Prolific does; else each its own.
    """
    shown = [max(outputs)] * len(outputs) if alike else outputs
    paid = sum((model.reward(count) for count in shown), ZERO)
    return fee_on(paid, model.fee)


def fee_on(paid: Decimal, fee: PlatformFee) -> Rewards:
    """Rewards with the fee of a platform that takes a share of all that a study pays."""
    return Rewards(paid, (paid * fee.share).quantize(_CENT, ROUND_HALF_UP))


def costs_of_counts(
    model: CostModel,
    *,
    n_workers: ArrayLike,
    n_items: ArrayLike,
    ratings_per_item: ArrayLike,
    paired: ArrayLike = True,
    n_repeats: ArrayLike = 1,
    n_documents: ArrayLike = 0,
    n_systems: int = 2,
) -> NDArray[np.int64]:
    """Total costs of many studies in whole cents: `cost_of(StudyCounts(...), model).cents` of each.

    The arguments are broadcast against each other and give the shape of what comes back.

    Raises InputError: a count that is not a whole number of at least 1 (documents: 0), or a total that does
    not fit 64 bits.
    """
    counts = {
        "n_workers": np.asarray(n_workers),
        "n_items": np.asarray(n_items),
        "ratings_per_item": np.asarray(ratings_per_item),
        "n_repeats": np.asarray(n_repeats),
    }
    _check_counts(counts, least=1)
    nested = {"n_documents": np.asarray(n_documents)}
    _check_counts(nested, least=0)
    *columns, both = np.broadcast_arrays(*counts.values(), *nested.values(), np.asarray(paired, dtype=bool))
    workers, items, k, repeats, documents = (whole(column.ravel()) for column in columns)
    in_a_unit = whole(np.where(both.ravel(), n_systems, 1))
    units = items * repeats * whole(np.where(both.ravel(), 1, n_systems))  # unpaired: one for each system
    work = _charge(model, units[None], k[None], in_a_unit[None])
    once = _fixed(model, workers, items, n_systems * items, documents)
    total = _total(work, once)
    _check_total(total.max(initial=0))
    return np.asarray(total.astype(np.int64).reshape(both.shape))


def split_advice(study: Design | StudyCounts, model: CostModel) -> SplitAdvice | None:
    """Whether publishing HITs in copies, each below the number of assignments from which the platform
    charges more, is cheaper than publishing each once; None if it is not."""
    once, split = (cost_of(study, replace(model, split_hits=choice)) for choice in (False, True))
    if model.fee.extra_from is None or split.total >= once.total:
        return None
    n_copies = -(-once.assignments_per_hit // (model.fee.extra_from - 1))
    each, rest = divmod(once.assignments_per_hit, n_copies)
    return SplitAdvice((each + 1,) * rest + (each,) * (n_copies - rest), once, split)


@dataclass(frozen=True, slots=True, eq=False)
class _Fixed:
    """Cents that do not depend on the number of ratings, each of shape (n,)."""

    workers: Whole
    items: Whole
    documents: Whole
    fees: Whole


def _fixed(
    model: CostModel, n_workers: Whole, n_items: Whole, n_outputs: Whole, n_documents: Whole
) -> _Fixed:
    by_item, by_output = _cents(model.cost_per_item), _cents(model.cost_per_output)
    shared = by_item.denominator * by_output.denominator  # so that both are added before rounding
    items = n_items * int(by_item * shared) + n_outputs * int(by_output * shared)
    return _Fixed(
        workers=up(n_workers, _cents(model.cost_per_worker)),
        items=up(items, Fraction(1, shared)),
        documents=up(n_documents, _cents(model.cost_per_document)),
        fees=up(n_workers, _cents(model.fee.per_worker)),
    )


def _total(work: Charge, once: _Fixed) -> Whole:
    parts = (*work, once.workers, once.items, once.documents, once.fees)
    return np.asarray(sum(parts))


def _check_total(cents: int) -> None:
    if cents > _MOST_CENTS:
        raise InputError("A study would cost more cents than 64 bits can hold: are prices and sizes right?")


def _charge(model: CostModel, units: Whole, workers: Whole, ratings: Whole) -> Charge:
    fee, rejected = model.fee, Fraction(model.rejected_share)
    price = 100 * model.exact_price
    checks, repeats = Fraction(model.checks_per_rating), Fraction(model.repeats_per_rating)
    again = rejected / (1 - rejected)
    if fee.charged_per == "study":
        share = Fraction(fee.share)
        return charge_by_study(
            units, workers, ratings, price=price, checks=checks, repeats=repeats, again=again, share=share
        )
    return charge_by_assignment(
        units,
        workers,
        ratings,
        price=price,
        checks=checks,
        repeats=repeats,
        again=again,
        share=Fraction(fee.share),
        minimum=int(up(whole(1), _cents(fee.minimum_per_assignment))[0]),
        extra_share=Fraction(fee.extra_share),
        extra_from=None if model.split_hits else fee.extra_from,
        units_per_assignment=model.units_per_assignment,
    )


def _check_counts(counts: Mapping[str, NDArray[np.int64]], *, least: int) -> None:
    bad = [
        Problem(f"must be whole numbers of at least {least}.", "", column=name)
        for name, values in counts.items()
        if not np.issubdtype(values.dtype, np.integer) or (values < least).any()
    ]
    refuse(bad)


def _cents(amount: Decimal) -> Fraction:
    return 100 * Fraction(amount)


def _money(cents: int) -> Decimal:
    return Decimal(cents).scaleb(-2)
