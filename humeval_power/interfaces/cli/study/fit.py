"""`humeval-power fit`: the seven parameters of a table of ratings."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from humeval_power.choices import Engine
from humeval_power.fields import flag, own, text, word
from humeval_power.interfaces.asking.command import Use
from humeval_power.interfaces.asking.declared import Page, Part, study_command
from humeval_power.interfaces.asking.form import Next
from humeval_power.interfaces.asking.resolve import rule_of
from humeval_power.interfaces.asking.study_page import TEST
from humeval_power.interfaces.asking.study_values import StudyValues, study_fields
from humeval_power.interfaces.asking.vocabulary import TABLE, table_of
from humeval_power.interfaces.cli.adapting import one_table
from humeval_power.interfaces.cli.results import code_wanted, details_wanted
from humeval_power.interfaces.cli.run import Run
from humeval_power.interfaces.cli.study.formula import FORMULA, with_formula

if TYPE_CHECKING:
    from humeval_power.inference.study.intervals import IntervalMethod
    from humeval_power.reporting.study.fits.fit_result import FitResult


@study_command(
    ("fit",),
    {
        "ratings": table_of("FILE"),
        **study_fields("test", instead=TABLE),
        "formula": FORMULA,
        "engine": own(
            word(Engine),
            "What fits the model; lme4 and statsmodels are slow references.",
            "Fitted by",
            usual="native",
            further=True,
        ),
        "worker_item": own(
            flag(),
            "Also estimate what a worker and an item share under both systems.",
            "Also what a worker and an item share under both systems",
            usual=False,
            further=True,
        ),
        "intervals": own(
            word(("asymptotic", "profile", "bootstrap")),
            "How the parameters' 95 % intervals are found; the last two take longer.",
            "Intervals of the parameters",
            usual="asymptotic",
            further=True,
        ),
        "assumed": own(
            text("FILE"),
            "Parameters under which --df calibrated simulates. [required by it]",
            "Parameters that are assumed",
            further=True,
        ),
        "strict": own(flag(), "End with 3 if the fit did not converge.", usual=False, further=True),
    },
    arguments=("ratings",),
    use=Use(adapts=one_table),
    simulates=True,
    endings=(".r",),
    codes={"r": ".r"},
    page=Page(
        "Fit a pilot",
        "The difference between two systems, and how much workers and items vary: what a next study is planned "
        "from.",
        (Part("The ratings", ("ratings", "systems", "criterion", "scale", "lower_is_better")), TEST),
        (
            Next(
                ("power",),
                "Power of a next study with these variances",
                ("scale", "family", "alternative", "margin", "alpha"),
                brings={"parameters": "record.json"},
                sets={"workers": "20", "items": "100", "effect": "0.1"},
            ),
            Next(("analyze",), "Decide, with workers and items one by one"),
            Next(("check",), "What is in the table"),
        ),
        journey="ratings",
        hides=("strict",),
    ),
)
def command(
    study: StudyValues,
    formula: str | None,
    engine: Engine,
    worker_item: bool,
    intervals: IntervalMethod,
    assumed: str | None,
    run: Run,
    strict: bool,
) -> FitResult:
    """Estimate the effect and the variances from a table of ratings.

    FILE is a table as 'check' reads it. The model is a linear mixed model with
    crossed workers and items: rating = b0 + W0 + I0 + (b1 + W1 + I1) x + e on
    the [0, 1] scale, x = -1/2 for system A and +1/2 for B; documents vary like
    items, covariates shift ratings. With --family ordinal or binary ratings are
    categories of a latent variable: thresholds, effect and SDs are those of that
    variable, and the effect is told as a difference of expected ratings. With
    -o FILE.json the parameters are written, for 'power', 'surface' and 'report';
    --code r, or -o FILE.R, gives a script of R that repeats the fit from FILE.
    """
    from humeval_power.api.study import fit
    from humeval_power.interfaces.cli.loading import load_ratings
    from humeval_power.interfaces.cli.work_ahead import tell_work
    from humeval_power.interfaces.formats.documents.reading import read_parameters

    model = with_formula(formula, study, worker_item=worker_item)
    ratings = load_ratings(study.ratings, model.study, tell=False)
    model.check(ratings)
    rule = rule_of(study)
    if code_wanted():
        from humeval_power.reporting.study.r_script.script import check_repeatable

        check_repeatable(ratings, rule)
    return fit(
        ratings,
        rule=rule,
        engine=engine,
        worker_item=model.worker_item,
        correlated=model.correlated,
        intervals=intervals,
        assumed=None if assumed is None else read_parameters(assumed)[0],
        n_simulations=run.typed,
        seed=run.seed,
        n_jobs=run.n_jobs,
        strict=strict,
        check_families=study.check_families,
        diagnostics=details_wanted() or None,
        ahead=partial(tell_work, n_simulations=run.simulations()),
    )
