"""The ledger of a finished study with looks, held against the ratings that are analysed."""

from __future__ import annotations

from dataclasses import replace

from humeval_power.errors import InputError, Problem
from humeval_power.inference.field.worker_exclusion import WorkerExclusion
from humeval_power.interfaces.cli.monitor.secret import secret_of_rows
from humeval_power.interfaces.formats.monitor.entries import LedgerState, state_of
from humeval_power.interfaces.formats.monitor.ledger import ledger_path, read_ledger
from humeval_power.interfaces.formats.monitor.rows import row_digests
from humeval_power.interfaces.formats.monitor.secret import StudySecret, secret_path
from humeval_power.planning.analyze import Deviation, LooksTaken
from humeval_power.planning.monitor.followed import data_of, monitoring_of, same_sums
from humeval_power.planning.monitor.systems import as_planned
from humeval_power.planning.plan.plan import Plan
from humeval_power.ratings import Ratings


def looks_of_study(
    plan: Plan,
    plan_path: str,
    ledger: str | None,
    ratings: Ratings,
    *,
    secret: str | None = None,
    exclusion: WorkerExclusion | None = None,
) -> LooksTaken:
    """Read the ledger of a study with looks, and check that these are the ratings of its last look.

    ratings : all of them; looks see also those of workers whom the `exclusion` leaves out of their tests.

    Raises
    ------
    InputError
        No looks, a study that has not ended, or ratings that its last look did not see.
    """
    from humeval_power.interfaces.formats.plan.plan_file import read_plan_file

    path = ledger_path(plan_path, ledger)
    checksum = read_plan_file(plan_path).checksum
    entries, secret_file = read_ledger(path), secret_path(path, secret)
    if plan.many is not None:
        ratings = as_planned(ratings, plan)
    found = state_of(entries, monitoring_of(plan), checksum, place=path, by=ratings.scale)
    taken = LooksTaken(state=found.monitoring, ledger=path)
    kept = secret_of_rows(found, entries, path, secret_file)
    return replace(
        taken, unchecked=_check_ratings(found, plan, ratings, exclusion, path, secret_file, kept)
    )


def _check_ratings(
    found: LedgerState,
    plan: Plan,
    ratings: Ratings,
    exclusion: WorkerExclusion | None,
    path: str,
    secret_file: str,
    secret: StudySecret | None,
) -> tuple[Deviation, ...]:
    """Refuse other ratings than those of the last look; without the secret, by their sums, which is said."""
    if secret is None:
        last = found.monitoring.looks[-1].data
        tested = ratings if exclusion is None else exclusion.remaining(ratings)
        same = same_sums(data_of(tested, plan, final=last.final), last)
    else:
        same = dict(row_digests(ratings, plan.systems, secret)) == found.rows
    if not same:
        rule = "these are not the ratings that the last look saw."
        raise InputError([Problem(rule, f"Analyse those; {path} tells.", place=ratings.source)])
    gone = found.withdrawal
    withdrew = () if gone is None else (Deviation("participants", "all whom the looks saw", gone),)
    if secret is not None:
        return withdrew
    said = (
        f"{secret_file} is missing: only counts, estimate and SE were compared with the last look's, and the "
        f"lines of {path} could have been sealed anew"
    )
    return (*withdrew, Deviation("ratings", "each as the last look saw it", said))
