"""`humeval-power looks scores|preference|accuracy`: looks at independent judgements."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, get_args

import click

from humeval_power.choices import ConditionalTest, Ties
from humeval_power.interfaces.cli.family import (
    ACCURACIES,
    PREFERENCES,
    EffectRange,
    score_range,
)
from humeval_power.interfaces.cli.looks.options import LooksOptions, effects_option, looks_options
from humeval_power.interfaces.cli.numbers import RealNumber, WholeNumber
from humeval_power.interfaces.cli.options import Function, date_option, decorated
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result
from humeval_power.interfaces.cli.run import Run, with_run
from humeval_power.scenarios.accuracy.agreement import KnownAgreement

if TYPE_CHECKING:
    from humeval_power.reporting.looks.results import LooksJudgementsResult
    from humeval_power.scenarios.looks.replicates import LookSource


_SCORES = (0.0, 100.0)


def _pair(_ctx: click.Context, _option: click.Parameter, text: str) -> tuple[str, str]:
    names = [name.strip() for name in text.split(",")]
    if len(names) != 2 or not all(names) or names[0] == names[1]:
        raise click.BadParameter(f"name two systems, A first: A,B; got {text!r}.")
    return names[0], names[1]


_systems_option = click.option(
    "--systems",
    metavar="A,B",
    default="A,B",
    show_default=True,
    callback=_pair,
    help="The systems as the judgements will call them; the effect is B - A.",
)
_ties_option = click.option(
    "--ties",
    type=click.Choice([each for each in get_args(Ties) if each != "split"]),
    default="excluded",
    show_default=True,
    help="What the effect is a share of: judgements without ties, or all with ties counted half.",
)


def _check(effect: float, effects: tuple[float, ...] | None, allowed: EffectRange) -> None:
    allowed.check([effect])
    allowed.check(effects or (), name="--effects")


def _common(command: Function) -> Function:

    options = (
        looks_options(efficacy="pocock", one_sided=False),
        effects_option,
        _systems_option,
        date_option,
        with_run,
        with_result(endings=(".json",)),
    )
    return decorated(command, options)


def _test_option(default: ConditionalTest) -> Function:
    return click.option(
        "--test",
        "test_name",
        type=click.Choice(["exact", "mid-p"]),
        default=default,
        show_default=True,
        help="The test of each look: exact keeps its level for any number of decided judgements, mid-p on average.",
    )


@click.command("scores", cls=Command)
@click.option("--n", type=WholeNumber(min=2), required=True, help="Scores of each system at the end.")
@click.option(
    "--effect", type=RealNumber(), required=True, help="True difference of means B - A, in points."
)
@click.option(
    "--mean", type=RealNumber(), default=75.0, show_default=True, help="Mean score of A, of 0 to 100."
)
@click.option(
    "--sd",
    type=RealNumber(0, 100, min_open=True),
    default=25.0,
    show_default=True,
    help="SD of single scores.",
)
@_common
def scores(n: int, effect: float, mean: float, sd: float, **common: Any) -> LooksJudgementsResult:
    """Direct assessment: independent scores, Mann and Whitney's U at each look."""
    from humeval_power.scenarios.assessment.scenario import DirectAssessment
    from humeval_power.scenarios.looks.judgements import AssessmentLooks

    looks: LooksOptions = common["looks"]
    _check(effect, common["effects"], score_range(mean, *_SCORES))
    assessment = DirectAssessment(n, mean=mean, sd=sd, effect=effect, alpha=looks.alpha)
    return _answer(lambda at: AssessmentLooks(assessment, at), effect, **common)


@click.command("preference", cls=Command)
@click.option("--n", type=WholeNumber(), required=True, help="Judgements at the end.")
@click.option(
    "--effect", type=RealNumber(), required=True, help="Share that prefers B among non-ties, minus 1/2."
)
@click.option(
    "--tie-share", type=RealNumber(), default=0.0, show_default=True, help="Probability of a tie."
)
@_ties_option
@_test_option("exact")
@_common
def preference(
    n: int, effect: float, tie_share: float, ties: Ties, test_name: ConditionalTest, **common: Any
) -> LooksJudgementsResult:
    """Head-to-head judgements: the sign test at each look."""
    from humeval_power.scenarios.looks.judgements import PairedLooks
    from humeval_power.scenarios.preference.independent import Preference

    looks: LooksOptions = common["looks"]
    _check(effect, common["effects"], PREFERENCES)
    study = Preference(
        n, preference=effect, tie_share=tie_share, ties=ties, test=test_name, alpha=looks.alpha
    )
    return _answer(lambda at: PairedLooks(study, at), effect, **common)


@click.command("accuracy", cls=Command)
@click.option("--n", type=WholeNumber(), required=True, help="Items of the test set.")
@click.option(
    "--effect", type=RealNumber(), required=True, help="True difference of accuracy, B - A, as a share."
)
@click.option(
    "--agreement",
    type=RealNumber(),
    required=True,
    help="Share of items where both are right or both wrong.",
)
@_test_option("mid-p")
@_common
def accuracy(
    n: int, effect: float, agreement: float, test_name: ConditionalTest, **common: Any
) -> LooksJudgementsResult:
    """Two systems on the same items: McNemar's test at each look."""
    from humeval_power.scenarios.accuracy.paired import PairedAccuracy
    from humeval_power.scenarios.looks.judgements import PairedLooks

    looks: LooksOptions = common["looks"]
    _check(effect, common["effects"], ACCURACIES)
    known = KnownAgreement(agreement)
    study = PairedAccuracy(n, difference=effect, agreement=known, test=test_name, alpha=looks.alpha)
    return _answer(lambda at: PairedLooks(study, at), effect, **common)


def _answer(
    make: Callable[[tuple[float, ...]], LookSource],
    effect: float,
    *,
    looks: LooksOptions,
    effects: tuple[float, ...] | None,
    systems: tuple[str, str],
    created: datetime.date | None,
    run: Run,
) -> LooksJudgementsResult:
    from humeval_power.api.looks import judgements
    from humeval_power.inference.looks.futility import ConditionalPowerFutility
    from humeval_power.interfaces.cli.work_ahead import tell_work
    from humeval_power.planning.workload import comparison_workload

    source, rule = make(looks.at), looks.rule
    if isinstance(rule.futility, ConditionalPowerFutility) and rule.futility.under == "design":
        raise click.UsageError(
            "Conditional power under the design is for 'looks study'; use conditional-power:LIMIT:trend here."
        )
    n = run.simulations()
    drawn = (2 + len(effects or ())) * n
    tell_work(
        comparison_workload("assessment", source.sizes[-1], n_simulations=drawn, n_jobs=run.slots),
        n_simulations=n,
    )
    return judgements(
        source,
        rule,
        effect=effect,
        effects=effects,
        systems=systems,
        created=created,
        n_simulations=n,
        seed=run.seed,
        n_jobs=run.n_jobs,
    )
