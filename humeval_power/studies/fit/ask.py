"""`humeval-power fit`: the seven parameters of a table of ratings."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from humeval_power.asking.adapting import one_table
from humeval_power.asking.command import Use
from humeval_power.asking.declared import TEST, Page, Part, study_command
from humeval_power.asking.form import Next
from humeval_power.asking.output import note
from humeval_power.asking.results import code_wanted, details_wanted
from humeval_power.asking.run import Run
from humeval_power.asking.study_values import StudyValues, study_fields
from humeval_power.asking.vocabulary import STRICT_HELP, TABLE, table_of
from humeval_power.checking.formula import PLACE, ModelFormula, model_formula, quoted, unfitted
from humeval_power.choices import Engine
from humeval_power.errors import Problem, refusal, refuse
from humeval_power.fields import flag, own, text, word
from humeval_power.safe_text import shell_word
from humeval_power.studies.resolve import rule_of

if TYPE_CHECKING:
    from humeval_power.estimation.fit import CorrelatedFactor
    from humeval_power.ratings import Ratings
    from humeval_power.studies.fit.fit_result import FitResult
    from humeval_power.studies.fit.intervals import IntervalMethod


# `--formula`: a model in lme4's syntax, in place of the options that name columns and terms.

FORMULA = own(
    text("FORMULA"),
    "The model as lme4 writes it, with the columns of RATINGS: 'score ~ model + (1 + model || annotator) "
    "+ (1 + model || segment)'. It names columns and terms in place of the options that do.",
    "The model as lme4 writes it",
    further=True,
)


class ModelTerms(NamedTuple):
    """The columns, and the terms beside those of every model. `nested`: items are written within documents."""

    study: StudyValues
    worker_item: bool
    correlated: tuple[CorrelatedFactor, ...]
    nested: bool = False

    def check(self, ratings: Ratings) -> None:
        """Refuse items whose names come again in another document, where the formula has them within documents."""
        document = ratings.document
        if not self.nested or document is None:
            return
        import numpy as np

        first = np.full(ratings.n_items, -1)
        first[ratings.item[::-1]] = document[::-1]
        bad = np.flatnonzero(first[ratings.item] != document)
        if len(bad):
            item, names = ratings.item[bad[0]], ratings.document_names
            rule = (
                f"its items lie within documents, and item {ratings.item_names[item]!r} occurs in "
                f"{names[first[item]]!r} and in {names[document[bad[0]]]!r}."
            )
            raise refusal(rule, "Give every item of every document an id of its own.", PLACE)


def with_formula(text: str | None, study: StudyValues, *, worker_item: bool | None = None) -> ModelTerms:
    """The columns and terms that a formula names; or those of the options.

    worker_item : whether the term is asked for; None where the command does not fit it.

    Raises InputError: no formula, a term that is not fitted here, or an option that says something else.
    """
    correlated = study.correlated or ()
    if text is None:
        return ModelTerms(study, bool(worker_item), correlated)
    model = model_formula(text)
    problems = [*_contradicted(model, study)]
    term = f"(1 | {quoted(model.worker)}:{quoted(model.item)})"
    if worker_item is None and model.worker_item:
        problems.append(unfitted(term, "this command does not fit it.", "'fit' does; here leave it out."))
    if worker_item and not model.worker_item:
        problems.append(Problem(f"--worker-item asks for a term that it lacks: {term}.", "Add it.", PLACE))
    problems += [
        Problem(f"--correlated asks for correlated {factor}s, which its '||' deny.", "Write '|'.", PLACE)
        for factor in correlated
        if factor not in model.correlated
    ]
    refuse(problems)
    for assumed in model.assumed:
        note(assumed)
    columns = model.columns
    columns["covariates"] = tuple(name for name in model.covariates if name != study.order_column)
    return ModelTerms(study.with_(**columns), model.worker_item, model.correlated, model.nested)


def _contradicted(model: ModelFormula, study: StudyValues) -> Iterator[Problem]:
    """Options that name another column than the formula does, or one that it lacks."""
    for role in ("worker", "item", "system", "rating"):
        column, said = getattr(model, role), getattr(study, role)
        if said not in (None, column):
            rule = f"it names {column!r} as the {role}, and --{role} {shell_word(said)} another column."
            yield Problem(rule, f"Leave out --{role}, or change the formula.", PLACE)
    if study.document not in (None, model.document):
        rule = f"it lacks the document of --document {shell_word(study.document)}."
        yield Problem(rule, f"Add (1 + {quoted(model.system)} || {quoted(study.document)}).", PLACE)
    order = () if study.order_column is None else (study.order_column,)
    for name in (*(study.covariates or ()), *order):
        if name not in model.covariates:
            yield Problem(
                f"it lacks the column {name!r}, which an option names.", f"Add + {quoted(name)}.", PLACE
            )


@study_command(
    ("fit",),
    {
        "ratings": table_of(),
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
            "Parameters under which calibrated degrees of freedom are simulated, which need them.",
            "Parameters that are assumed",
            further=True,
        ),
        "strict": own(flag(), STRICT_HELP, note=": the fit did not converge.", usual=False, further=True),
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

    RATINGS is a table as 'check' reads it. The model is a linear mixed model
    with crossed workers and items: rating = b0 + W0 + I0 + (b1 + W1 + I1) x + e
    on the [0, 1] scale, x = -1/2 for system A and +1/2 for B; documents vary like
    items, covariates shift ratings. With --family ordinal or binary ratings are
    categories of a latent variable: thresholds, effect and SDs are those of that
    variable, and the effect is told as a difference of expected ratings. With
    -o FILE.json the parameters are written, for 'power', 'surface' and 'report';
    --code r, or -o FILE.R, gives a script of R that repeats the fit from RATINGS.
    """
    from humeval_power.files.documents.reading import read_parameters
    from humeval_power.studies.fit.calls import fit
    from humeval_power.studies.loading import load_ratings
    from humeval_power.studies.power.typed import tell_work

    model = with_formula(formula, study, worker_item=worker_item)
    ratings = load_ratings(study.ratings, model.study, tell=False)
    model.check(ratings)
    rule = rule_of(study)
    if code_wanted():
        from humeval_power.studies.fit.r_script import check_repeatable

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
