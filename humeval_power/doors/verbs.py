"""The verbs of Python: one public name for each question, asked of a study, or of the parts that make one.

Of a `Study` a call is its command: the same fields, the same defaults, the same result. Nothing is read but the
files that the study names, nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from humeval_power.asking.command_groups import in_terminal
from humeval_power.asking.study_file import ABOUT, StudyFile
from humeval_power.errors import InputError
from humeval_power.study import Study

if TYPE_CHECKING:
    from humeval_power.ratings import Ratings
    from humeval_power.saying.result import Result

_OPTIONS = {"n_simulations": "simulations", "n_jobs": "jobs"}


def power(about: Any, /, **how: Any) -> Any:
    """How often would a study of this size find an effect of this size?

    Parameters
    ----------
    about : a `Study`; a `RatingStudy` or `models.SystemsStudy` of parameters and a design; or any scenario, such as
        `accuracy.PairedAccuracy`.
    how : `method` "analytic", "simulate" or "both"; `n_simulations`, `seed`, `n_jobs`; `half_width` to simulate
        until the power is known to +- that; `strict`. Of the parts of a study also `scale`, `said`, `setting`,
        `costs`, `budget`, `executor`; of scenarios `wording` and `given`.

    Returns
    -------
    StudyPower or PowerResult
        Power as a share of studies, with its Monte Carlo interval.

    Raises
    ------
    InputError
        What is missing or contradicts itself, all at once.
    """
    if isinstance(about, Study):
        return answer(about, "power", how)
    from humeval_power.studies.power.strategies import AnyStudy

    if isinstance(about, AnyStudy):
        from humeval_power.studies.power.calls import study_power

        return study_power(about, **how)
    from humeval_power.studies.power.calls import power as scenario_power

    return scenario_power(about, **how)


def mde(about: Any, /, **how: Any) -> Any:
    """The smallest effect that a study of this size finds with the target power.

    Parameters
    ----------
    about : as for `power`.
    how : `power` (the target, .8), `method`, `n_simulations`, `seed`, `n_jobs`; `largest` of a scenario. A `Study`
        has its target itself.

    Returns
    -------
    StudyDetectable or DetectableResult
        The effect in the units of the question; of a study a difference on [0, 1].

    Raises
    ------
    InputError
        What is missing or contradicts itself, all at once.
    """
    if isinstance(about, Study):
        return answer(about, "mde", how)
    from humeval_power.studies.power.strategies import AnyStudy

    if isinstance(about, AnyStudy):
        from humeval_power.studies.power.calls import study_detectable

        return study_detectable(about, **how)
    from humeval_power.studies.power.calls import detectable_effect

    return detectable_effect(about, **how)


def size(about: Any, /, *parts: Any, **how: Any) -> Any:
    """The fewest workers, items, documents or ratings per item that reach the target power.

    Parameters
    ----------
    about : a `Study`, with `find="workers"` or another; `Parameters` or a `models.SystemsStudy`, what is sought,
        and the sizes that are given; or a function that makes a scenario of a size.
    how : `find`, `method`, `n_simulations`, `seed`, `n_jobs`; of parts what they need.

    Returns
    -------
    StudySize or SizeResult
        The size, with the power there.

    Raises
    ------
    InputError
        What is missing or contradicts itself, all at once.
    """
    if isinstance(about, Study):
        return answer(about, "size", how)
    from humeval_power.parameters import Parameters
    from humeval_power.studies.power.systems_study import SystemsStudy

    if isinstance(about, Parameters | SystemsStudy):
        from humeval_power.studies.power.calls import study_size

        return study_size(about, *parts, **how)
    from humeval_power.studies.power.calls import required

    return required(about, **how)


def surface(about: Any, /, **how: Any) -> Any:
    """Power over many sizes and effects.

    Parameters
    ----------
    about : a `Study` with `workers_range` and `items_range`; cells of `models.list_cells`; a list of
        `models.SystemsStudy`; or pairs of what was varied and a scenario.
    how : `n_simulations`, `seed`, `n_jobs`, `half_width`, `draw`, `x` (of parts: `along`).

    Returns
    -------
    StudySurface or SurfaceResult
        `to_frame()` has a row for each cell.

    Raises
    ------
    InputError
        What is missing or contradicts itself, all at once.
    """
    if isinstance(about, Study):
        return answer(about, "surface", how)
    from humeval_power.studies.power.strategies import Cell
    from humeval_power.studies.power.systems_study import SystemsStudy

    cells: list[Any] = [Cell(one.setting, one) if isinstance(one, SystemsStudy) else one for one in about]
    if cells and all(isinstance(one, Cell) for one in cells):
        from humeval_power.studies.power.calls import study_surface

        return study_surface(cells, **how)
    from humeval_power.studies.power.calls import surface as scenario_surface

    return scenario_surface(cells, **how)


def plan(about: Any, /, **how: Any) -> Any:
    """The cheapest design that finds the effect within a budget, proved and sealed.

    Parameters
    ----------
    about : a `Study`; or what is assumed: `Assumptions`, parameters by name, or `models.SystemsParameters` by name.
    how : any field of the study that differs; `n_simulations`, `seed`, `n_jobs`. Of assumptions: `effect`, `items`,
        `costs` and what else limits the search.

    Returns
    -------
    PlanSearchResult
        `plan`, its text as `sealed`, and `found`, how it was chosen.

    Raises
    ------
    InputError
        No design within the limits or the budget, or what contradicts itself.
    """
    if isinstance(about, Study):
        return answer(about, "plan", how)
    from humeval_power.studies.plan.calls import make_plan

    return make_plan(about, **how)


def assign(about: Any, /, **how: Any) -> Any:
    """Who rates what when, as a table to carry out.

    Parameters
    ----------
    about : a `Study` with its `plan` or its size; a `plans.Plan`; or a `Design`.
    how : of a study `seed`; of a plan or design `systems`, `item_names`, `batch_size`, `order`, `check_rate`,
        `repeat_rate`, `replacements`, `blind`, `key`, `seed` and others. With `next`, how many ratings come next in
        a study that is under way, also `assignment`, `exports` (paths of a study, else what `hp.exports` reads),
        `dropouts`, `excluded`, `withdrawn`, `new_workers` and `budget`.

    Returns
    -------
    AssignmentResult or NextRatings
        `to_frame()` has a row for each rating to be given.

    Raises
    ------
    InputError
        What is missing or contradicts itself, all at once.
    """
    if isinstance(about, Study):
        return answer(about.with_(upload=None, outputs=None), "assign", how)
    if "next" in how:
        from humeval_power.studies.plan.calls import next_ratings

        return next_ratings(about, how.pop("next"), **how)
    from humeval_power.studies.plan.calls import assign_work

    return assign_work(about, **how)


def simulate(about: Any, /, *parts: Any, **how: Any) -> Any:
    """The ratings of one study, drawn from a seed.

    Parameters
    ----------
    about : a `Study`; a `models.SystemsStudy`; or `Parameters`, with a `Design` behind them.
    how : `seed`; of parts also `effect`, `scale`, `response`, `points`, `losses`, `exclusion`.

    Returns
    -------
    SimulatedStudy or RehearsalResult
        `to_frame()` has a row for each rating.

    Raises
    ------
    InputError
        What is missing or contradicts itself, all at once.
    """
    if isinstance(about, Study):
        return answer(about, "simulate", how)
    from humeval_power.studies.power.calls_drawn import simulate as simulate_study

    return simulate_study(about, *parts, **how)


def calibrate(about: Any, /, *parts: Any, **how: Any) -> Any:
    """How often tests find an effect where there is none, and whether a p-value is credible.

    Parameters
    ----------
    about : a `Study`; or `Parameters`, one or several by name, with a `Design` behind them.
    how : `p`, a p-value that was reported; `n_simulations`, `seed`, `n_jobs`; of parts also `rule`, `scale`.

    Returns
    -------
    CalibrationResult
        Of each test the share of studies in which it finds what is not there.

    Raises
    ------
    InputError
        What is missing or contradicts itself, all at once.
    """
    if isinstance(about, Study):
        return answer(about, "calibrate", how)
    from humeval_power.studies.power.calls_drawn import calibrate as calibrate_tests

    return calibrate_tests(about, *parts, **how)


def check(about: Study | Ratings | Sequence[Ratings], /, **how: Any) -> Any:
    """What is in a table of ratings, and what is wrong with it.

    Parameters
    ----------
    about : ratings, as `read_ratings` reads them, several for several criteria; or a `Study` with `ratings`.
    how : `table`, the table that they were read from; `remarks`.

    Returns
    -------
    CheckResult
        `to_frame()` has a row for each system.

    Raises
    ------
    InputError
        All problems of the table at once.
    """
    if isinstance(about, Study):
        return answer(about, "check", how)
    from humeval_power.studies.fit.calls import check as check_ratings

    return check_ratings(about, **how)


def fit(about: Study | Ratings, /, **how: Any) -> Any:
    """The effect and the seven parameters of a table of ratings, by REML.

    Parameters
    ----------
    about : ratings of two systems; or a `Study` with `ratings` or `pilot`.
    how : `rule`, `engine`, `worker_item`, `correlated`, `intervals`, `check_families`, `n_simulations`, `seed`,
        `n_jobs` and others of a fit; of a study `engine`, `intervals`, `seed`.

    Returns
    -------
    FitResult
        `parameters` and their uncertainty, and the test of the effect.

    Raises
    ------
    InputError
        A table that cannot be read or fitted.
    FitError
        Ratings that determine nothing.
    """
    if isinstance(about, Study):
        return answer(about, "fit", how)
    from humeval_power.studies.fit.calls import fit as fit_ratings

    return fit_ratings(about, **how)


def analyze(ratings: Study | Ratings, study: Study | None = None, /, **how: Any) -> Any:
    """Decide a finished study, and say what differs from its plan.

    Parameters
    ----------
    ratings : of two systems or more; or a `Study` that names their file.
    study : whose test and effect of interest decide, where there is no `plan`.
    how : `plan`, `rule`, `family`, `effect`, `looks`, `exclusion`, `n_simulations`, `seed`, `n_jobs` and others.

    Returns
    -------
    AnalysisResult or CriteriaResult
        Estimates, intervals and p-values, and the deviations from a plan.

    Raises
    ------
    InputError
        Ratings that do not fit the plan, or a plan of other systems.
    """
    if isinstance(ratings, Study):
        return answer(ratings, "analyze", how)
    from humeval_power.studies.analyze.calls import analyze as analyze_ratings

    if study is None:
        return analyze_ratings(ratings, **how)
    if study.plan is not None and "plan" not in how:
        from humeval_power.studies.plan.files import read_plan

        how = {**how, "plan": read_plan(study.plan)}
    if study.pool is not None and "pool" not in how:
        from humeval_power.studies.items.files import read_pool

        how = {"estimand": study.estimand, **how, "pool": read_pool(study.pool)}
    if how.get("plan") is None:
        how = {**_decided(ratings, study), **how}
    return analyze_ratings(ratings, **how)


def resample(about: Study | Ratings, /, **how: Any) -> Any:
    """How often tests find an effect in studies drawn with replacement from ratings.

    Parameters
    ----------
    about : ratings of two systems; or a `Study` with `ratings`.
    how : `unit`, "rating", "item", "worker" or "both"; `test` (of parts `tests`); `workers`, `items` and
        `ratings_per_system` (of parts `n_ratings`) to draw; `shift`, the true difference; `n_simulations`, `seed`,
        `n_jobs`; of parts `rule`.

    Returns
    -------
    ResampleResult
        `to_frame()` has a row for each test and size. Powers are shares.

    Raises
    ------
    InputError
        An unknown test, or a size that is not drawn.
    """
    if isinstance(about, Study):
        return answer(about, "resample", how)
    from humeval_power.comparisons.resample.calls import resample as resample_ratings

    return resample_ratings(about, **how)


def survey(about: Any, /, *parts: Any, **how: Any) -> Any:
    """What a collection of published comparisons reports, and could have found.

    Parameters
    ----------
    about : a `Study` with the variation that is assumed, with `file`, the table of comparisons; or comparisons as
        `models.read_comparisons` reads them, with parameters by name behind them.
    how : `if_no_workers`, `if_no_items`, `if_no_ratings`, assumed where they are not reported; of parts `effects`,
        `if_missing`, `rule` and `remarks`.

    Returns
    -------
    SurveyResult
        Shares of comparisons that report each detail, Kendall's tau of effect and size, and for each setting the
        power of each comparison; `to_frame()` has a row for each comparison and setting.

    Raises
    ------
    InputError
        No comparison, or nothing that is assumed.
    """
    if isinstance(about, Study):
        return answer(about, "survey", how)
    from humeval_power.comparisons.survey.calls import survey as survey_comparisons

    return survey_comparisons(about, *parts, **how)


def _decided(ratings: Ratings, study: Study) -> dict[str, Any]:
    """The rule and the effect of interest of a study without a plan."""
    from dataclasses import fields

    from humeval_power.differences import differences_of, margin_of
    from humeval_power.rules import DecisionRule

    said = study.said()
    names = {one.name for one in fields(DecisionRule)} & said.keys()
    rule = {name: said[name] for name in names}
    if "margin_raw" in said:
        rule["margin"] = margin_of(said["margin_raw"], ratings.scale, name="margin_raw", raw=True)
    result: dict[str, Any] = {"rule": DecisionRule(**rule)} if rule else {}
    if ratings.n_systems == 2 and {"effect", "effect_raw"} & said.keys():
        raw = "effect_raw" in said
        typed = said["effect_raw"] if raw else said["effect"]
        name = "effect_raw" if raw else "effect"
        result["effect"] = differences_of((typed,), ratings.scale, name=name, raw=raw)[0].value
    return result


def answer(study: Study, command: str, how: Mapping[str, Any]) -> Result:
    """What a command, such as "power" or "looks study", answers about the study; the options of its own, and fields
    that differ, by name."""
    import click

    from humeval_power.asking.options import FieldArgument, FieldOption
    from humeval_power.asking.output import capturing
    from humeval_power.doors.terminal.main import main
    from humeval_power.safe_text import shell_command
    from humeval_power.study import FIELDS

    path, target = command.split(), main.get_command(click.Context(main), command.split()[0])
    for word in path[1:]:
        assert isinstance(target, click.Group)
        target = target.get_command(click.Context(target), word)
    assert target is not None
    own = {
        max(one.opts, key=len)[2:].replace("-", "_"): one
        for one in target.params
        if isinstance(one, click.Option) and not isinstance(one, FieldOption)
    }
    fields = {name: value for name, value in how.items() if name in FIELDS and name not in own}
    study = study.with_(**fields) if fields else study
    arguments = {
        str(one.name)
        for one in target.params
        if isinstance(one, click.Argument) and not isinstance(one, FieldArgument)
    }
    words = [*path, "--jobs=1"] if "jobs" in own and "n_jobs" not in how else path
    for name, value in how.items():
        option = own.get(_OPTIONS.get(name, name))
        if name in fields or value is None:
            continue
        if name in arguments:
            words.append(f"./{value}" if str(value).startswith("-") else str(value))
            continue
        if option is None:
            known = ", ".join(
                sorted({*own} - {"json", "output", "format", "details", "code", "force", "quiet"})
            )
            raise InputError(f"{name}: {command} of a study has no such argument; it has {known}.")
        words += _own_words(option, value)
    answers: list[Result] = []
    with _about(study), capturing(shell_command(["humeval-power", *in_terminal(words)]), answers.append):
        try:
            main.main(words, prog_name="humeval-power", standalone_mode=False)
        except click.ClickException as error:
            raise InputError(error.format_message()) from None
        except SystemExit:  # the target was missed, which the result says
            if not answers:
                raise
    return answers[0]


def _own_words(option: Any, value: Any) -> list[str]:
    name = max(option.opts, key=len)
    if option.is_flag:
        return [name] if value else []
    each = value if option.multiple and not isinstance(value, str) else [value]
    if not option.multiple and isinstance(value, list | tuple):
        each = [",".join(map(str, value))]
    return [f"{name}={one}" for one in each]


@contextmanager
def _about(study: Study) -> Iterator[None]:
    token = ABOUT.set(StudyFile("", study.said(), {}))
    try:
        yield
    finally:
        ABOUT.reset(token)
