"""`humeval-power accuracy test` and `estimate`: what a finished comparison shows."""

from __future__ import annotations

import math
from dataclasses import asdict

import click

from humeval_power.errors import InputError
from humeval_power.inference.accuracy import PairedCounts, TableTest, all_tests, paired_counts
from humeval_power.interfaces.cli.numbers import WholeNumber
from humeval_power.interfaces.cli.options import alpha_option, result_options
from humeval_power.interfaces.cli.output import emit, note, refuse_to_overwrite, wrapped
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.run import typed_command
from humeval_power.interfaces.cli.text import text_table
from humeval_power.interfaces.formats.documents.reading import to_json
from humeval_power.reporting.records import versions

_TITLES = {
    "mid-p": "McNemar, mid-p",
    "unconditional": "McNemar, unconditional (Suissa & Shuster)",
    "asymptotic": "McNemar, asymptotic",
    "exact": "McNemar, exact conditional",
    "unpaired": "two proportions, unpaired",
}

files_argument = click.argument("files", nargs=-1, metavar="[A B | TABLE]")
labels_option = click.option("--labels", metavar="FILE", help="The right answers, one for each item.")
column_option = click.option(
    "--column", metavar="NAME", help="Column of the predictions in tables. [found by name]"
)


@click.command("test", cls=Command)
@files_argument
@labels_option
@column_option
@click.option("--only-b", "--b", type=WholeNumber(min=0), help="Items that B alone got right.")
@click.option("--only-a", "--c", type=WholeNumber(min=0), help="Items that A alone got right.")
@click.option("--n", type=WholeNumber(min=1), help="Items in all.")
@click.option("--both", type=WholeNumber(min=0), help="Items that both got right, if known.")
@alpha_option
@result_options
def test(
    files: tuple[str, ...],
    labels: str | None,
    column: str | None,
    only_b: int | None,
    only_a: int | None,
    n: int | None,
    both: int | None,
    alpha: float,
    as_json: bool,
    output: str | None,
    force: bool,
) -> None:
    """Test a difference of accuracy in five ways, the recommended one first.

    From two files of predictions, A's and B's, and --labels; from --only-b,
    --only-a and --n; or from one TABLE with the columns b, c and n, where b
    counts the items that B alone got right, c those that A alone got right.
    """
    if output is not None:
        refuse_to_overwrite([output], force=force)
    counted = (only_b, only_a, n)
    if files and any(value is not None for value in (*counted, both)):
        raise click.UsageError("Give files or counts, not both.")
    if len(files) == 2:
        comparisons = [("", _compared(files, labels, column))]
    elif len(files) == 1:
        from humeval_power.interfaces.formats.accuracy import read_counts

        comparisons = read_counts(files[0])
    elif only_b is not None and only_a is not None and n is not None:
        comparisons = [("", PairedCounts(only_b, only_a, n, both))]
    else:
        raise click.UsageError("Give two files of predictions, one table, or --only-b, --only-a and --n.")
    results = [(name, counts, all_tests(counts)) for name, counts in comparisons]
    if as_json:
        text = to_json(
            {
                "schema": "humeval_power/accuracy_test/1",
                "alpha": alpha,
                "comparisons": [
                    {
                        "name": name,
                        **_described(counts, 1 - alpha),
                        "tests": [asdict(each) for each in tests],
                    }
                    for name, counts, tests in results
                ],
                "versions": versions(),
                "command": typed_command(),
            }
        )
    else:
        text = "\n\n".join(_test_text(*result, alpha) for result in results)
    emit(text, output=output, force=force)


@click.command("estimate", cls=Command)
@click.argument("files", nargs=2, metavar="A B")
@labels_option
@column_option
@result_options
def estimate(
    files: tuple[str, str],
    labels: str | None,
    column: str | None,
    as_json: bool,
    output: str | None,
    force: bool,
) -> None:
    """Accuracies, difference and agreement of two files of predictions.

    The agreement on a validation set is what `accuracy power --agreement` needs
    for the test set. Without --labels the files must say right or wrong (1, 0).
    """
    if output is not None:
        refuse_to_overwrite([output], force=force)
    counts = _compared(files, labels, column)
    if as_json:
        record = {
            "schema": "humeval_power/accuracy_estimate/1",
            **_described(counts, 0.95),
            "versions": versions(),
            "command": typed_command(),
        }
        emit(to_json(record), output=output, force=force)
        return
    lines = _facts(counts, 0.95)
    known = counts.accuracies
    assert known is not None
    line = (
        f"humeval-power accuracy power --n {counts.n_items} --effect {abs(counts.difference):.4g} "
        f"--agreement {counts.agreement:.4g}"
    )
    lines += ["", wrapped("If these are validation items, and the test set is as large:"), f"  {line}"]
    emit("\n".join(lines), output=output, force=force)


def _compared(files: tuple[str, ...], labels: str | None, column: str | None) -> PairedCounts:
    from humeval_power.interfaces.formats.lines import read_predictions, right_answers

    a, b = (read_predictions(path, column=column) for path in files)
    gold = None if labels is None else read_predictions(labels)
    blank = sum(not text for each in (a, b) for text in each.values)
    if not a.values:
        raise InputError(f"{a.source} has no predictions.")
    right_a, right_b = right_answers([a, b], gold)
    if blank:
        note(f"{blank:,} predictions are blank: they count as wrong.")
    return paired_counts(right_b, right_a)


def _described(counts: PairedCounts, confidence: float) -> dict[str, object]:
    known = counts.accuracies
    return {
        **asdict(counts),
        "accuracy_a": None if known is None else known[0],
        "accuracy_b": None if known is None else known[1],
        "difference": counts.difference,
        "interval": list(counts.interval(confidence)),
        "agreement": counts.agreement,
    }


def _facts(counts: PairedCounts, confidence: float) -> list[str]:
    low, high = counts.interval(confidence)
    known = counts.accuracies
    facts = []
    alone = f"B alone right on {counts.only_b:,}, A alone on {counts.only_a:,}"
    if known is None or counts.both is None:
        facts.append(("Items", f"{counts.n_items:,}: {alone}"))
    else:
        neither = counts.n_items - counts.both - counts.only_a - counts.only_b
        text = f"{counts.n_items:,}: both right on {counts.both:,}, {alone}, both wrong on {neither:,}"
        facts.append(("Items", text))
        facts.append(("Accuracy", f"A {known[0]:.4f}, B {known[1]:.4f}"))
    level = f"{100 * confidence:g} % interval {low:+.4f} to {high:+.4f}"
    facts.append(("B - A", f"{counts.difference:+.4f}  ({level})"))
    facts.append(("Agreement", f"{counts.agreement:.4f}  (both right or both wrong)"))
    return [wrapped(text, bullet=f"{label:<11}") for label, text in facts]


def _test_text(name: str, counts: PairedCounts, tests: tuple[TableTest, ...], alpha: float) -> str:
    rows = [[_TITLES[each.name], _p(each.p_value), _verdict(each.p_value, alpha)] for each in tests]
    lines = [name] if name else []
    lines += [*_facts(counts, 1 - alpha), ""]
    lines.append(text_table(["test", "p", f"at {alpha:g}"], rows))
    lines += ["", wrapped("The first is recommended: exact loses power, asymptotic can be slightly bold.")]
    if counts.both is None:
        lines.append(wrapped("The unpaired test needs --both, the items that both got right."))
    else:
        lines.append(wrapped("The unpaired test is for systems that answered different items."))
    return "\n".join(lines)


def _p(value: float) -> str:
    if math.isnan(value):
        return "-"
    return f"{value:.4f}" if value >= 0.0001 else f"{value:.1e}"


def _verdict(value: float, alpha: float) -> str:
    if math.isnan(value):
        return "not known"
    return "significant" if value <= alpha else "no"
