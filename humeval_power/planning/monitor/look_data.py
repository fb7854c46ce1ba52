"""What a table of ratings holds at a look, by the test of the plan."""

from __future__ import annotations

from humeval_power.errors import FitError
from humeval_power.planning.monitor.state import LookData
from humeval_power.planning.monitor.step import collected_information, collected_share
from humeval_power.planning.plan.plan import Plan
from humeval_power.ratings import Ratings


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
