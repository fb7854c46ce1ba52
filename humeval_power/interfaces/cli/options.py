"""Options that several commands share, each spelt once; defaults come from the records that own them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, get_args

import click

from humeval_power.errors import HumevalPowerError
from humeval_power.interfaces.cli.numbers import LARGEST_SEED, RealNumber, WholeNumber
from humeval_power.interfaces.cli.option_groups import Function, collected, decorated, fields_of
from humeval_power.interfaces.cli.output import QUIET
from humeval_power.rules import (
    WITH_MARGIN,
    Alternative,
    Analysis,
    DecisionRule,
    DegreesOfFreedom,
    Estimator,
)

_RULE_DEFAULTS = {field.name: field.default for field in fields(DecisionRule)}


@dataclass(frozen=True, slots=True)
class TableOptions:
    """How the user says to read a table; None and () leave it to the table."""

    worker: str | None
    item: str | None
    system: str | None
    rating: str | None
    criterion_column: str | None
    criterion: str | None
    systems: tuple[str, str] | None
    scale: str | None
    lower_is_better: bool
    missing: tuple[str, ...]


def _pair(_ctx: click.Context, _option: click.Parameter, text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    names = [name.strip() for name in text.split(",")]
    if len(names) != 2 or not all(names):
        raise click.BadParameter(f"name two systems, A first: A,B; got {text!r}.")
    return names[0], names[1]


def _be_quiet(ctx: click.Context, _option: click.Parameter, quiet: bool) -> None:
    ctx.meta[QUIET] = quiet


_TABLE_OPTIONS = (
    click.option("--worker", metavar="COLUMN", help="Column of the worker. [found by name]"),
    click.option("--item", metavar="COLUMN", help="Column of the item. [found by name]"),
    click.option("--system", metavar="COLUMN", help="Column of the system. [found by name]"),
    click.option("--rating", metavar="COLUMN", help="Column of the rating. [found by name]"),
    click.option("--criterion-column", metavar="COLUMN", help="Column of the criterion. [found by name]"),
    click.option("--criterion", metavar="NAME", help="Criterion to keep, where there are several."),
    click.option(
        "--systems",
        metavar="A,B",
        callback=_pair,
        help="The two systems to compare; the effect is B - A.",
    ),
    click.option("--scale", metavar="LOW:HIGH", help="Scale of the ratings, such as 1:5. [from the data]"),
    click.option(
        "--lower-is-better/--higher-is-better",
        default=False,
        help="Direction of the scale. [higher is better]",
    ),
    click.option(
        "--missing",
        metavar="VALUE",
        multiple=True,
        help="A cell that means 'no rating', besides blank, N/A, null and the like; repeatable.",
    ),
)


def table_options(command: Function) -> Function:
    """Add the options that say how to read a table; the command gets them as `table: TableOptions`."""
    return collected(command, _TABLE_OPTIONS, name="table", collect=fields_of(TableOptions))


def rule_options(command: Function) -> Function:
    """Add the options of the test; the command gets them as `rule: DecisionRule`."""

    return _with_rule(command, margin_option)


def margin_finding_options(command: Function) -> Function:
    """The same for a command that finds the margin: the rule then has the widest one there is, 1."""
    sought = click.option("--margin", type=RealNumber(), hidden=True)  # known, so that it can be explained
    return _with_rule(command, sought, finds_margin=True)


def _with_rule(command: Function, margin: Function, *, finds_margin: bool = False) -> Function:
    def rule_of(values: dict[str, Any]) -> DecisionRule:
        if finds_margin and values["margin"] is not None:
            raise click.UsageError("The margin is what this command finds: leave out --margin.")
        if finds_margin and values["alternative"] in WITH_MARGIN:
            values["margin"] = 1.0
        try:
            return DecisionRule(**{name: values.pop(name) for name in _RULE_DEFAULTS})
        except HumevalPowerError as error:
            raise click.UsageError(str(error)) from None

    sides, analyses = _rule_choice("alternative", Alternative), _rule_choice("analysis", Analysis)
    options = (estimator_option, df_option, sides, analyses, margin, alpha_option)
    return collected(command, options, name="rule", collect=rule_of)


def _rule_choice(name: str, words: object) -> Function:
    return click.option(
        f"--{name}",
        type=click.Choice(get_args(words)),
        default=_RULE_DEFAULTS[name],
        show_default=True,
        help=_RULE_HELP[name],
    )


_RULE_HELP = {
    "estimator": "Restricted or plain maximum likelihood.",
    "df": "Degrees of freedom of the test.",
    "analysis": "Fit the ratings, or each worker's and item's difference alone.",
    "alternative": "What to show: a difference in either direction, only B better than A, B not worse by "
    "--margin, or no difference as large as --margin.",
}

estimator_option = _rule_choice("estimator", Estimator)
df_option = _rule_choice("df", DegreesOfFreedom)
alpha_option = click.option(
    "--alpha",
    type=RealNumber(0, 1, min_open=True, max_open=True),
    default=_RULE_DEFAULTS["alpha"],
    show_default=True,
    help="Level of the test; of each side for non-inferior and equivalent, where 0.05 means a 90 % interval.",
)
margin_option = click.option(
    "--margin",
    type=RealNumber(),
    help="Smallest difference on [0, 1] that would matter, for the alternatives non-inferior and "
    "equivalent; fixed before the ratings are seen.",
)

power_target_option = click.option(
    "--power",
    "target",
    type=RealNumber(0, 1, min_open=True, max_open=True),
    default=0.8,
    show_default=True,
    help="Target power.",
)
# The default of these is None; the command takes the constant of the module that does the work.
seed_option = click.option(
    "--seed",
    type=WholeNumber(min=0, largest=LARGEST_SEED),
    help="Seed of the random numbers. [fixed, and recorded]",
)
simulations_option = click.option(
    "--simulations", type=WholeNumber(min=1, largest=10**15), help="Simulated studies for each number."
)
jobs_option = click.option(
    "--jobs",
    type=WholeNumber(min=1),
    help="Cores to use; the result does not depend on it. [all]",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
output_option = click.option("-o", "--output", metavar="PATH", help="Write to PATH, not to the terminal.")
force_option = click.option("--force", is_flag=True, help="Overwrite what is there.")
quiet_option = click.option(
    "-q",
    "--quiet",
    is_flag=True,
    expose_value=False,
    callback=_be_quiet,
    help="Print the result and errors only.",
)


def run_options(command: Function) -> Function:
    """Add --simulations, --seed and --jobs."""
    return decorated(command, (simulations_option, seed_option, jobs_option))


def result_options(command: Function) -> Function:
    """Add --json, --output, --force and --quiet."""
    return decorated(command, (json_option, output_option, force_option, quiet_option))
