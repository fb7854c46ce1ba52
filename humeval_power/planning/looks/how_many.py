"""How many looks are worth it, by recursive integration; and what new workers would add to each look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from humeval_power.errors import InputError
from humeval_power.inference.looks.boundaries import Boundaries, boundaries, success
from humeval_power.inference.looks.stopping_rule import StoppingRule
from humeval_power.planning.looks.rating_looks import LookRow, look_rows
from humeval_power.scenarios.looks.looks import LookKind, equal_looks
from humeval_power.scenarios.looks.ratings import RatingLooks

MOST_POWER_LOST = 0.05
LEAST_SAVING = 0.02


@dataclass(frozen=True, slots=True)
class LooksChoice:
    """A number of equally spaced looks at the same largest study, as it would be for z-values.

    `expected` has the expected share of the ratings without an effect, with half of the planned one and with
    all of it; `power` is at the planned effect.
    """

    n_looks: int
    power: float
    expected: tuple[float, float, float]
    recommended: bool = False

    @property
    def mean_expected(self) -> float:
        """Mean of the three expected shares."""
        return sum(self.expected) / 3


def compare_numbers_of_looks(study: RatingLooks, rule: StoppingRule, *, most: int = 5) -> list[LooksChoice]:
    """One to `most` equal looks of the study's kind. Recommended is the smallest number whose successor saves
    less than 2 % of the ratings more, among those that lose at most 5 points of power to a single look.

    Looks that the study is too small for are left out.

    Raises
    ------
    InputError
        A study without an effect: there is nothing to find.
    """
    if study.true_effect == 0:
        raise InputError("The number of looks is judged at the planned effect; it must not be 0.")
    choices = []
    for n_looks in range(1, most + 1):
        try:
            rows = look_rows(replace(study, looks=equal_looks(study.looks.kind, n_looks)))
            choices.append(_choice(study, rule, rows))
        except InputError:
            if n_looks == 1:
                raise
            break
    return _recommended(choices)


def _choice(study: RatingLooks, rule: StoppingRule, rows: Sequence[LookRow]) -> LooksChoice:
    drift = abs(study.true_effect) / rows[-1].precision.standard_error
    plain = rule if len(rows) > 1 else replace(rule, futility=None)
    bounds = boundaries(plain, [row.information_share for row in rows], drift=drift)
    shares = [row.size_share for row in rows]
    expected = tuple(expected_size(bounds, shares, part * drift) for part in (0.0, 0.5, 1.0))
    return LooksChoice(len(rows), success(bounds, drift), (expected[0], expected[1], expected[2]))


def expected_size(bounds: Boundaries, sizes: Sequence[float], drift: float) -> float:
    """Mean size at stopping for z-values; `sizes` are those at the looks."""
    exits = bounds.exits(drift)
    leaving = exits.above + exits.below + exits.inside
    leaving[-1] = 1.0 - leaving[:-1].sum()
    return float(leaving @ sizes)


def _recommended(choices: list[LooksChoice]) -> list[LooksChoice]:
    allowed = [each for each in choices if choices[0].power - each.power <= MOST_POWER_LOST]
    best = allowed[0]
    for following in allowed[1:]:
        if best.mean_expected - following.mean_expected < LEAST_SAVING:
            break
        best = following
    return [replace(each, recommended=each is best) for each in choices]


@dataclass(frozen=True, slots=True)
class Growth:
    """How information grows if looks come by `kind`, with the same numbers of workers and items at the end:
    shares of the information at each look, the standard error at the end, and the ratings it takes."""

    kind: LookKind
    information_shares: tuple[float, ...]
    standard_error: float
    n_ratings: int
    first_workers: int


def compare_growth(study: RatingLooks) -> list[Growth]:
    """Looks by items, workers, ratings and blocks at the same shares; kinds that cannot be are left out."""
    found = []
    kinds: tuple[LookKind, ...] = ("items", "workers", "ratings", "blocks")
    for kind in kinds:
        try:
            rows = look_rows(replace(study, looks=replace(study.looks, kind=kind)))
        except InputError:
            continue
        shares = tuple(row.information_share for row in rows)
        last = rows[-1]
        error = last.precision.standard_error
        found.append(Growth(kind, shares, error, last.n_ratings, rows[0].n_workers))
    return found


def new_workers_advice(study: RatingLooks, rows: Sequence[LookRow]) -> str | None:
    """A sentence for looks that reuse the same workers; None where each look brings new ones."""
    coded, documents = study.parameters.recoded(), study.design.n_documents
    slope = coded.sd_worker_slope
    if study.looks.kind in ("workers", "blocks") or slope == 0 or len(rows) == 1:
        return None
    ceiling = slope**2 / rows[-1].n_workers
    of = ""
    if documents:
        ceiling += coded.sd_document_slope**2 / documents
        of = f" of {documents} documents"
    reached = ceiling / rows[0].precision.variance
    return (
        f"These looks reuse the same {rows[-1].n_workers} workers. However many items{of} they rate, the standard "
        f"error cannot fall below {ceiling**0.5:.4g}; the first look has {100 * reached:.0f} % of that "
        f"ceiling's information, the last {100 * ceiling / rows[-1].precision.variance:.0f} %. If new workers "
        "can be had, let each look bring its own (looks by blocks, or by workers): information then grows "
        "with every look, and more of them judge."
    )
