"""`humeval-power accuracy bounds`: what a test set can show where the agreement is not known."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import get_args

import click

from humeval_power.inference.mcnemar import RECOMMENDED, PairedTest
from humeval_power.interfaces.cli.numbers import RealNumber, WholeNumber
from humeval_power.interfaces.cli.options import alpha_option, power_target_option, result_options
from humeval_power.interfaces.cli.output import emit, note, refuse_to_overwrite, wrapped
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.run import typed_command
from humeval_power.interfaces.cli.text import text_table
from humeval_power.interfaces.formats.documents.reading import to_json
from humeval_power.planning.accuracy.detectable import (
    DetectableAccuracy,
    detectable_accuracy,
    detectable_by_prior,
)
from humeval_power.reporting.records import versions
from humeval_power.scenarios.accuracy.agreement import FITTED_ACCURACIES
from humeval_power.scenarios.accuracy.unpaired import UnpairedAccuracy

paired_test_option = click.option(
    "--test",
    "test_name",
    type=click.Choice(get_args(PairedTest)),
    default=RECOMMENDED,
    show_default=True,
    help="Version of McNemar's test.",
)


@click.command("bounds", cls=Command)
@click.option("--n", type=WholeNumber(min=2), required=True, help="Items in the test set.")
@click.option(
    "--baseline", type=RealNumber(), required=True, help="Accuracy of A, the baseline, as a share."
)
@paired_test_option
@power_target_option
@alpha_option
@result_options
def bounds(
    n: int,
    baseline: float,
    test_name: PairedTest,
    target: float,
    alpha: float,
    as_json: bool,
    output: str | None,
    force: bool,
) -> None:
    """The smallest improvement a test set can show, agreement not known.

    Under the least and the most agreement that the accuracies allow, half-way
    between them, and as regressions on GLUE and SQuAD 2.0 systems predict it.
    """
    if output is not None:
        refuse_to_overwrite([output], force=force)
    low, high = FITTED_ACCURACIES
    if not low <= baseline <= high:
        note(f"The regressions have seen accuracies of {low:g} to {high:g} only.")
    unpaired = detectable_accuracy(UnpairedAccuracy(n, 0.0, baseline=baseline, alpha=alpha), power=target)
    found = detectable_by_prior(n, baseline=baseline, test=test_name, power=target, alpha=alpha)
    results: dict[str, DetectableAccuracy] = {str(name): each for name, each in found.items()}
    results["unpaired"] = unpaired
    if as_json:
        record = {
            "schema": "humeval_power/accuracy_bounds/1",
            "n": n,
            "baseline": baseline,
            "test": test_name,
            "power": target,
            "alpha": alpha,
            "found": {name: asdict(each) for name, each in results.items()},
            "versions": versions(),
            "command": typed_command(),
        }
        text = to_json(record)
    else:
        text = _bounds_text(n, baseline, target, results)
    emit(text, output=output, force=force)


def _bounds_text(n: int, baseline: float, target: float, results: Mapping[str, DetectableAccuracy]) -> str:
    titles = {
        "least": "the least possible (worst)",
        "middle": "half-way (Lachenbruch 1992)",
        "most": "the most possible (best)",
        "glue": "as GLUE systems agree",
        "squad": "as SQuAD 2.0 systems agree",
        "unpaired": "none: items of their own",
    }
    rows = []
    for name, title in titles.items():
        each = results[name]
        shown = f"{100 * each.effect:.3g}" if each.is_possible else "none possible"
        best = "" if math.isnan(each.best_power) else f"{each.best_power:.3f}"
        rows.append([title, shown, f"{100 * each.largest:.3g}", best])
    head = f"{n:,} items, accuracy of A {baseline:.4g}, power {target:g}; improvements in points of 100:"
    table = text_table(["agreement", "smallest", "largest possible", "its power"], rows)
    lines = [wrapped(head), "", table]
    if any(not each.is_possible for each in results.values()):
        lines += [
            "",
            wrapped(
                "None possible: even the largest improvement that the agreement and the accuracy of A leave "
                "room for is found too rarely (where that is 0, the agreement itself is impossible)."
            ),
        ]
    return "\n".join(lines)
