"""`humeval-power more resample`: power of any test on studies drawn from a study's own ratings."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from humeval_power.asking.adapting import one_table
from humeval_power.asking.command import Use
from humeval_power.asking.declared import study_command
from humeval_power.asking.run import Run
from humeval_power.asking.study_values import StudyValues, study_fields
from humeval_power.asking.vocabulary import RATINGS, table_of
from humeval_power.fields import listed, number_list, own, real, word
from humeval_power.rules import DecisionRule
from humeval_power.studies.resolve import EffectInput
from humeval_power.study import FIELDS

if TYPE_CHECKING:
    from humeval_power.comparisons.resample.result import ResampleResult
    from humeval_power.comparisons.resample.scenario import Unit

UNITS = ("rating", "item", "worker", "both")
TESTS = ("mixed", "ratings-t", "mann-whitney", "item-means-t", "wilcoxon", "worker-means-t")


def _tests(typed: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in typed.split(",")))
    unknown = [name for name in names if name not in TESTS]
    if unknown:
        raise ValueError(f"there is no test {unknown[0]!r}; there are {', '.join(TESTS)}.")
    return names


_COUNTS = listed(number_list(int), "LIST")


@study_command(
    ("resample",),
    {
        "ratings": table_of(),
        **study_fields("df", "alpha", instead=RATINGS),
        "unit": own(word(UNITS), "What is drawn with replacement.", usual="both"),
        "n_workers": own(
            _COUNTS, FIELDS["workers"].help, note="One or a list. [as many]", option="workers"
        ),
        "n_items": own(_COUNTS, FIELDS["items"].help, note="One or a list. [as many]", option="items"),
        "ratings_per_system": own(
            _COUNTS, "Numbers of ratings of each system, where ratings are drawn. [as many]"
        ),
        "tests": own(listed(_tests, "LIST"), f"Tests: {', '.join(TESTS)}.", usual="mixed"),
        "shift": own(
            real(), "True difference B - A on [0, 1] that the studies shall have. [the observed one]"
        ),
        "shift_raw": own(real(), FIELDS["effect_raw"].help),
    },
    arguments=("ratings",),
    use=Use(adapts=one_table),
    simulates=True,
)
def command(
    study: StudyValues,
    unit: Unit,
    n_workers: tuple[int, ...] | None,
    n_items: tuple[int, ...] | None,
    ratings_per_system: tuple[int, ...] | None,
    tests: tuple[str, ...],
    shift: float | None,
    shift_raw: float | None,
    run: Run,
) -> ResampleResult:
    """How often would a test find an effect in studies drawn from these ratings?

    RATINGS is a table as 'check' reads it, of two systems. Each study draws
    ratings, items, workers or workers and items with replacement, of any
    number, and runs each test on them. No model of the ratings is needed; but
    nothing varies that did not vary in RATINGS.
    """
    from humeval_power.comparisons.resample.calls import SIMULATIONS, resample
    from humeval_power.studies.loading import load_ratings
    from humeval_power.studies.power.typed import tell_work

    if shift is not None and shift_raw is not None:
        raise click.UsageError("Give --shift on [0, 1] or --shift-raw in points of the scale; one of them.")
    moved = None if shift is None else EffectInput("--shift", (shift,))
    if shift_raw is not None:
        moved = EffectInput("--shift-raw", (shift_raw,), raw=True)
    loaded = load_ratings(study.ratings, study, tell=False)
    n_simulations = run.simulations(SIMULATIONS)
    return resample(
        loaded,
        unit=unit,
        tests=tests,
        workers=n_workers,
        items=n_items,
        n_ratings=ratings_per_system,
        shift=None if moved is None else moved.one(loaded.scale),
        rule=DecisionRule(df=study.df, alpha=study.alpha),
        n_simulations=n_simulations,
        seed=run.seed,
        n_jobs=run.n_jobs,
        ahead=partial(tell_work, n_simulations=n_simulations),
    )
