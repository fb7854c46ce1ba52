"""Options that say what scores of repeated runs vary by, and how many runs are planned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

import click

from humeval_power.errors import InputError, ParametersError, Problem
from humeval_power.interfaces.cli.family import Decorator, EffectRange, Family, any_number
from humeval_power.interfaces.cli.numbers import RealNumber, WholeNumber
from humeval_power.interfaces.cli.options import alpha_option
from humeval_power.interfaces.cli.runs.reading import system_names
from humeval_power.reporting.runs.wording import WORDING
from humeval_power.rules import WITH_MARGIN, Alternative
from humeval_power.runs_parameters import RunsFamily, RunsKind, RunsParameters

if TYPE_CHECKING:
    from humeval_power.scenarios.runs.plan import RunsPlan
    from humeval_power.scenarios.runs.scenario import RunsScenario


Given = Mapping[str, Any]
_PILOTS = "humeval_power.runs_pilots"  # where a command keeps what it has read
DEVIATIONS = (
    "sd_item",
    "icc",
    "sd_run_a",
    "sd_run_b",
    "sd_prompt_slope",
    "sd_residual",
    "sd_item_level",
    "sd_prompt_level",
    "baseline",
)
_NEEDED = {
    ("nested", "gaussian"): ("sd_item", "sd_run"),
    ("nested", "binary"): ("sd_item", "sd_run", "baseline"),
    ("crossed", "gaussian"): ("sd_item", "sd_prompt_slope", "sd_residual"),
    ("crossed", "binary"): ("sd_item", "sd_prompt_slope", "baseline"),
}


def _number(name: str, text: str) -> Decorator:
    return click.option(name, type=RealNumber(), metavar="NUMBER", help=text)


parameter_options: tuple[Decorator, ...] = (
    click.option(
        "--from", "pilot", metavar="FILE", help="A pilot's record: runs test TABLE -o pilot.json."
    ),
    click.option(
        "--systems",
        metavar="A,B",
        callback=system_names,
        help="The pair of the pilot's systems, where it has several.",
    ),
    click.option(
        "--nested", "kind", flag_value="nested", help="Each item has runs of its own: generations."
    ),
    click.option(
        "--crossed", "kind", flag_value="crossed", help="All items have the same runs: prompts, seeds."
    ),
    click.option(
        "--family", type=click.Choice(get_args(RunsFamily)), help="Numbers, or right and wrong. [gaussian]"
    ),
    _number("--sd-item", "SD of items' true differences B - A."),
    _number("--icc", "Correlation of the true differences of items of a cluster. [0]"),
    _number("--sd-run", "Nested: SD of single runs of an item, of both systems."),
    _number("--sd-run-a", "Nested: the same of A."),
    _number("--sd-run-b", "Nested: the same of B."),
    _number("--sd-prompt-slope", "Crossed: SD of prompts' own differences B - A."),
    _number("--sd-residual", "Crossed numbers: SD of single scores."),
    _number("--sd-item-level", "Crossed, right and wrong: SD of items' levels. [0]"),
    _number("--sd-prompt-level", "Crossed, right and wrong: SD of prompts' levels. [0]"),
    _number("--baseline", "Right and wrong: share that is right, halfway between A and B."),
)
cluster_options: tuple[Decorator, ...] = (
    click.option(
        "--cluster-size", type=RealNumber(), default=1.0, show_default=True, help="Mean items in a cluster."
    ),
    click.option(
        "--cluster-cv",
        type=RealNumber(),
        default=0.0,
        show_default=True,
        help="Coefficient of variation of the clusters' sizes.",
    ),
)
rule_options: tuple[Decorator, ...] = (
    click.option(
        "--alternative",
        type=click.Choice(get_args(Alternative)),
        default="two-sided",
        show_default=True,
        help="What to show: a difference, B better, B not worse by --margin, or none as large as --margin.",
    ),
    _number("--margin", "A difference of scores, in their unit."),
    alpha_option,
)
_count_options: tuple[Decorator, ...] = (
    click.option("--runs", type=WholeNumber(min=1), help="Nested: runs of each item by each system."),
    click.option("--runs-a", type=WholeNumber(min=1), help="Nested: runs of each item by A."),
    click.option("--runs-b", type=WholeNumber(min=1), help="Nested: runs of each item by B."),
    click.option("--prompts", type=WholeNumber(min=2), help="Crossed: prompts or seeds, for all items."),
)


def parameters_of(given: Given) -> RunsParameters:
    """What scores vary by: the pilot's, changed by what was typed; or what was typed alone.

    Raises
    ------
    InputError
        Options that are missing, all at once, or that belong to the other kind of runs.
    """
    typed = {name: given[name] for name in DEVIATIONS if given[name] is not None}
    for name in ("sd_run_a", "sd_run_b"):
        if given["sd_run"] is not None:
            typed.setdefault(name, given["sd_run"])
    if given["pilot"] is not None:
        found = _pilot(given["pilot"], given["systems"])
        other = [name for name in ("kind", "family") if given[name] not in (None, getattr(found, name))]
        if other:
            told = f"{found.kind} runs, family {found.family}"
            raise InputError([Problem(f"holds {told}.", f"Leave --{other[0]} out.", place=given["pilot"])])
        with _naming_options():
            return replace(found, **typed)
    if given["systems"]:
        raise InputError("--systems names a pair of a pilot: give --from FILE, or leave it out.")
    if given["kind"] is None:
        raise InputError(
            "Say what the runs are: --nested (generations of each item) or --crossed (the same prompts or seeds "
            "for all items); or give a pilot by --from FILE."
        )
    kind: RunsKind = given["kind"]
    family: RunsFamily = given["family"] or "gaussian"
    has_runs = {"sd_run_a", "sd_run_b"} <= set(typed)
    missing = [
        name for name in _NEEDED[kind, family] if (not has_runs if name == "sd_run" else name not in typed)
    ]
    if missing:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in missing)
        raise InputError(
            f"{kind.capitalize()} runs, family {family}, need {names}; or a pilot by --from FILE."
        )
    with _naming_options():
        return RunsParameters(kind=kind, family=family, **typed)


@contextmanager
def _naming_options() -> Iterator[None]:
    """Within it, what is wrong with a parameter is said of the option that gives it."""
    try:
        yield
    except ParametersError as error:
        raise InputError(
            [
                replace(each, place=f"--{(each.column or '').replace('_', '-')}", column=None)
                for each in error.problems
            ]
        ) from None


def _pilot(path: str, systems: tuple[str, ...]) -> RunsParameters:
    """The pilot's parameters, read once in a command: a search asks again and again."""
    from humeval_power.interfaces.formats.runs_pilot import read_pilot

    context = click.get_current_context(silent=True)
    kept = {} if context is None else context.meta.setdefault(_PILOTS, {})
    if (path, systems) not in kept:
        kept[path, systems] = read_pilot(path, systems=systems)
    found: RunsParameters = kept[path, systems]
    return found


def build(n: int, effect: float, given: Given) -> RunsScenario:
    """The scenario of so many items and a true difference."""
    from humeval_power.scenarios.runs.scenario import runs_scenario

    parameters = parameters_of(given)
    runs_a, runs_b = counts_of(parameters, given)
    return runs_scenario(parameters, plan_of(n, runs_a, runs_b, given), effect=effect)


def plan_of(n_items: int, runs_a: int, runs_b: int, given: Given) -> RunsPlan:
    """The plan of so many items and runs, as the options say the rest."""
    from humeval_power.scenarios.runs.plan import RunsPlan

    names = ("cluster_size", "cluster_cv", "alternative", "margin", "alpha")
    return RunsPlan(n_items=n_items, runs_a=runs_a, runs_b=runs_b, **{name: given[name] for name in names})


def counts_of(parameters: RunsParameters, given: Given) -> tuple[int, int]:
    """Runs of A and B.

    Raises
    ------
    InputError
        None, or those of the other kind.
    """
    both, a, b, prompts = (given[name] for name in ("runs", "runs_a", "runs_b", "prompts"))
    if parameters.kind == "crossed":
        if prompts is None or any(each is not None for each in (both, a, b)):
            raise InputError(
                "Crossed runs: give --prompts, how many prompts or seeds there are, and no --runs."
            )
        return prompts, prompts
    a, b = (both if each is None else each for each in (a, b))
    if prompts is not None or a is None or b is None:
        raise InputError("Nested runs: give --runs (or --runs-a and --runs-b), and no --prompts.")
    return a, b


def effect_range(given: Given) -> EffectRange:
    """Where a true difference can lie."""
    parameters = parameters_of(given)
    if parameters.family != "binary":
        return any_number(given)
    share = parameters.baseline or 0.0
    reach = 2 * min(share, 1 - share)
    return EffectRange(
        -reach,
        reach,
        f"the shares of both systems lie between 0 and 1: around {share:g} the difference is at most {reach:.4g}.",
        "Points of a hundred are hundredths: 2 points are 0.02.",
    )


def _largest_effect(given: Given) -> float:
    if given["alternative"] in WITH_MARGIN:
        raise InputError(
            f"--alternative {given['alternative']}: a smallest effect is that of a difference; leave it out, or "
            "ask 'runs power' and 'runs size' with --effect 0."
        )
    from humeval_power.scenarios.runs.ceilings import farthest_effect

    return farthest_effect(build(2, 0.0, given))


def _costed_as(given: Given) -> str:
    parameters = parameters_of(given)
    if parameters.kind == "nested":
        return "runs" if parameters.family == "gaussian" else "runs-answers"
    if parameters.family == "binary":
        return "runs-logit"
    return "runs-unequal" if given["cluster_size"] > 1 else "runs-crossed"


def _most(_given: Given) -> int:
    from humeval_power.scenarios.runs.plan import MOST_ITEMS

    return MOST_ITEMS


FAMILY = Family(
    wording=WORDING,
    options=(*parameter_options, *_count_options, *cluster_options, *rule_options),
    build=build,
    size_help="Items, answered by both systems.",
    effect_help="True difference B - A, in the unit of the scores; of right and wrong a share.",
    largest_effect=_largest_effect,
    effect_range=effect_range,
    costed_as=_costed_as,
    most=_most,
    shows_none=lambda given: given["alternative"] in WITH_MARGIN,
)
