"""The questions power, mde, size and surface as commands, for any family of scenarios."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import click

from humeval_power.api.progress import in_steps, progress
from humeval_power.errors import InputError
from humeval_power.interfaces.cli.family import Decorator, Family, Given
from humeval_power.interfaces.cli.numbers import RealNumber, WholeNumber, number_list
from humeval_power.interfaces.cli.options import (
    collected,
    default_jobs,
    force_option,
    jobs_option,
    json_option,
    output_option,
    power_target_option,
    quiet_option,
    seed_option,
    simulations_option,
)
from humeval_power.interfaces.cli.output import emit, note, refuse_to_overwrite, say, write_directory
from humeval_power.interfaces.cli.questions_text import (
    answer_text,
    detectable_text,
    required_text,
    rows_text,
)
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.run import EXIT_TARGET_MISSED, typed_command
from humeval_power.interfaces.cli.work_ahead import MOST, tell_work
from humeval_power.interfaces.formats.documents.reading import to_json
from humeval_power.planning.power import DEFAULT_SEED
from humeval_power.planning.questions import By, answer, detectable_effect, required_n, scenario_surface
from humeval_power.planning.study.analytic import Method
from humeval_power.planning.workload import NOTHING, SEARCH_STEPS, comparison_workload
from humeval_power.reporting.records import (
    answer_record,
    detectable_record,
    required_record,
    rows_record,
)
from humeval_power.safe_text import table_csv
from humeval_power.scenarios.computed import is_computable

SURFACE_FILES = ("surface.csv", "surface.png", "surface.svg", "surface.json")
_WAYS: dict[Method, tuple[By, ...]] = {
    "analytic": ("computed",),
    "simulate": ("simulation",),
    "both": ("computed", "simulation"),
}


_TYPICAL = 10_000  # size at which a search for one is costed


@dataclass(frozen=True, slots=True)
class _Asked:
    """How an answer is to be found, and where it goes."""

    method: Method
    n_simulations: int
    seed: int
    n_jobs: int
    as_json: bool
    output: str | None
    force: bool

    def refuse_to_overwrite(self, files: Sequence[str] = ()) -> None:
        """Refuse where the output, or one of its `files`, is there already."""
        if self.output is not None:
            paths = [Path(self.output) / name for name in files] or [Path(self.output)]
            refuse_to_overwrite(paths, force=self.force)

    def tell_work(
        self,
        family: Family,
        sizes: Sequence[int],
        given: Mapping[str, Any],
        *,
        simulates: bool,
        times: int = 1,
    ) -> None:
        """Say how long comparisons of these sizes will take to simulate, or refuse them; where nothing is
        simulated, refuse only numbers of simulations that make no sense."""
        if not simulates and self.n_simulations <= MOST:
            return
        work = NOTHING
        for n in sizes:
            work += comparison_workload(
                family.name,
                n,
                n_simulations=times * self.n_simulations,
                n_jobs=self.n_jobs,
                flips=given.get("flips"),
            )
        way_out = "--method analytic" if self.method == "both" else ""
        tell_work(work, n_simulations=self.n_simulations, way_out=way_out)

    def emit(self, record: dict[str, object], text: str) -> None:
        """Print the record or the text, or write it to the output."""
        emit(to_json(record) if self.as_json else text, output=self.output, force=self.force)


def question_commands(family: Family) -> list[click.Command]:
    """The commands power, mde, size and surface of a family."""
    return [_power(family), _mde(family), _size(family), _surface(family)]


def _power(family: Family) -> click.Command:
    def command(n: int, effect: float, asked: _Asked, **given: Any) -> None:
        asked.refuse_to_overwrite()
        family.effect_range(given).check([effect])
        scenario = family.build(n, effect, given)
        asked.tell_work(family, [n], given, simulates="simulation" in _WAYS[asked.method])
        with progress("Simulating", total=asked.n_simulations) as advance:
            result = answer(
                scenario,
                by=_WAYS[asked.method],
                n_simulations=asked.n_simulations,
                seed=asked.seed,
                n_jobs=asked.n_jobs,
                progress=in_steps(advance),
            )
        record = answer_record(
            family.name,
            result,
            given={"n": n, **_plain(given)},
            seed=asked.seed,
            command=typed_command(),
        )
        asked.emit({"understood": family.effect_words(scenario), **record}, answer_text(family, result))

    return _built(
        family,
        "power",
        "How often would a comparison of this size find an effect of this size?",
        command,
        (_n(family), _effect(family)),
    )


def _mde(family: Family) -> click.Command:
    def command(n: int, target: float, asked: _Asked, **given: Any) -> None:
        asked.refuse_to_overwrite()
        largest = family.largest_effect(given)
        scenario = family.build(n, largest, given)
        ways = [by for by in _WAYS[asked.method] if by == "simulation" or is_computable(scenario)]
        if asked.method == "both" and "computed" in ways:
            ways = ["computed"]  # a bisection by simulation is for those who ask for it
        simulates = not ways or "simulation" in ways
        asked.tell_work(family, [n], given, simulates=simulates, times=SEARCH_STEPS)
        found = [
            detectable_effect(
                scenario,
                largest=largest,
                power=target,
                by=by,
                n_simulations=asked.n_simulations,
                seed=asked.seed,
                n_jobs=asked.n_jobs,
            )
            for by in ways or ["simulation"]
        ]
        record = detectable_record(
            family.name,
            found,
            given={"n": n, **_plain(given)},
            seed=asked.seed,
            command=typed_command(),
        )
        shown = family.build(n, found[0].effect, given)
        asked.emit(record, detectable_text(family, shown, found))

    return _built(
        family,
        "mde",
        "The smallest effect that a comparison of this size finds with the target power.",
        command,
        (_n(family), power_target_option),
    )


def _size(family: Family) -> click.Command:
    def command(effect: float, target: float, highest: int, asked: _Asked, **given: Any) -> None:
        asked.refuse_to_overwrite()
        if effect == 0:
            raise InputError("--effect 0: no size finds it. Give the smallest effect that would matter.")
        family.effect_range(given).check([effect])
        simulates, typical = asked.method == "simulate", min(highest, _TYPICAL)
        asked.tell_work(family, [typical], given, simulates=simulates, times=SEARCH_STEPS)
        found = required_n(
            lambda n: family.build(n, effect, given),
            power=target,
            highest=highest,
            by="simulation" if asked.method == "simulate" else "computed",
            n_simulations=asked.n_simulations,
            seed=asked.seed,
            n_jobs=asked.n_jobs,
        )
        record = required_record(
            family.name,
            found,
            given={"effect": effect, **_plain(given)},
            seed=asked.seed,
            command=typed_command(),
        )
        shown = family.build(found.n or highest, effect, given)
        asked.emit(
            {"understood": family.effect_words(shown), **record}, required_text(family, shown, found)
        )
        if found.n is None:
            click.get_current_context().exit(EXIT_TARGET_MISSED)

    return _built(
        family,
        "size",
        "The smallest size that finds this effect with the target power.",
        command,
        (_effect(family), power_target_option, _highest),
    )


def _surface(family: Family) -> click.Command:
    def command(n: tuple[int, ...], effect: tuple[float, ...], asked: _Asked, **given: Any) -> None:
        asked.refuse_to_overwrite(SURFACE_FILES)
        family.effect_range(given).check(effect)
        cells = [({"n": size}, family.build(size, value, given)) for size in n for value in effect]
        way = "analytic" if asked.method == "both" and is_computable(cells[0][1]) else asked.method
        sizes = [size for size in n for _ in effect]
        asked.tell_work(family, sizes, given, simulates="simulation" in _WAYS[way])
        with progress("Cells", total=len(cells)) as advance:
            rows = scenario_surface(
                cells,
                by=_WAYS[way],
                n_simulations=asked.n_simulations,
                seed=asked.seed,
                n_jobs=asked.n_jobs,
                progress=lambda _done, _total: advance(1),
            )
        record = rows_record(
            family.name,
            rows,
            given=_plain(given),
            seed=asked.seed,
            command=typed_command(),
        )
        if asked.output is not None:
            write_directory(asked.output, _files(family, rows, record), force=asked.force)
            note(f"Written to {asked.output}: {', '.join(SURFACE_FILES)}")
        say(to_json(record) if asked.as_json else rows_text(family, rows), nl=not asked.as_json)

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
    return click.option("--n", type=WholeNumber(min=2), required=True, help=family.size_help)


def _effect(family: Family) -> Decorator:
    return click.option("--effect", type=RealNumber(), required=True, help=family.effect_help)


_highest: Decorator = click.option(
    "--highest",
    type=WholeNumber(min=2),
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
    def asked_of(values: dict[str, Any]) -> _Asked:
        seed, method, force = values.pop("seed"), values.pop("method"), values.pop("force")
        return _Asked(
            method,
            n_simulations=values.pop("simulations") or family.simulations,
            seed=DEFAULT_SEED if seed is None else seed,
            n_jobs=values.pop("jobs") or default_jobs(),
            as_json=values.pop("as_json"),
            output=values.pop("output"),
            force=force,
        )

    run = (_method(family), simulations_option, seed_option, jobs_option)
    result = (json_option, output, force_option, quiet_option)
    options = (*own, *family.options, *run, *result)
    return click.command(name, help=what, cls=Command)(
        collected(function, options, name="asked", collect=asked_of)
    )


def _plain(given: Given) -> dict[str, object]:
    """What the user said, as JSON can hold it."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}


def _files(family: Family, rows: list[dict[str, Any]], record: dict[str, object]) -> dict[str, str | bytes]:
    import pandas as pd

    from humeval_power.reporting.curve_figure import curve_figure
    from humeval_power.reporting.figure_style import figure_bytes

    label = f"True effect ({family.unit})" if family.unit else "True effect"
    figure = curve_figure(rows, effect_label=label)
    return {
        "surface.csv": table_csv(pd.DataFrame(rows), digits=10),
        "surface.png": figure_bytes(figure, "png"),
        "surface.svg": figure_bytes(figure, "svg"),
        "surface.json": to_json(record),
    }
