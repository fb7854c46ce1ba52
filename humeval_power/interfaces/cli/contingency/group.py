"""`humeval-power contingency`: comparisons of classifiers by F1, MCC and the like."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import click

from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.cli.contingency.data import (
    estimate,
    metric_option,
    positive_option,
    test,
)
from humeval_power.interfaces.cli.family import EffectRange, Family, Given
from humeval_power.interfaces.cli.numbers import RealNumber, WholeNumber, number_list
from humeval_power.interfaces.cli.options import alpha_option
from humeval_power.interfaces.cli.output import note
from humeval_power.interfaces.cli.questions import question_commands
from humeval_power.reporting.contingency.wording import WORDING

if TYPE_CHECKING:
    from humeval_power.scenarios.contingency.scenario import ContingencyStudy
    from humeval_power.scenarios.contingency.tables import PairedTables


_BINARY = ("prevalence", "recall", "precision")
_SEVERAL = ("class_shares", "class_recalls")
_FILES = ("gold", "system_a", "system_b")
_WAYS = (
    "Say what is known of the systems: --gold, --system-a and --system-b (their labels on some data); or "
    "--prevalence, --recall and --precision; or --class-shares and --class-recalls."
)


@cache
def _observed(gold: str, system_a: str, system_b: str) -> PairedTables:
    from humeval_power.interfaces.formats.corpora import read_labels
    from humeval_power.scenarios.contingency.labels import counted, foreign_labels
    from humeval_power.scenarios.contingency.tables import observed_tables

    counts, classes = counted(*read_labels(gold, system_a, system_b))
    for remark in foreign_labels(counts, classes):
        note(remark)
    return observed_tables(counts, classes)


def tables_of(given: Mapping[str, Any]) -> PairedTables:
    """The joint tables that the options describe.

    Raises
    ------
    InputError
        Options of no way, of several ways, or of part of a way.
    """
    used = [way for way in (_FILES, _BINARY, _SEVERAL) if any(given[name] for name in way)]
    if len(used) != 1:
        raise InputError(_WAYS)
    missing = [f"--{name.replace('_', '-')}" for name in used[0] if not given[name]]
    if missing:
        raise InputError(f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing. {_WAYS}")
    if used[0] is _FILES:
        if given["agreement"] is not None or given["correlation"] is not None:
            raise InputError(
                "The files show how often the systems agree: leave --agreement and --correlation out."
            )
        return _observed(*(given[name] for name in _FILES))
    from humeval_power.scenarios.contingency.tables import binary_recalls

    if used[0] is _BINARY:
        shares = [1 - given["prevalence"], given["prevalence"]]
        return _assumed(shares, binary_recalls(**{name: given[name] for name in _BINARY}), given)
    return _assumed(given["class_shares"], given["class_recalls"], given)


def _assumed(shares: Any, recalls: Any, given: Mapping[str, Any]) -> PairedTables:
    agreement, correlation = given["agreement"], given["correlation"]
    if (agreement is None) == (correlation is None):
        remedy = "0 means that errors are independent; systems of one family have 0.5 and more."
        rule = "Give --agreement or --correlation, one of them: power depends much on how often both err alike."
        raise InputError([Problem(rule, remedy)])
    from humeval_power.scenarios.contingency.tables import correlated_errors, equal_agreement

    if agreement is not None:
        return equal_agreement(shares, recalls, agreement=agreement)
    return correlated_errors(shares, recalls, correlation=correlation)


def _study(n: int, given: Mapping[str, Any]) -> ContingencyStudy:
    from humeval_power.scenarios.contingency.labels import place_of_positive
    from humeval_power.scenarios.contingency.scenario import ContingencyStudy

    tables = tables_of(given)
    positive = place_of_positive(given["metric"], tables.classes, given["positive"])
    return ContingencyStudy(
        n,
        base=tables,
        metric=given["metric"],
        positive=positive,
        n_flips=given["flips"],
        alpha=given["alpha"],
    )


def _build(n: int, effect: float, given: Mapping[str, Any]) -> ContingencyStudy:
    return _study(n, given).with_effect(effect)


def _share(name: str, metavar: str, text: str) -> Any:
    return click.option(name, type=RealNumber(), metavar=metavar, help=text)


def _range(given: Given) -> EffectRange:
    low, high = _study(2, given).reach
    return EffectRange(
        low,
        high,
        f"with these systems and this agreement a difference of {given['metric']} lies between {low:.4g} and "
        f"{high:.4g}.",
        "Assume less agreement or a smaller effect.",
    )


FAMILY = Family(
    wording=WORDING,
    options=(
        metric_option,
        positive_option,
        click.option("--gold", metavar="FILE", help="True labels, one a line: take the tables from data."),
        click.option("--system-a", metavar="FILE", help="Predictions of A for the same items."),
        click.option("--system-b", metavar="FILE", help="Predictions of B; the effect is B - A."),
        _share("--prevalence", "SHARE", "Two classes: share of positive items."),
        _share("--recall", "SHARE", "Two classes: recall of the systems, halfway between A and B."),
        _share("--precision", "SHARE", "Two classes: precision of the systems, halfway between them."),
        click.option(
            "--class-shares", metavar="LIST", callback=number_list(float), help="Shares of the classes."
        ),
        click.option(
            "--class-recalls", metavar="LIST", callback=number_list(float), help="Recall in each class."
        ),
        _share("--agreement", "SHARE", "Both systems give the same label, alike in every class."),
        _share(
            "--correlation", "R", "Or: correlation of being right, alike in every class; 0 is independent."
        ),
        click.option(
            "--flips",
            type=WholeNumber(min=1),
            help="Random swaps for each simulated p-value. [two classes: exact; else 1000]",
        ),
        alpha_option,
    ),
    build=_build,
    size_help="Items in the test set.",
    effect_help="True difference of the metric, B - A, such as 0.02.",
    largest_effect=lambda given: _study(2, given).reach[1],
    effect_range=_range,
)

command = click.Group(
    "contingency",
    help="""Compare two classifiers by F1, MCC, balanced accuracy and the like.

    Such a metric depends on the whole confusion matrix, so power needs the
    joint table of both systems' predictions in each class: from labels of two
    systems like yours, or from what is usually reported and an assumption on
    how often they agree.

    Another effect is made by giving B a share of the items that A alone has
    right, the same share in every class: agreement stays as it is.
    """,
)
for each in (*question_commands(FAMILY), estimate, test):
    command.add_command(each)
