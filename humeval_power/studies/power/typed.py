"""The one study that `power` and `mde` are asked about.

What is said before long work: how long, how much memory, and a way out; or that it cannot be done.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from humeval_power.asking.output import note
from humeval_power.asking.study_values import StudyValues
from humeval_power.assumptions import Assumptions
from humeval_power.differences import Difference
from humeval_power.errors import InputError
from humeval_power.rules import CARD2020, DecisionRule
from humeval_power.scales import RatingScale
from humeval_power.studies.power.strategies import AnyStudy
from humeval_power.studies.power.systems_study import SystemsStudy
from humeval_power.studies.power.workload import Workload, simulations_within
from humeval_power.studies.resolve import (
    CARD2020_UNIT,
    NO_DIFFERENCE,
    EffectInput,
    analysed_as,
    assumptions_of,
    design_of,
    effect_or_known,
    is_typical,
    only_setting,
    points_of,
    rating_study_of,
    settled,
    warn_beyond,
    without_effect,
)
from humeval_power.studies.resolve_systems import Systems, systems_of, tell_remarks
from humeval_power.sweep.blocks import sweep_in_force

if TYPE_CHECKING:
    from humeval_power.asking.run import Run


def typed_study(
    study: StudyValues, rule: DecisionRule, *, compat: str | None = None
) -> tuple[AnyStudy, str, Difference, RatingScale | None, Assumptions | None]:
    """The study, the name of its setting, the effect as it was understood, the scale, and all that may be assumed
    of its variances."""
    several = systems_of(study, rule)
    if several is not None:
        result, said, scale = study_of_several(several)
        return result, result.setting, said, scale, assumed_of_several(study, rule)
    settings = assumptions_of(study)
    effect = effect_or_known(study, settings) or NO_DIFFERENCE
    if compat and rule.margin is not None:
        raise click.UsageError("--compat card2020 tests for a difference: leave out --margin.")
    if compat:
        settings = without_effect(study, settings)
        value = CARD2020_UNIT * effect.coefficients(CARD2020_UNIT)[0]
        said = Difference(value, settings.scale, systems=settings.systems)
        rule = CARD2020
    else:
        settings, said = settled(study, settings, effect)[0]
        rule = analysed_as(study, rule, settings)
    name, parameters = only_setting(settings)
    warn_beyond(study, settings, [said])
    points = points_of(study, settings.scale)
    there = parameters.with_difference(said.value)
    about = rating_study_of(study, there, design_of(study), rule, points)
    return about, name, said, settings.scale, all_assumed(study, settings, effect)


def all_assumed(study: StudyValues, settings: Assumptions, effect: EffectInput) -> Assumptions:
    """All that may be assumed of the variances: both ends too where they are to be as usual."""
    if not is_typical(study):
        return settings
    return settled(study, assumptions_of(study, tell=False, usual=True), effect)[0][0]


def assumed_of_several(study: StudyValues, rule: DecisionRule) -> Assumptions | None:
    """Both ends of what is usual of the variances of several systems; None where they are chosen."""
    usual = systems_of(study, rule, usual=True) if is_typical(study) else None
    return None if usual is None else usual.sources


def study_of_several(
    several: Systems, effects: Sequence[float] | None = None
) -> tuple[SystemsStudy, Difference, RatingScale | None]:
    """The same of several systems, at the means that the study says or that a difference states."""
    tell_remarks(several)
    said = several.differences() if effects is None else ()
    study = several.of(*several.only([one.value for one in said] if effects is None else effects))
    effect = said[0] if said else Difference(study.effect, several.scale, systems=None)
    return study, effect, several.scale


LONG, TOO_LONG = 60.0, 86400.0  # seconds: worth a word, and refused
MOST = 10**9  # simulations: no question needs more
LARGE = 1e9  # bytes: worth a word
FEWEST = 100  # simulations that are worth advising
_SIZES = (
    "--n",
    "--workers",
    "--items",
    "--ratings-per-item",
    "--ratings-per-system",
    "--budgets",
    "--flips",
)
_UNITS = (("year", 365.25 * 86400), ("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1))


def refuse_work(
    work: Workload, *, n_simulations: int, way_out: str = "", option: str = "--simulations"
) -> None:
    """Refuse what cannot be done.

    way_out : what gives an answer without simulation, such as '--method analytic'.
    option : says how many simulations there are, or resamples or flips.
    Raises InputError: more than a day, or more memory than is free; not with --dry-run, which tells what it
    would be.
    """
    if _is_dry():
        return
    if work.seconds > TOO_LONG or n_simulations > MOST:
        raise InputError(
            f"{option} {n_simulations:,} of this size would take about {duration(work.seconds)}: more than a day, "
            f"or than {MOST:,} of them, is refused. {_advice(work, n_simulations, way_out, option)}"
        )
    free = free_memory()
    if free is not None and work.n_bytes > free:
        raise InputError(
            f"This needs about {gigabytes(work.n_bytes)} of memory; {gigabytes(free)} are free. Take a "
            f"{_smaller()}, or fewer --jobs{_or(way_out)}."
        )


def tell_work(
    work: Workload, *, n_simulations: int, way_out: str = "", option: str = "--simulations"
) -> None:
    """Say what the work needs where that is much; raises as `refuse_work`."""
    refuse_work(work, n_simulations=n_simulations, way_out=way_out, option=option)
    if _is_dry():
        return
    if work.seconds > LONG or work.n_bytes > LARGE:
        memory = f" and {gigabytes(work.n_bytes)} of memory" if work.n_bytes > LARGE else ""
        advice = _advice(work, n_simulations, way_out, option)
        note(f"This will take about {duration(work.seconds)}{memory}. {_stopping()} {advice}")


def tell_studies(
    studies: Sequence[AnyStudy], run: Run, precision: float | None = None, *, times: int = 1
) -> None:
    """Say how long the studies will take to simulate, or refuse them; `times`: the steps of a search."""
    from humeval_power.studies.power.estimate import MAX_SIMULATIONS
    from humeval_power.studies.power.strategies import workload

    most = precise_simulations(run.simulations(), precision, MAX_SIMULATIONS)
    work = workload(studies, n_simulations=times * most, n_jobs=run.slots)
    tell_work(work, n_simulations=most, way_out="--method analytic")


def _is_dry() -> bool:
    ctx = click.get_current_context(silent=True)
    return ctx is not None and bool(ctx.params.get("dry_run"))


def _advice(work: Workload, n_simulations: int, way_out: str, option: str) -> str:
    fewer = simulations_within(60.0, work, n_simulations=n_simulations)
    if fewer < FEWEST:
        return f"Take a {_smaller()}{_or(way_out)}."
    return f"{option} {fewer} take about a minute{_or(way_out)}."


def _stopping() -> str:
    """What Ctrl-C does: with an output finished work is kept beside it."""
    sweep = sweep_in_force()
    if sweep is None or sweep.store is None:
        return "Ctrl-C ends it."
    return "Ctrl-C stops it, and the same command goes on."


def _smaller() -> str:
    """What would be less work, in the options of the command."""
    there = _options()
    sizes = [word for word in _SIZES if word in there]
    return f"smaller study ({', '.join(sizes)})" if sizes else "smaller study"


def _or(way_out: str) -> str:
    """The way out, if the command that runs has it."""
    running = click.get_current_context(silent=True) is not None
    lacks = not way_out or (running and way_out.split(" ")[0] not in _options())
    return "" if lacks else f", or {way_out}"


def _options() -> set[str]:
    ctx = click.get_current_context(silent=True)
    return {word for option in ctx.command.params for word in option.opts} if ctx is not None else set()


def duration(seconds: float) -> str:
    """About how long, in one unit: '12 minutes', '3 days', '31,700 years'."""
    for name, size in _UNITS:
        count = round(seconds / size)
        if seconds >= 1.5 * size or name == "second":
            return f"{max(count, 1):,} {name}{'' if count <= 1 else 's'}"
    raise AssertionError  # a second is the last unit


def gigabytes(n_bytes: float) -> str:
    """A size in GB, with a decimal where it is small."""
    size = n_bytes / 1e9
    return f"{size:,.0f} GB" if size >= 10 else f"{size:.1f} GB"


def free_memory() -> float | None:
    """Bytes of memory that are free or can be freed; None where the system does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return float(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (OSError, ValueError, AttributeError):
        return None


def precise_simulations(n_simulations: int, precision: float | None, most: int) -> int:
    """How many simulations a half-width may need at worst, at a power of one half."""
    if precision is None:
        return n_simulations
    if precision <= 0:
        raise click.BadParameter("a half-width is above 0.")
    return max(n_simulations, int(min(float(most), (0.98 / precision) ** 2)))
