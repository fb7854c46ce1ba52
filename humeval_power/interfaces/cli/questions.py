"""The questions power, mde, size and surface as commands, for any family of scenarios."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, get_args

import click

from humeval_power.choices import HIGHEST, Method
from humeval_power.errors import InputError
from humeval_power.interfaces.cli.family import Assumed, Decorator, Family, Given
from humeval_power.interfaces.cli.numbers import RealNumber, WholeNumber, number_list
from humeval_power.interfaces.cli.options import decorated, draw_option, power_target_option
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result
from humeval_power.interfaces.cli.run import Run, with_run
from humeval_power.reporting.drawn import Along, Drawn

if TYPE_CHECKING:
    from humeval_power.planning.questions import By
    from humeval_power.reporting.questions.results import RequiredResult
    from humeval_power.reporting.questions.surface import SurfaceResult
    from humeval_power.reporting.result import Result


_TYPICAL = 10_000  # size at which a search for one is costed


def question_commands(family: Family) -> list[Command]:
    """The commands power, mde, size and surface of a family."""
    return [_power(family), _mde(family), _size(family), _surface(family)]


def _power(family: Family) -> Command:
    def command(n: int, effect: float, method: Method, run: Run, **given: Any) -> Result:
        """How often would a comparison of this size find an effect of this size?"""
        from humeval_power.api import questions as api
        from humeval_power.planning.questions import ways_of

        family.effect_range(given).check([effect])
        scenario = family.build(n, effect, given)
        _tell_work(family, [n], ways_of(method, scenario), run, given)
        return api.power(scenario, method=method, **_asked(family, run, {"n": n, **given}))

    return _built(family, "power", command, (_n(family), _effect(family)))


def _mde(family: Family) -> Command:
    def command(n: int, target: float, method: Method, run: Run, **given: Any) -> Result:
        """The smallest effect that a comparison of this size finds with the target power."""
        from humeval_power.api import questions as api
        from humeval_power.planning.questions import ways_of
        from humeval_power.planning.workload import SEARCH_STEPS

        largest = family.largest_effect(given)
        scenario = family.build(n, largest, given)
        by = ways_of(method, scenario, is_search=True)
        _tell_work(family, [n], by, run, given, times=SEARCH_STEPS)
        asked = _asked(family, run, {"n": n, **given})
        return api.detectable_effect(scenario, largest=largest, power=target, method=method, **asked)

    return _built(family, "mde", command, (_n(family), power_target_option))


def _size(family: Family) -> Command:
    def command(
        effect: float, target: float, highest: int, method: Method, run: Run, **given: Any
    ) -> RequiredResult:
        """The smallest size that finds this effect with the target power."""
        if effect == 0 and not family.shows_none(given):
            raise InputError("--effect 0: no size finds it. Give the smallest effect that would matter.")
        from humeval_power.api import questions as api
        from humeval_power.planning.questions import ways_of
        from humeval_power.planning.workload import SEARCH_STEPS

        family.effect_range(given).check([effect])
        most = family.most(given)
        highest = highest if most is None else min(highest, most)
        typical = min(highest, _TYPICAL)
        by = ways_of(method, family.build(typical, effect, given), is_search=True)
        _tell_work(family, [typical], by, run, given, times=SEARCH_STEPS)
        return api.required(
            lambda n: family.build(n, effect, given),
            power=target,
            highest=highest,
            method=method,
            **_asked(family, run, {"effect": effect, **given}),
        )

    return _built(family, "size", command, (_effect(family), power_target_option, _highest))


def _surface(family: Family) -> Command:
    def command(
        n: tuple[int, ...],
        effect: tuple[float, ...],
        draw: Drawn,
        along: Along | None,
        method: Method,
        run: Run,
        **given: Any,
    ) -> SurfaceResult:
        """Power over many sizes and effects, with a figure."""
        from humeval_power.api import questions as api
        from humeval_power.interfaces.cli.surface_cells import surface_cells, without_lists_of_one
        from humeval_power.planning.questions import ways_of

        cells = surface_cells(family, n, effect, given)
        sizes = [int(labels["n"]) for labels, _ in cells]
        first = cells[0][1]
        _tell_work(family, sizes, ways_of(method, first, is_search=True), run, given)
        asked = _asked(family, run, without_lists_of_one(family, given))
        return api.surface(cells, method=method, draw=draw, along=along, **asked)

    lists = [
        click.option(name, metavar="LIST", required=True, callback=number_list(kind), help=text)
        for name, kind, text in (("--n", int, family.size_help), ("--effect", float, family.effect_help))
    ]
    own: tuple[Decorator, ...] = (*lists, draw_option, _along)
    return _built(family, "surface", command, own, many=True)


def _tell_work(
    family: Family, sizes: Sequence[int], by: Sequence[By], run: Run, given: Given, *, times: int = 1
) -> None:
    """Say how long comparisons of these sizes will take to simulate, or refuse them; where nothing is
    simulated, refuse only numbers of simulations that make no sense."""
    from humeval_power.interfaces.cli.work_ahead import MOST, tell_work
    from humeval_power.planning.workload import NOTHING, comparison_workload

    n_simulations = run.simulations(family.simulations)
    if "simulation" not in by and n_simulations <= MOST:
        return
    work = NOTHING
    kind = family.wording.name if family.costed_as is None else family.costed_as(given)
    for n in sizes:
        work += comparison_workload(
            kind,
            n,
            n_simulations=times * n_simulations,
            n_jobs=run.n_jobs,
            flips=given.get("n_flips"),
        )
    tell_work(work, n_simulations=n_simulations, way_out="--method analytic" if "computed" in by else "")


def _asked(family: Family, run: Run, given: Given) -> dict[str, Any]:
    """What every question is asked with; of what the user said, what JSON can hold."""
    return {
        "n_simulations": run.simulations(family.simulations),
        "seed": run.seed,
        "n_jobs": run.n_jobs,
        "wording": family.wording,
        "given": {
            name: list(value) if isinstance(value, tuple) else value for name, value in given.items()
        },
    }


def _n(family: Family) -> Decorator:
    return click.option("--n", type=WholeNumber(min=2), required=True, help=family.size_help)


def _effect(family: Family) -> Decorator:
    return click.option("--effect", type=RealNumber(), required=True, help=family.effect_help)


_along: Decorator = click.option(
    "--x",
    "along",
    type=click.Choice(get_args(Along)),
    help="What runs along the figure's x axis. [what has more values]",
)
_highest: Decorator = click.option(
    "--highest",
    type=WholeNumber(min=2),
    default=HIGHEST,
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
    function: Callable[..., Result],
    own: Sequence[Decorator],
    *,
    many: bool = False,
) -> Command:
    options = [each.many if many and isinstance(each, Assumed) else each for each in family.options]
    command = decorated(with_run(with_result()(function)), (*own, *options, _method(family)))
    return click.command(name, help=function.__doc__, cls=Command)(command)
