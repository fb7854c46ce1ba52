"""`humeval-power contingency estimate` and `contingency test`: from labels of two systems."""

from __future__ import annotations

from dataclasses import asdict
from typing import get_args

import click
import numpy as np
from numpy.typing import NDArray

from humeval_power.errors import InputError, Problem
from humeval_power.inference.contingency import (
    DEFAULT_SWAPS,
    ContingencyMetric,
    ContingencyTest,
    contingency_test,
)
from humeval_power.interfaces.cli.numbers import WholeNumber
from humeval_power.interfaces.cli.options import (
    Function,
    alpha_option,
    decorated,
    result_options,
    seed_option,
)
from humeval_power.interfaces.cli.output import emit, note, refuse_to_overwrite, wrapped
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.run import typed_command
from humeval_power.interfaces.cli.text import text_table
from humeval_power.interfaces.formats.corpora import read_labels
from humeval_power.interfaces.formats.documents.reading import to_json
from humeval_power.kernels.confusion import OF_A_CLASS, OF_ALL, metric_value
from humeval_power.planning.power import DEFAULT_SEED
from humeval_power.scenarios.contingency.tables import counted

ESTIMATE_SCHEMA = "humeval_power/contingency_estimate/1"
TEST_SCHEMA = "humeval_power/contingency_test/1"
SHOWN_CLASSES = 12

Counts = NDArray[np.int64]

metric_option = click.option(
    "--metric",
    type=click.Choice(get_args(ContingencyMetric)),
    default="f1",
    show_default=True,
    metavar="NAME",
    help="What is compared: f1, precision or recall (of the positive class), accuracy, balanced-accuracy, "
    "mcc, macro-f1 or micro-f1.",
)
positive_option = click.option(
    "--positive", metavar="LABEL", help="The positive class, for F1, precision and recall. [1]"
)


def place_of_positive(metric: ContingencyMetric, classes: tuple[str, ...], label: str | None) -> int:
    """Where the positive class is; without a label it is '1', and 0 if the metric has none.

    Raises
    ------
    InputError
        A label that is no class, or none where the metric needs one.
    """
    wanted = "1" if label is None else label
    if wanted in classes:
        return classes.index(wanted)
    if label is None and metric not in OF_A_CLASS:
        return 0
    known = ", ".join(classes[:SHOWN_CLASSES])
    rule = f"The {metric} of which class? The classes are {known}."
    if label is not None:
        rule = f"There is no class {label!r}; the classes are {known}."
    raise InputError([Problem(rule, "Name one with --positive, or take macro-f1.")])


def tell_foreign(counts: Counts, classes: tuple[str, ...]) -> None:
    """Say which predicted labels no item has: usually a slip, and macro-F1 counts each as a class of 0."""
    foreign = [name for name, items in zip(classes, counts.sum(axis=(1, 2)), strict=True) if not items]
    if foreign:
        shown = ", ".join(foreign[:SHOWN_CLASSES])
        note(
            f"No item has the true label {shown}, which a system predicts. Each such label is a class whose "
            "F1 is 0 for both systems in macro-F1; if it is a slip, correct it."
        )


def _data_options(command: Function) -> Function:
    options = (
        click.option("--gold", metavar="FILE", required=True, help="True labels, one a line."),
        click.option(
            "--system-a", metavar="FILE", required=True, help="Predictions of A, one label a line."
        ),
        click.option(
            "--system-b", metavar="FILE", required=True, help="Predictions of B; effects are B - A."
        ),
    )
    return decorated(command, options)


@click.command("estimate", cls=Command)
@_data_options
@positive_option
@result_options
def estimate(
    gold: str,
    system_a: str,
    system_b: str,
    positive: str | None,
    as_json: bool,
    output: str | None,
    force: bool,
) -> None:
    """How do two systems err together: joint tables and every metric, from labels.

    Power depends on how often the systems differ, class by class. The commands
    power, mde, size and surface take these tables with the same three files.
    """
    if output is not None:
        refuse_to_overwrite([output], force=force)
    counts, classes = counted(*read_labels(gold, system_a, system_b))
    tell_foreign(counts, classes)
    metric: ContingencyMetric = "macro-f1" if positive is None and "1" not in classes else "f1"
    place = place_of_positive(metric, classes, positive)
    values = _values(counts, place if metric == "f1" else None)
    record = {
        "schema": ESTIMATE_SCHEMA,
        "classes": list(classes),
        "positive": classes[place] if metric == "f1" else None,
        "n_items": int(counts.sum()),
        "counts": counts.tolist(),
        "metrics": {name: {"a": a, "b": b, "difference": b - a} for name, (a, b) in values.items()},
        **_provenance(),
    }
    emit(
        to_json(record) if as_json else _estimate_text(counts, classes, values), output=output, force=force
    )


@click.command("test", cls=Command)
@_data_options
@metric_option
@positive_option
@click.option(
    "--swaps",
    type=WholeNumber(min=1),
    default=DEFAULT_SWAPS,
    show_default=True,
    help="Random swaps, for more than two classes.",
)
@alpha_option
@seed_option
@result_options
def test(
    gold: str,
    system_a: str,
    system_b: str,
    metric: ContingencyMetric,
    positive: str | None,
    swaps: int,
    alpha: float,
    seed: int | None,
    as_json: bool,
    output: str | None,
    force: bool,
) -> None:
    """Is B better than A: the paired randomisation test of F1, MCC and the like.

    Exchanges the two predictions of a random half of the items and counts how
    often the systems then differ as much as A and B do. With two classes every
    exchange is counted, without drawing any.
    """
    if output is not None:
        refuse_to_overwrite([output], force=force)
    counts, classes = counted(*read_labels(gold, system_a, system_b))
    tell_foreign(counts, classes)
    used = DEFAULT_SEED if seed is None else seed
    place = place_of_positive(metric, classes, positive)
    result = contingency_test(counts, metric=metric, positive=place, n_swaps=swaps, seed=used)
    record = {
        "schema": TEST_SCHEMA,
        "metric": metric,
        "positive": classes[place] if metric in OF_A_CLASS else None,
        **asdict(result),
        "difference": result.difference,
        "p_interval": result.p_interval,
        "alpha": alpha,
        "significant": result.p_value <= alpha,
        "seed": used,
        **_provenance(),
    }
    text = to_json(record) if as_json else _test_text(counts, result, metric, alpha)
    emit(text, output=output, force=force)


def _provenance() -> dict[str, object]:
    from humeval_power.reporting.records import versions

    return {"versions": versions(), "command": typed_command()}


def _values(counts: Counts, positive: int | None) -> dict[str, tuple[float, float]]:
    """Every metric of A and B; those of a class only where there is a positive one."""
    names = [*(OF_A_CLASS if positive is not None else ()), *OF_ALL]
    a, b = counts.sum(axis=2).astype(np.float64), counts.sum(axis=1).astype(np.float64)
    place = positive or 0
    return {
        name: (float(metric_value(name, a, positive=place)), float(metric_value(name, b, positive=place)))
        for name in names
    }


def _estimate_text(counts: Counts, classes: tuple[str, ...], values: dict[str, tuple[float, float]]) -> str:
    header = ["class", "items", "both right", "only A", "only B", "both wrong", "agree %"]
    lines = []
    for place, name in list(enumerate(classes))[:SHOWN_CLASSES]:
        table = counts[place]
        items, both = int(table.sum()), int(table[place, place])
        only_a, only_b = int(table[place].sum()) - both, int(table[:, place].sum()) - both
        cells = (items, both, only_a, only_b, items - both - only_a - only_b)
        agree = f"{100 * float(np.trace(table)) / items:.1f}" if items else ""
        lines.append([name, *(f"{cell:,}" for cell in cells), agree])
    parts = [text_table(header, lines, indent="")]
    if len(classes) > SHOWN_CLASSES:
        parts.append(f"... and {len(classes) - SHOWN_CLASSES} more classes (all of them with --json)")
    rows = [[name, f"{a:.4f}", f"{b:.4f}", f"{b - a:+.4f}"] for name, (a, b) in values.items()]
    return "\n\n".join([*parts, text_table(["metric", "A", "B", "B - A"], rows, indent="")])


def _test_text(counts: Counts, result: ContingencyTest, metric: str, alpha: float) -> str:
    how = f"{result.n_swaps:,} random swaps" if result.n_swaps else "every swap"
    verdict = "significant" if result.p_value <= alpha else "not significant"
    facts = [
        (
            "Metric",
            f"{metric} of A {result.value_a:.4f}, of B {result.value_b:.4f}; "
            f"B - A = {result.difference:+.4f} on {counts.sum():,} items",
        ),
        ("Test", f"paired randomisation, {how}"),
        ("Result", f"p = {result.p_value:.4g}: {verdict} at {alpha:g}"),
    ]
    if result.p_interval is not None:
        low, high = result.p_interval
        facts.append(("", f"with endless swaps p lies between {low:.4g} and {high:.4g} (95 %)"))
    return "\n".join(wrapped(text, bullet=f"{label:<8}") for label, text in facts)
