"""`humeval-power monitor`: a planned look at ratings that are still coming in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from humeval_power.asking.adapting import two_systems
from humeval_power.asking.calls import TypedValues
from humeval_power.asking.command import Use
from humeval_power.asking.declared import Calls, Declaration
from humeval_power.asking.output import note
from humeval_power.asking.study_values import StudyValues
from humeval_power.asking.vocabulary import RATINGS, TABLE
from humeval_power.fields import flag, own, text
from humeval_power.studies.plan.ask_held import (
    AMEND,
    LEDGER_SECRET,
    amend_followed,
    plan_path,
    table_by_plan,
)
from humeval_power.study import FIELDS

if TYPE_CHECKING:
    from humeval_power.studies.monitor.result import MonitorResult
    from humeval_power.studies.plan.files import PlanFile
    from humeval_power.studies.plan.files_looks import LooksFile


def _monitor(given: TypedValues, calls: Calls) -> None:
    taken: Any = _look(given)
    calls.let("result", taken)


def _look(given: TypedValues) -> MonitorResult:
    study = StudyValues.of(given.context)
    file = study.ratings
    if (file is None) is not given["status"]:
        raise click.UsageError("Give RATINGS for a look, or --status to see those taken.")
    from humeval_power.files.private_files import ledger_path
    from humeval_power.files.tables import read_rating_table
    from humeval_power.studies.field.worker_quality import exclusion_words
    from humeval_power.studies.fit.wald import has_few_points
    from humeval_power.studies.items.files import read_pool
    from humeval_power.studies.loading import check_ratings, excluded
    from humeval_power.studies.looks.judgement_plan import JudgementPlan
    from humeval_power.studies.looks.repeated import near_an_end
    from humeval_power.studies.monitor.files import rows_of_observations, rows_of_ratings, secret_path
    from humeval_power.studies.monitor.followed import check_pool_at_looks, data_of
    from humeval_power.studies.monitor.systems import as_planned
    from humeval_power.studies.monitor.taking import (
        LookRequest,
        load_observations,
        looks_taken,
        refuse_rehearsed,
        take_look,
    )

    plan = study.plan
    planned = _followed(plan, given["amend"])
    path = ledger_path(plan, study.ledger)
    key = secret_path(path, given["secret"])
    if file is None:
        return looks_taken(planned, path, key)
    final = given["final"]
    pool = None if study.pool is None else read_pool(study.pool)
    if pool is not None:
        check_pool_at_looks(planned.plan, pool)
    request = LookRequest(
        path, key, _one_line(given["new_secret"] or ""), _one_line(given["unplanned"] or ""), final, pool
    )
    if isinstance(planned.plan, JudgementPlan):
        seen = load_observations(file, planned.plan, study)
        refuse_rehearsed(seen.worker or (), plan, path, source=seen.source)
        data = data_of(seen, planned.plan, final=final)
        return take_look(planned, data, rows_of_observations(seen, planned.plan), request)
    by_plan = table_by_plan(planned.plan, study)
    if by_plan.scale is None:
        raise click.UsageError(
            "The plan has no scale, and one taken from the ratings would change from look to look: "
            "give --scale LOW:HIGH."
        )
    table = read_rating_table(file)
    several = planned.plan.many is not None
    ratings = check_ratings(table, by_plan, require_pair=not several)
    there = ratings.system_names
    if several:
        ratings = as_planned(ratings, planned.plan)
    if there != planned.plan.systems and (not several or set(there) != set(planned.plan.systems)):
        named = zip(planned.plan.systems, there, strict=True)
        note(f"The plan's {', and its '.join(f'{one} is {name!r}' for one, name in named)}.")
    refuse_rehearsed(ratings.worker_names, plan, path, source=ratings.source)
    tested, exclusion = ratings, excluded(table, [ratings], planned.plan)
    if exclusion is not None:
        tested = exclusion.remaining(ratings)
        note(exclusion_words(exclusion))
    looks = planned.plan.looks
    if looks is not None and looks.stop_when is not None and not several and has_few_points(tested):
        near = near_an_end(float(tested.rating.mean()))
        if near is not None:
            note(f"These ratings have {near}")
    rows = rows_of_ratings(ratings, planned.plan.systems)
    return take_look(planned, data_of(tested, planned.plan, final=final, pool=pool), rows, request)


def _followed(plan: str, amend: str | None) -> PlanFile | LooksFile:
    """The plan that the study follows; its file is written anew first where it is amended."""
    from humeval_power.studies.monitor.followed import monitoring_of
    from humeval_power.studies.plan.files_looks import read_followed

    amend_followed(plan, amend)
    planned = read_followed(plan)
    monitoring_of(planned.plan)  # refuses a plan without looks before its ratings are read
    return planned


def _one_line(text: str) -> str:
    """A reason as the ledger holds it: bytes of the command line that are no text are shown as such."""
    return " ".join(text.encode("utf-8", "backslashreplace").decode().split())


DECLARED = Declaration(
    ("monitor",),
    """May we stop? One look at the ratings so far, by the plan.

    RATINGS are all ratings so far, those of earlier looks included; or all
    scores, preferences or answers, by a plan of looks at independent judgements.
    The look is added to a ledger that is never rewritten; the same look at the
    same data is shown again, at other data it is refused. Workers beyond the
    limits that the plan seals are left out of each test by what is known of
    them then. Keep the secret beside the ledger, and do not publish it.
    """,
    {
        "ratings": replace(FIELDS["ratings"], kind=text("[RATINGS]", is_file=True)),
        **RATINGS,
        "document": TABLE["document"],
        "plan": replace(
            FIELDS["plan"],
            note=", with its looks: plan.json, or looks.json of independent judgements.",
            needed=True,
        ),
        "ledger": FIELDS["ledger"],
        "pool": replace(
            FIELDS["pool"],
            note="It is the same at every look: the intervals are about what the plan's estimand says.",
        ),
        "amend": AMEND,
        "secret": LEDGER_SECRET,
        "new_secret": own(
            text("REASON"),
            "Go on with a new secret, the old one being lost; recorded.",
            further=True,
        ),
        "final": own(flag(), "No more ratings will come: test for the last time.", usual=False),
        "unplanned": own(
            text("REASON"),
            "Look although no look is due, or go on after futility; recorded, and paid for in level.",
            further=True,
        ),
        "status": own(flag(), "Show the looks so far; take none.", usual=False),
    },
    _monitor,
    arguments=("ratings",),
    of_study=True,
    use=Use(adapts=two_systems),
    read_as={"plan": plan_path},
    no_program="keeps a ledger, which the command alone writes; hp.monitor takes a look without one.",
)
command = DECLARED.command()
