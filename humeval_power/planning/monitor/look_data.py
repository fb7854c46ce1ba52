"""What a table of ratings holds at a look, by the test of the plan."""

from __future__ import annotations

from humeval_power.errors import FitError
from humeval_power.planning.monitor.state import LookData
from humeval_power.planning.monitor.step import collected_information, collected_share
from humeval_power.planning.plan.plan import Plan
from humeval_power.ratings import Ratings

_SAME = 1e-6  # of the standard error: a fit of the same ratings in another order


def look_data(ratings: Ratings, plan: Plan, *, final: bool = False) -> LookData:
    """Test the ratings as the plan says.

    Raises
    ------
    FitError
        Ratings of which there is no test: the look is not taken.
    InputError
        Ratings without documents, where the plan has them.
    """
    from humeval_power.estimation.crossed.choice import few_fits
    from humeval_power.inference.study.testing import fit_and_test

    plan.check_documents(ratings)
    with few_fits():
        _, tested = fit_and_test(ratings, plan.rule)
    if tested.reason:
        raise FitError(
            f"This look decides nothing: {tested.reason}. The ledger is as it was, and no error is spent; "
            "collect more ratings and look again."
        )
    return LookData(
        n_ratings=ratings.n_ratings,
        n_workers=ratings.n_workers,
        n_items=ratings.n_items,
        share=collected_share(plan, ratings),
        information=collected_information(plan, ratings),
        estimate=tested.estimate,
        standard_error=tested.standard_error,
        df=tested.df,
        p_value=tested.p_value,
        final=final,
    )


def same_sums(one: LookData, other: LookData) -> bool:
    """Whether two looks have the same counts, estimate and standard error: what can be compared where the single
    ratings cannot."""
    counts = [(each.n_ratings, each.n_workers, each.n_items) for each in (one, other)]
    close = _SAME * other.standard_error
    return (
        counts[0] == counts[1]
        and abs(one.estimate - other.estimate) <= close
        and abs(one.standard_error - other.standard_error) <= close
    )
