"""`humeval-power looks anytime`: an interval that holds after every worker, however many will come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from humeval_power.asking.adapting import one_table
from humeval_power.asking.command import Use
from humeval_power.asking.declared import Page, Part, study_command
from humeval_power.asking.study_values import StudyValues, study_fields
from humeval_power.asking.vocabulary import RATINGS, table_of
from humeval_power.fields import own, whole

if TYPE_CHECKING:
    from humeval_power.studies.looks.result_anytime import AnytimeResult


@study_command(
    ("looks", "anytime"),
    {
        "ratings": table_of(),
        **study_fields("alpha", instead=RATINGS),
        "narrowest_at": own(
            whole(3, 1000),
            "How many workers you expect: the interval is narrowest there, and right at any number. Decide it "
            "before the first look.",
            "Workers that you expect",
            usual=10,
        ),
    },
    arguments=("ratings",),
    use=Use(adapts=one_table),
    page=Page(
        "Look after every worker",
        "Workers come one by one, each with items of his own: an interval that may be looked at after each.",
        (Part("The ratings", ("ratings", "systems", "scale", "narrowest_at")),),
        journey="ratings",
    ),
)
def command(study: StudyValues, narrowest_at: int) -> AnytimeResult:
    """An interval that holds after every worker, at its price.

    RATINGS are all so far, in the order in which workers came, each of whom
    rated items that nobody else did, under both systems. The interval is the
    exact confidence sequence of normal means (t statistics, right-Haar
    mixture). It is wide: plan looks instead where you know how many workers
    there will be. Shared items, and sequences over items or ratings, are
    refused, with the error that they would have.
    """
    from humeval_power.studies.loading import load_ratings
    from humeval_power.studies.looks.calls import anytime

    ratings = load_ratings(study.ratings, study, tell=False)
    return anytime(ratings, narrowest_at=narrowest_at, alpha=study.alpha)
