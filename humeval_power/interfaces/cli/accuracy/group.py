"""`humeval-power accuracy`: power of comparing two systems by accuracy on a test set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_args

import click

from humeval_power.choices import RECOMMENDED, PairedTest
from humeval_power.errors import InputError
from humeval_power.interfaces.cli.accuracy.bounds import bounds
from humeval_power.interfaces.cli.accuracy.overlap import agreement_named, overlap, overlap_option
from humeval_power.interfaces.cli.accuracy.results import claims, leaderboard
from humeval_power.interfaces.cli.accuracy.tests import estimate, test
from humeval_power.interfaces.cli.family import ACCURACIES, Assumed, Family
from humeval_power.interfaces.cli.options import alpha_option
from humeval_power.interfaces.cli.output import note
from humeval_power.interfaces.cli.questions import question_commands
from humeval_power.reporting.accuracy.wording import WORDING
from humeval_power.scenarios.accuracy.agreement import (
    Agreement,
    AssumedAgreement,
    KnownAgreement,
    OverlapRegression,
)

if TYPE_CHECKING:
    from humeval_power.scenarios.contract import Scenario


_TOLD = "humeval_power.accuracy.told"

baseline_option = Assumed("--baseline", "Accuracy of A, the baseline, as a share.")
agreement_option = Assumed(
    "--agreement",
    "Share of items on which both systems are right or both wrong, such as on the validation set.",
)
prior_option = overlap_option(
    None,
    "Where the agreement is not known: predicted from --baseline by a regression on GLUE or SQuAD 2.0 systems, or "
    "the least, the most, or the middle of what the accuracies allow. [middle]",
)
test_option = click.option(
    "--test",
    "test_name",
    type=click.Choice([*get_args(PairedTest), "unpaired"]),
    default=RECOMMENDED,
    show_default=True,
    help="McNemar's test in four versions; 'unpaired' if each system answers n items of its own.",
)


def agreement_of(given: Mapping[str, Any]) -> Agreement:
    """The agreement that the options say, with a remark on what was assumed."""
    known, prior = given["agreement"], given["overlap"]
    if known is not None and prior is not None:
        raise InputError("Give --agreement or --overlap, not both.")
    if known is not None:
        return KnownAgreement(known)
    if given["baseline"] is None:
        raise InputError("Give --agreement, or --baseline so that the agreement can be guessed.")
    if prior is None:
        _tell(
            "No --agreement: half-way between the least and the most that the accuracies allow is assumed. "
            "'humeval-power accuracy bounds' shows how much that matters."
        )
        return AssumedAgreement("middle")
    chosen = agreement_named(prior)
    if isinstance(chosen, OverlapRegression) and not chosen.seen[0] <= given["baseline"] <= chosen.seen[1]:
        low, high = chosen.seen
        _tell(
            f"The regression on {chosen.name} systems has seen accuracies of {low:.4g} to {high:.4g} only; at "
            f"{given['baseline']:g} it is a guess."
        )
    return chosen


def build(n: int, effect: float, given: Mapping[str, Any]) -> Scenario:
    """The scenario of a test set of n items and a true difference."""
    from humeval_power.scenarios.accuracy.paired import PairedAccuracy
    from humeval_power.scenarios.accuracy.unpaired import UnpairedAccuracy

    if given["test_name"] == "unpaired":
        if given["baseline"] is None:
            raise InputError("The unpaired test needs --baseline.")
        if given["agreement"] is not None or given["overlap"] is not None:
            raise InputError("Systems that answer different items have no agreement: leave it out.")
        return UnpairedAccuracy(n, effect, baseline=given["baseline"], alpha=given["alpha"])
    return PairedAccuracy(
        n,
        difference=effect,
        agreement=agreement_of(given),
        baseline=given["baseline"],
        test=given["test_name"],
        alpha=given["alpha"],
    )


def largest_effect(given: Mapping[str, Any]) -> float:
    """The largest improvement that is possible."""
    if given["test_name"] == "unpaired":
        baseline = given["baseline"]
        return 1.0 if baseline is None else max(1.0 - baseline, 0.0)
    from humeval_power.scenarios.accuracy.paired import largest_difference

    return largest_difference(agreement_of(given), baseline=given["baseline"])


def _tell(remark: str) -> None:
    """A remark, once in a command."""
    ctx = click.get_current_context(silent=True)
    told = set() if ctx is None else ctx.meta.setdefault(_TOLD, set())
    if remark not in told:
        note(remark)
    told.add(remark)


FAMILY = Family(
    wording=WORDING,
    options=(baseline_option, agreement_option, prior_option, test_option, alpha_option),
    build=build,
    size_help="Items in the test set.",
    effect_help="True difference of accuracy, B - A, as a share: 0.02 is two points of a hundred.",
    largest_effect=largest_effect,
    effect_range=lambda _given: ACCURACIES,
)

command = click.Group(
    "accuracy",
    help="""Compare two systems by accuracy on a test set.

    Power, minimum detectable effect and size for paired right-or-wrong answers
    (McNemar's test); tests of a finished comparison; claims of improvement in
    the literature. Accuracies and effects are shares: 0.972, 0.02.
    """,
)
for _each in (*question_commands(FAMILY), bounds, test, estimate, claims, leaderboard, overlap):
    command.add_command(_each)
