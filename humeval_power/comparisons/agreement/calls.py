"""Agreement of raters: of a table, planned, and how reliably a study of some size orders systems."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from humeval_power.checking.cells import MISSING_CODES, as_texts
from humeval_power.checking.columns import ROLES, Role, close_to, listing, shortened
from humeval_power.choices import (
    DEFAULT_CONFIDENCE,
    DEFAULT_RATER_SHARE,
    DEFAULT_SEED,
    MOST_OUTPUTS,
    PLANNED_OUTPUTS,
    PLANNED_RATERS,
    PlannedMeasure,
)
from humeval_power.errors import InputError, Problem, refusal, refuse
from humeval_power.parameters import Parameters
from humeval_power.ratings import Ratings
from humeval_power.scales import RatingScale

if TYPE_CHECKING:
    import pandas as pd

    from humeval_power.comparisons.agreement.agreement import OnCategories
    from humeval_power.comparisons.agreement.planning import Reliability
    from humeval_power.comparisons.agreement.result_plan import AgreementPlan, ReliabilityStudy
    from humeval_power.comparisons.agreement.result_report import AgreementReport
    from humeval_power.files.tables import SourceTable

_CATEGORIES: dict[str, OnCategories] = {"kappa": "kappa", "ac1": "ac1", "alpha-nominal": "alpha_nominal"}
_ROUNDED = 0.005  # of shares that add up to 1
_MOST_CONFIDENT = 0.999  # of plans: more would take too many draws
ONE_SYSTEM = "all outputs"  # what the only system is called where a table has none
_SYSTEM, _RATER, _RATING = "system", "worker", "rating"


def read_rated(
    path: str | Path,
    *,
    raters: Sequence[str] | None = None,
    missing: Collection[str] | None = None,
    scale: RatingScale | str | Sequence[float] | None = None,
    **columns: Any,
) -> Ratings:
    """Ratings of a table, one a row or a column for each rater; a column of systems is not needed.

    Parameters
    ----------
    path : of the file; '-' is standard input.
    raters : columns of the raters, where each has one; a row is then an output.
    missing : further cells that mean 'no rating'.
    scale : of the ratings, such as "1:5". [from the data]
    columns : names of columns and the rest of what `hp.read_ratings` takes.

    Raises
    ------
    InputError
        A file that cannot be read, or every problem of its table at once.
    """
    from humeval_power.files.tables import ratings_of, read_rating_table

    table = result = read_rating_table(path)
    if raters is not None:
        result = _long(result, raters, columns.get("item"))

    def has(role: Role) -> bool:
        names = (str(name).strip() for name in result.frame.columns)
        return columns.get(role) is not None or any(ROLES[role].fits(name) for name in names)

    if not has("worker") and not has("rating"):
        known = listing([str(name) for name in result.frame.columns], limit=8)
        raise refusal(
            f"no column says who rated, or what. The columns are: {known}.",
            "Name them: --worker COLUMN --rating COLUMN; where each rater has a column: --rater-columns A,B,C",
            place=result.source,
        )
    if not has("system"):
        result = result._replace(frame=result.frame.assign(**{_SYSTEM: ONE_SYSTEM}))
    try:
        return ratings_of(
            result,
            compares_systems=False,
            missing=(*MISSING_CODES, *(missing or ())),
            scale=scale,
            **columns,
        )
    except InputError as error:
        if raters is None:
            raise
        raise InputError([_in_wide(one, table.frame, raters) for one in error.problems]) from None


def _in_wide(problem: Problem, table: pd.DataFrame, raters: Sequence[str]) -> Problem:
    """A problem with a rating of a table with a column for each rater: the column is that which has its value."""
    if problem.column not in (_RATER, _RATING):
        return problem
    if problem.row is None or not problem.has_value:
        return replace(problem, column=None)
    named = table.set_axis([str(name).strip() for name in table.columns], axis=1)
    cells = as_texts(named.loc[[problem.row], list(raters)]).iloc[0]
    return replace(
        problem, column=next((name for name in raters if shortened(cells[name]) == problem.value), None)
    )


def _long(table: SourceTable, raters: Sequence[str], item: str | None) -> SourceTable:
    """A row for each rating, of a table with a column for each rater; rows are numbered where none names them."""
    frame = table.frame.set_axis([str(name).strip() for name in table.frame.columns], axis=1)
    unknown = [name for name in raters if list(frame.columns).count(name) != 1]
    problems = [
        Problem(
            f"there is no single column {name!r}.", close_to(name, list(frame.columns)), place=table.source
        )
        for name in unknown
    ]
    if len(set(raters)) < 2:
        problems.append(
            Problem("one rater is named, and agreement is of two or more.", "--rater-columns A,B,C")
        )
    refuse(problems)
    rest = [name for name in frame.columns if name not in raters]
    kept = [name for name in rest if name == item or ROLES["item"].fits(name) or ROLES["system"].fits(name)]
    if item is None and not any(ROLES["item"].fits(name) for name in kept):
        frame, kept = frame.assign(item=[f"row {row}" for row in frame.index]), [*kept, "item"]
    long = frame.melt(
        id_vars=kept,
        value_vars=list(dict.fromkeys(raters)),
        var_name=_RATER,
        value_name=_RATING,
        ignore_index=False,
    )
    return table._replace(frame=long, layout=None)


def report(
    ratings: Ratings,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    compatible: bool = False,
    seed: int = DEFAULT_SEED,
) -> AgreementReport:
    """How far raters agree: these raters on other outputs, and other raters like them.

    Krippendorff's alpha (nominal, ordinal, interval), kappa, Gwet's AC1, shares of equal ratings and intraclass
    correlations, within each system.

    Parameters
    ----------
    ratings : of one criterion, as `read_rated` gives them.
    confidence : of the intervals.
    compatible : give the F interval of ICC(2,1) that other packages print as well, of complete tables.
    seed : of the draws and of the bootstrap over items.

    Returns
    -------
    AgreementReport
        `to_frame` has a row for each system and measure.

    Raises
    ------
    InputError
        A single rater, or no output that two raters rated.
    """
    from humeval_power.comparisons.agreement.claims import system_agreements
    from humeval_power.comparisons.agreement.result_report import AgreementReport, Raters
    from humeval_power.comparisons.agreement.strata import NO_PAIRS
    from humeval_power.saying.result import Provenance

    if ratings.n_workers < 2:
        rule = "all ratings are by one rater, and agreement is of two or more."
        remedy = "Let a second rater rate some of the same outputs. Is the column of raters right? --worker COLUMN"
        raise refusal(rule, remedy, place=ratings.source)
    agreements = system_agreements(ratings, confidence=confidence, seed=seed, compatible=compatible)
    if not any(one.found.n_outputs for one in agreements):
        rule = f"{NO_PAIRS}, so that nothing tells how they agree."
        remedy = "Let two raters or more rate the same outputs; an output is an item under one system."
        raise refusal(rule, remedy, place=ratings.source)
    return AgreementReport(
        rows=agreements,
        source=ratings.source,
        notices=ratings.notices,
        confidence=confidence,
        raters=Raters.of(ratings, confidence=confidence),
        provenance=Provenance(seed=seed),
    )


def pilot_reliability(ratings: Ratings) -> Reliability:
    """The shares of variance of outputs and of raters in a pilot, on average over its systems.

    Those of mid-ranks where ratings take at most 11 values, as the ordinal alpha is made of.

    Raises
    ------
    InputError
        Too few outputs that two raters rated to tell the variances apart, or shares that no plan can be made of:
        no agreement, or no error.
    """
    import numpy as np

    from humeval_power.comparisons.agreement.agreement import leading_level, shared_ratings
    from humeval_power.comparisons.agreement.planning import Reliability
    from humeval_power.comparisons.agreement.strata import NO_PAIRS, two_way

    shares, reason = [], NO_PAIRS
    level = leading_level(shared_ratings(ratings))
    for system in range(ratings.n_systems):
        shared = shared_ratings(ratings, system=system)
        table = two_way(shared.output, shared.worker, shared.score(level))
        if table.reason:
            reason = table.reason
        else:
            parts = np.array(table.components)
            shares.append(parts / parts.sum())
    output, rater, error = np.mean(shares, axis=0) if shares else (0.0, 0.0, 0.0)
    rule = ""
    if not shares:
        rule = f"the pilot does not tell how raters agree: {reason}."
    elif not output > 0:
        rule = (
            "agreement is 0 in the pilot: raters differ about an output as much as outputs do, so that no width "
            "can be planned."
        )
    elif not error > 0 and not rater > 0:
        rule = "agreement is 1 in the pilot: all raters gave every output the same rating, and none would differ."
    elif not error > 0:
        rule = "raters of the pilot differ by their levels alone, which leaves nothing to error."
    if rule:
        remedy = "Give --expected-agreement and --rater-share instead, as you expect them."
        raise refusal(rule, remedy, place=ratings.source)
    return Reliability(float(output), float(rater))


def plan(
    known: Reliability | float,
    *,
    measure: PlannedMeasure = "alpha",
    shares: Sequence[float] | None = None,
    rater_share: float = DEFAULT_RATER_SHARE,
    half_width: float = 0.1,
    assurance: float | None = None,
    raters: Sequence[int] = PLANNED_RATERS,
    outputs: Sequence[int] = PLANNED_OUTPUTS,
    ratings_per_output: int | None = None,
    max_outputs: int = MOST_OUTPUTS,
    cost_per_rating: Decimal | float = 1,
    cost_per_rater: Decimal | float = 0,
    cost_per_output: Decimal | float = 0,
    confidence: float = DEFAULT_CONFIDENCE,
    seed: int = DEFAULT_SEED,
) -> AgreementPlan:
    """How many raters and outputs let agreement be known to within a width, at the least cost.

    For ICC(2,1), the interval alpha and, of mid-ranks, the ordinal alpha of other raters mean squares are drawn, no
    data; for kappa, AC1 and nominal alpha tables are drawn from a latent scale.

    Parameters
    ----------
    known : the agreement that is expected, with the share of variance that is raters' levels, as
        `pilot_reliability` finds them; or the agreement alone, with `rater_share`.
    measure : what `known` is a value of. shares : of the categories, for kappa, AC1 and nominal alpha.
    half_width : that the interval shall have, on average; or with `assurance` in that share of studies.
    raters, outputs : numbers to look at.
    ratings_per_output : ratings of each output; every rater rates every output where it is not given.
    max_outputs : the most outputs to try.
    cost_per_rating, cost_per_rater, cost_per_output : prices.
    confidence : of the interval. seed : of the draws.

    Returns
    -------
    AgreementPlan
        The cheapest design, the widths of all sizes and what no number of outputs reaches; `to_frame` has a row for
        each number of raters.

    Raises
    ------
    InputError
        Shares that cannot be, or too few raters.
    """
    from humeval_power.comparisons.agreement.planning import (
        AgreementTarget,
        Expected,
        ExpectedCategories,
        Reliability,
        designs,
        least_raters,
    )
    from humeval_power.comparisons.agreement.result_plan import AgreementPlan
    from humeval_power.saying.result import Provenance

    of: Expected = known if isinstance(known, Reliability) else Reliability(float(known), rater_share)
    problems = []
    if measure != "alpha":
        problems += _share_problems(shares, measure)
        if isinstance(known, Reliability):
            rule = f"a pilot tells the variances of ratings, which say nothing of {measure}."
            problems.append(Problem(rule, "Give --expected-agreement, --shares and --rater-share."))
        elif not problems:
            of = ExpectedCategories(
                _CATEGORIES[measure], float(known), rater_share, tuple(map(float, shares or ()))
            )
    elif shares is not None:
        rule = "--shares are of categories, and alpha of points or of a slider has none."
        problems.append(Problem(rule, "Leave them out, or name --measure kappa, ac1 or alpha-nominal."))
    if not 0 < of.agreement < 1:
        problems.append(_option_problem("--expected-agreement", of.agreement, "must lie between 0 and 1."))
    elif of.rater_share < 0:
        problems.append(_option_problem("--rater-share", of.rater_share, "must be at least 0."))
    elif isinstance(of, Reliability) and of.agreement + of.rater_share >= 1 and measure == "alpha":
        rule = f"agreement {of.agreement:g} and --rater-share {of.rater_share:g} leave nothing to error."
        problems.append(Problem(rule, "Give shares of a rating's variance that are below 1 together."))
    if isinstance(of, ExpectedCategories) and not problems and math.isnan(of.output_share):
        least, most = (f"{end:.2f}" for end in of.limits)
        rule = f"with these shares of categories and of raters' levels {measure} is {least} to {most}."
        problems.append(_option_problem("--expected-agreement", of.agreement, rule))
    problems += _below("--rater-counts", raters, _at_least_two(ratings_per_output))
    problems += _below("--output-counts", outputs, 2)
    if ratings_per_output is not None:
        problems += _below("--ratings-per-output", [ratings_per_output], 2)
    if not 0 < half_width < 0.5:
        problems.append(_option_problem("--half-width", half_width, "must lie between 0 and 0.5."))
    if not 0 < confidence <= _MOST_CONFIDENT:
        rule = f"must be above 0 and at most {_MOST_CONFIDENT:g}."
        problems.append(_option_problem("--confidence", confidence, rule))
    refuse(problems)
    target = AgreementTarget(
        half_width=half_width,
        confidence=confidence,
        assurance=assurance,
        ratings_per_output=ratings_per_output,
        most_outputs=max_outputs,
        cost_per_rating=float(cost_per_rating),
        cost_per_rater=float(cost_per_rater),
        cost_per_output=float(cost_per_output),
        seed=seed,
    )
    result = designs(of, target, raters)
    are_too_few = all(not one.floor <= half_width for one in result)
    return AgreementPlan(
        known=of,
        target=target,
        outputs=tuple(outputs),
        widths=tuple(tuple(target.width(of, m, n) for n in outputs) for m in raters),
        found=result,
        least_raters=least_raters(of, target) if are_too_few else None,
        provenance=Provenance(seed=seed),
    )


def _share_problems(shares: Sequence[float] | None, measure: str) -> list[Problem]:
    """What is wrong with the shares of categories."""
    from humeval_power.comparisons.agreement.agreement import MOST_CATEGORIES

    if shares is None:
        rule = f"{measure} depends on how often each category is given."
        return [Problem(rule, "Give their shares, such as --shares 0.7,0.3.")]
    if len(shares) < 2 or len(shares) > MOST_CATEGORIES:
        return [_option_problem("--shares", list(shares), f"it takes 2 to {MOST_CATEGORIES} categories.")]
    if min(shares) <= 0:
        return [_option_problem("--shares", list(shares), "every share must be above 0.")]
    if abs(sum(shares) - 1) > _ROUNDED:
        return [
            _option_problem("--shares", list(shares), f"they must add up to 1, not to {sum(shares):g}.")
        ]
    return []


def _at_least_two(number: int | None) -> int:
    return max(2, number or 2)


def _option_problem(option: str, value: object, rule: str) -> Problem:
    return Problem(f"{option}: value {value!r}: {rule}", "")


def _below(option: str, values: Sequence[int], least: int) -> list[Problem]:
    """The problem of numbers that are too small; none where they are not."""
    too_small = min(values) < least
    return [_option_problem(option, min(values), f"must be at least {least}.")] if too_small else []


def study(
    parameters: Parameters,
    *,
    workers: Sequence[int],
    items: Sequence[int],
    ratings_per_item: int | None = None,
    documents: int | None = None,
    effect: float | None = None,
    sd_systems: float | None = None,
    n_systems: int = 2,
    cost_per_rating: Decimal | float | None = None,
    setting: str = "",
) -> ReliabilityStudy:
    """How reliably a study of each size orders systems, and knows their levels; `hp.agreement.study` says what the
    arguments are. InputError: neither an effect nor an SD, or both; an effect of 0; sizes that cannot be.
    DesignError: parameters that vary between documents, and no number of documents."""
    from humeval_power.comparisons.agreement.planning import (
        FacetSizes,
        ceilings,
        generalisability,
        largest,
        variance_of_two,
    )
    from humeval_power.comparisons.agreement.result_plan import ReliabilityStudy
    from humeval_power.simulation.study import check_documents

    problems = []
    if (effect is None) == (sd_systems is None):
        rule = "either a difference of two systems or the SD of many is needed."
        problems.append(Problem(rule, "Give --effect, --effect-raw or --sd-systems, one of them."))
    if effect == 0:
        rule = "--effect 0: two systems that do not differ have no order."
        problems.append(Problem(rule, "Give a difference, of either sign."))
    problems += _below("--workers", workers, _at_least_two(ratings_per_item))
    problems += _below("--items", items, _at_least_two(documents))
    refuse(problems)
    check_documents(parameters, documents or 0)
    between = variance_of_two(effect) if effect is not None else float(sd_systems or 0.0) ** 2
    sizes = [
        FacetSizes(n_raters=m, n_items=n, ratings_per_item=ratings_per_item, n_documents=documents)
        for m in workers
        for n in items
    ]
    found = tuple(generalisability(parameters, between, one) for one in sizes)
    varies = parameters.sd_document_intercept > 0 or parameters.sd_document_slope > 0
    return ReliabilityStudy(
        found=found,
        ceilings=tuple(ceilings(parameters, between, largest(found).size)),
        has_idle_documents=documents is not None and not varies,
        effect=effect,
        sd_systems=sd_systems,
        n_systems=n_systems,
        cost_per_rating=None if cost_per_rating is None else float(cost_per_rating),
        setting=setting,
    )
