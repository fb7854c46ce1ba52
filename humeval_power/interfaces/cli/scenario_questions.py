"""The questions power, mde, size and surface as commands, for any family of scenarios."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import click

from humeval_power.interfaces.cli.invocation import EXIT_TARGET_MISSED, typed_command
from humeval_power.interfaces.cli.options import (
    force_option,
    jobs_option,
    json_option,
    output_option,
    quiet_option,
    seed_option,
    simulations_option,
)
from humeval_power.interfaces.cli.output import emit, note, refuse_to_overwrite, wrapped, write_directory
from humeval_power.interfaces.cli.progress import progress
from humeval_power.interfaces.cli.study_options import default_jobs, number_list
from humeval_power.interfaces.cli.text_table import text_table
from humeval_power.interfaces.formats.documents import to_json
from humeval_power.planning.comparison import Method
from humeval_power.planning.power import DEFAULT_SEED, DEFAULT_SIMULATIONS, PowerEstimate
from humeval_power.planning.questions import (
    Answer,
    By,
    Detectable,
    RequiredN,
    answer,
    detectable_effect,
    required_n,
    scenario_surface,
)
from humeval_power.reporting.scenario_records import (
    answer_record,
    detectable_record,
    required_record,
    rows_record,
)
from humeval_power.scenarios.computed import ComputedPower, is_computable
from humeval_power.scenarios.scenario import Scenario

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
Given = Mapping[str, Any]
SURFACE_FILES = ("surface.csv", "surface.png", "surface.svg", "surface.json")
_WAYS: dict[Method, tuple[By, ...]] = {
    "analytic": ("computed",),
    "simulate": ("simulation",),
    "both": ("computed", "simulation"),
}


@dataclass(frozen=True)
class Family:
    """A kind of scenario as the command line sees it.

    `build` makes the scenario of a size, a true effect and the values of `options` by name;
    `largest_effect` is where the search for a detectable effect ends, `words` describe a scenario in
    lines of at most 80 characters, `unit` follows effects ('' for shares).
    """

    name: str
    options: tuple[Decorator, ...]
    build: Callable[[int, float, Given], Scenario]
    size_help: str
    effect_help: str
    largest_effect: Callable[[Given], float]
    words: Callable[[Scenario], list[str]]
    unit: str = ""
    method: Method = "both"
    simulations: int = DEFAULT_SIMULATIONS


def question_commands(family: Family) -> list[click.Command]:
    """The commands power, mde, size and surface of a family."""
    return [_power(family), _mde(family), _size(family), _surface(family)]


def _power(family: Family) -> click.Command:
    def command(
        n: int,
        effect: float,
        method: Method,
        simulations: int | None,
        seed: int | None,
        jobs: int | None,
        as_json: bool,
        output: str | None,
        force: bool,
        **given: Any,
    ) -> None:
        if output is not None:
            refuse_to_overwrite([output], force=force)
        scenario = family.build(n, effect, given)
        with progress("Simulating", total=simulations or family.simulations) as advance:
            done = 0

            def step(now: int, _total: int) -> None:
                nonlocal done
                advance(now - done)
                done = now

            result = answer(
                scenario,
                by=_WAYS[method],
                n_simulations=simulations or family.simulations,
                seed=DEFAULT_SEED if seed is None else seed,
                n_jobs=jobs or default_jobs(),
                progress=step,
            )
        record = answer_record(
            family.name,
            result,
            given={"n": n, **_plain(given)},
            seed=DEFAULT_SEED if seed is None else seed,
            command=typed_command(),
        )
        text = to_json(record) if as_json else _power_text(family, result)
        emit(text, output=output, force=force)

    return _built(
        family,
        "power",
        "How often would a comparison of this size find an effect of this size?",
        command,
        (_n(family), _effect(family)),
    )


def _mde(family: Family) -> click.Command:
    def command(
        n: int,
        target: float,
        method: Method,
        simulations: int | None,
        seed: int | None,
        jobs: int | None,
        as_json: bool,
        output: str | None,
        force: bool,
        **given: Any,
    ) -> None:
        if output is not None:
            refuse_to_overwrite([output], force=force)
        largest = family.largest_effect(given)
        scenario = family.build(n, largest, given)
        ways = [by for by in _WAYS[method] if by == "simulation" or is_computable(scenario)]
        if method == "both" and "computed" in ways:
            ways = ["computed"]  # a bisection by simulation is for those who ask for it
        found = [
            detectable_effect(
                scenario,
                largest=largest,
                power=target,
                by=by,
                n_simulations=simulations or family.simulations,
                seed=DEFAULT_SEED if seed is None else seed,
                n_jobs=jobs or default_jobs(),
            )
            for by in ways or ["simulation"]
        ]
        record = detectable_record(
            family.name,
            found,
            given={"n": n, **_plain(given)},
            seed=DEFAULT_SEED if seed is None else seed,
            command=typed_command(),
        )
        shown = family.build(n, found[0].effect, given)
        text = to_json(record) if as_json else _mde_text(family, shown, found)
        emit(text, output=output, force=force)

    return _built(
        family,
        "mde",
        "The smallest effect that a comparison of this size finds with the target power.",
        command,
        (_n(family), _target),
    )


def _size(family: Family) -> click.Command:
    def command(
        effect: float,
        target: float,
        highest: int,
        method: Method,
        simulations: int | None,
        seed: int | None,
        jobs: int | None,
        as_json: bool,
        output: str | None,
        force: bool,
        **given: Any,
    ) -> None:
        if output is not None:
            refuse_to_overwrite([output], force=force)
        found = required_n(
            lambda n: family.build(n, effect, given),
            power=target,
            highest=highest,
            by="simulation" if method == "simulate" else "computed",
            n_simulations=simulations or family.simulations,
            seed=DEFAULT_SEED if seed is None else seed,
            n_jobs=jobs or default_jobs(),
        )
        record = required_record(
            family.name,
            found,
            given={"effect": effect, **_plain(given)},
            seed=DEFAULT_SEED if seed is None else seed,
            command=typed_command(),
        )
        shown = family.build(found.n or highest, effect, given)
        emit(
            to_json(record) if as_json else _size_text(family, shown, found),
            output=output,
            force=force,
        )
        if found.n is None:
            click.get_current_context().exit(EXIT_TARGET_MISSED)

    return _built(
        family,
        "size",
        "The smallest size that finds this effect with the target power.",
        command,
        (_effect(family), _target, _highest),
    )


def _surface(family: Family) -> click.Command:
    def command(
        n: tuple[int, ...],
        effect: tuple[float, ...],
        method: Method,
        simulations: int | None,
        seed: int | None,
        jobs: int | None,
        as_json: bool,
        output: str | None,
        force: bool,
        **given: Any,
    ) -> None:
        if output is not None:
            refuse_to_overwrite([Path(output) / name for name in SURFACE_FILES], force=force)
        cells = [({"n": size}, family.build(size, value, given)) for size in n for value in effect]
        with progress("Cells", total=len(cells)) as advance:
            rows = scenario_surface(
                cells,
                by=_WAYS["analytic" if method == "both" and is_computable(cells[0][1]) else method],
                n_simulations=simulations or family.simulations,
                seed=DEFAULT_SEED if seed is None else seed,
                n_jobs=jobs or default_jobs(),
                progress=lambda _done, _total: advance(1),
            )
        record = rows_record(
            family.name,
            rows,
            given=_plain(given),
            seed=DEFAULT_SEED if seed is None else seed,
            command=typed_command(),
        )
        if output is not None:
            write_directory(output, _files(family, rows, record), force=force)
            note(f"Written to {output}: {', '.join(SURFACE_FILES)}")
        click.echo(to_json(record) if as_json else _surface_text(family, rows), nl=not as_json)

    sizes = click.option(
        "--n", metavar="LIST", required=True, callback=number_list(int), help=family.size_help
    )
    effects = click.option(
        "--effect", metavar="LIST", required=True, callback=number_list(float), help=family.effect_help
    )
    return _built(
        family,
        "surface",
        "Power over many sizes and effects, with a figure.",
        command,
        (sizes, effects),
        output=click.option(
            "-o", "--output", metavar="DIR", help="Write surface.csv, .png, .svg and .json to DIR."
        ),
    )


def _n(family: Family) -> Decorator:
    return click.option("--n", type=click.IntRange(min=2), required=True, help=family.size_help)


def _effect(family: Family) -> Decorator:
    return click.option("--effect", type=float, required=True, help=family.effect_help)


_target: Decorator = click.option(
    "--power",
    "target",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.8,
    show_default=True,
    help="Target power.",
)
_highest: Decorator = click.option(
    "--highest",
    type=click.IntRange(min=2),
    default=1_000_000,
    show_default=True,
    help="Where the search for a size ends.",
)


def _method(family: Family) -> Decorator:
    return click.option(
        "--method",
        type=click.Choice(get_args(Method)),
        default=family.method,
        show_default=True,
        help="Computed at once (exactly or by a formula; the answer says which), by simulation, or both.",
    )


def _built(
    family: Family,
    name: str,
    what: str,
    function: Callable[..., None],
    own: tuple[Decorator, ...],
    *,
    output: Decorator = output_option,
) -> click.Command:
    shared = (_method(family), simulations_option, seed_option, jobs_option, json_option, output)
    decorated: Callable[..., Any] = function
    for option in reversed((*own, *family.options, *shared, force_option, quiet_option)):
        decorated = option(decorated)
    return click.command(name, help=what)(decorated)


def _plain(given: Given) -> dict[str, object]:
    """What the user said, as JSON can hold it."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}


def _power_text(family: Family, result: Answer) -> str:
    facts = [("Study", line) for line in family.words(result.scenario)]
    facts.append(("Effect", _shown(result.scenario.true_effect, family.unit)))
    if result.computed is not None:
        facts += _computed_facts(result.computed)
    if result.simulated is not None:
        facts += _simulated_facts(result.simulated)
    return _lines(facts)


def _computed_facts(computed: ComputedPower) -> list[tuple[str, str]]:
    errors = _errors(computed.type_m, computed.type_s)
    return [("Computed", f"power {computed.power:.4f}{errors}"), ("", f"by {computed.method}")]


def _simulated_facts(estimate: PowerEstimate) -> list[tuple[str, str]]:
    low, high = estimate.interval
    failed = f", {estimate.n_failed:,} failed" if estimate.n_failed else ""
    errors = _errors(estimate.type_m, estimate.type_s)
    return [
        ("Simulated", f"power {estimate.power:.4f}{errors}"),
        (
            "",
            f"95 % Monte Carlo interval {low:.3f} to {high:.3f}; {estimate.n_simulations:,} studies{failed}",
        ),
    ]


def _errors(type_m: float, type_s: float) -> str:
    if math.isnan(type_m):
        return ""
    return (
        f"; significant estimates exaggerate {type_m:.2f} times, {100 * type_s:.2g} % have the wrong sign"
    )


def _mde_text(family: Family, scenario: Scenario, found: list[Detectable]) -> str:
    facts = [("Study", line) for line in family.words(scenario)]
    for each in found:
        low, high = each.interval or (None, None)
        reach = (
            ""
            if low is None
            else f"  (95 % Monte Carlo interval {_shown(low)} to {_shown(high or math.nan)})"
        )
        facts.append(("MDE", f"{_shown(each.effect, family.unit)} with power {each.power:g}{reach}"))
        facts.append(("", f"by {each.method}"))
    return _lines(facts)


def _size_text(family: Family, scenario: Scenario, found: RequiredN) -> str:
    facts = [("Study", line) for line in family.words(scenario)]
    facts.append(("Effect", _shown(scenario.true_effect, family.unit)))
    interval = found.interval
    reach = "" if interval is None else f", Monte Carlo interval {interval[0]:.3f} to {interval[1]:.3f}"
    if found.n is None:
        text = f"none up to {found.highest:,}: the power there is {found.power:.3f}{reach}"
    else:
        text = f"n = {found.n:,}  (power {found.power:.4f}{reach}; target {found.target:g})"
    return _lines([*facts, ("Size", text), ("", f"by {found.method}")])


def _surface_text(family: Family, rows: list[dict[str, Any]]) -> str:
    header = ["n", "effect", "power", "+-", "type M", "type S"]
    lines = [
        [
            f"{row['n']:,}",
            _shown(row["effect"], family.unit),
            f"{row['power']:.4f}",
            f"{(row['power_high'] - row['power_low']) / 2:.3f}" if row["n_simulations"] else "",
            f"{row['type_m']:.2f}",
            f"{row['type_s']:.4f}",
        ]
        for row in rows
    ]
    return text_table(header, lines, indent="")


def _files(family: Family, rows: list[dict[str, Any]], record: dict[str, object]) -> dict[str, str | bytes]:
    import pandas as pd

    from humeval_power.reporting.curve_figure import curve_figure
    from humeval_power.reporting.figure_style import figure_bytes

    label = f"True effect ({family.unit})" if family.unit else "True effect"
    figure = curve_figure(rows, effect_label=label)
    return {
        "surface.csv": pd.DataFrame(rows).to_csv(index=False, float_format="%.10g"),
        "surface.png": figure_bytes(figure, "png"),
        "surface.svg": figure_bytes(figure, "svg"),
        "surface.json": to_json(record),
    }


def _shown(effect: float, unit: str = "") -> str:
    return f"{effect:.4g} {unit}".strip()


def _lines(facts: list[tuple[str, str]]) -> str:
    lines, last = [], ""
    for label, text in facts:
        lines.append(wrapped(text, bullet=f"{'' if label == last else label:<11}"))
        last = label or last
    return "\n".join(lines)
