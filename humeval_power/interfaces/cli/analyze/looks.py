"""What `analyze` says of a study with looks: its ledger, and the inference that takes them into account."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from humeval_power.errors import InputError, Problem
from humeval_power.inference.looks.stagewise import stagewise_inference
from humeval_power.interfaces.cli.monitor.secret import secret_of_rows
from humeval_power.interfaces.cli.output import note, wrapped
from humeval_power.interfaces.formats.monitor.entries import LedgerState, row_digests, state_of
from humeval_power.interfaces.formats.monitor.ledger import ledger_path, read_ledger
from humeval_power.interfaces.formats.monitor.secret import secret_path
from humeval_power.planning.analyze import Deviation
from humeval_power.planning.monitor.look_data import look_data, same_sums
from humeval_power.planning.monitor.state import Monitoring
from humeval_power.planning.monitor.step import (
    NO_DEPARTURE,
    estimates,
    study_monitoring,
    taken_boundaries,
)
from humeval_power.planning.plan.plan import Plan
from humeval_power.ratings import Ratings
from humeval_power.reporting.numbers import p_words

SUCCESS = ("stop-success", "end-success")


class SequentialPart(NamedTuple):
    """The `sequential` section of an analysis record, its words, departures from the planned looks, and the
    planned look at which a boundary stopped the study (None: another look, or the end)."""

    record: dict[str, object]
    text: str
    deviations: tuple[Deviation, ...]
    stopped_at: int | None


def sequential_part(
    plan: Plan, plan_path: str, ledger: str | None, ratings: Ratings, *, secret: str | None = None
) -> SequentialPart:
    """Read the ledger of a study with looks, check that these are the ratings of its last look, and infer.

    Raises
    ------
    InputError
        No looks, a study that has not ended, or ratings that its last look did not see.
    """
    from humeval_power.interfaces.formats.plan.plan_file import read_plan_file

    path = ledger_path(plan_path, ledger)
    start = study_monitoring(plan)
    found = state_of(
        read_ledger(path), start, read_plan_file(plan_path).checksum, place=path, scale=ratings.scale
    )
    state = found.monitoring
    if not state.ended:
        how = "has no look yet" if not state.looks else "goes on"
        rule = f"the study {how}: the plan allows its result to be read at planned looks alone."
        remedy = (
            "Take the look first (humeval-power monitor); at the end say --final if ratings are missing."
        )
        raise InputError([Problem(rule, remedy, place=path)])
    unchecked = _check_ratings(found, plan, ratings, path, secret_path(path, secret))
    inference = stagewise_inference(estimates(state), taken_boundaries(state))
    shown = state.looks[-1].decision in SUCCESS
    record: dict[str, object] = {
        "ledger": Path(path).name,
        "rule": str(state.rule),
        "by": state.unit,
        "decision": state.looks[-1].decision,
        "significant": shown,
        "inference": asdict(inference),
        "looks": [asdict(look) for look in state.looks],
    }
    low, high = inference.interval
    last = state.looks[-1]
    text = wrapped(
        f"{len(state.looks)} looks were taken ({state.rule.efficacy}); the last one "
        f"{'passed its boundary' if shown else 'did not pass its boundary'} "
        f"({p_words(last.data.p_value)}, needed {last.nominal:.5f}). "
        "Taking the looks into account (stage-wise ordering): "
        f"{p_words(inference.p_value)}, median-unbiased estimate {inference.estimate:.4f}, "
        f"{100 * inference.confidence:g} % interval {low:.4f} to {high:.4f}. "
        "Report these; the plain ones above ignore that the study could have stopped earlier.",
        bullet="Looks     ",
    )
    stopped_at = last.planned if last.decision.startswith("stop") else None
    return SequentialPart(record, text, (*unchecked, *_departures(state)), stopped_at)


def _check_ratings(
    found: LedgerState, plan: Plan, ratings: Ratings, path: str, secret_file: str
) -> tuple[Deviation, ...]:
    """Refuse other ratings than those of the last look; without the secret, by their sums, which is said."""
    secret = secret_of_rows(found, path, secret_file)
    if secret is None:
        last = found.monitoring.looks[-1].data
        same = same_sums(look_data(ratings, plan, final=last.final), last)
    else:
        same = dict(row_digests(ratings, secret)) == found.rows
    if not same:
        rule = "these are not the ratings that the last look saw."
        raise InputError([Problem(rule, f"Analyse those; {path} tells.", place=ratings.source)])
    if secret is not None:
        return ()
    said = f"{secret_file} is missing: only counts, estimate and SE were compared with the last look's"
    note(f"WARNING: {said}. Restore it from a copy, or name it with --secret FILE.")
    return (Deviation("ratings", "each as the last look saw it", said),)


def _departures(state: Monitoring) -> tuple[Deviation, ...]:
    return tuple(
        Deviation(
            f"look {look.number}",
            "looks as the plan says",
            remark + (f" ({look.reason})" if look.reason else ""),
        )
        for look in state.looks
        for remark in look.remarks
        if not remark.startswith(NO_DEPARTURE)
    )
