"""`humeval-power surface`: power over a grid of studies, as table and figure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_args

import click

from humeval_power.assumptions import Assumptions
from humeval_power.differences import Difference
from humeval_power.fields import listed, number_list
from humeval_power.interfaces.asking.command import StudyCommand, Use
from humeval_power.interfaces.asking.options import field_option
from humeval_power.interfaces.cli.adapting import one_pair_or_many
from humeval_power.interfaces.cli.assumptions import source_needed
from humeval_power.interfaces.cli.categories import Shares, analysed_as, settled, without_effect
from humeval_power.interfaces.cli.comparison_options import TypedFamily, comparison_options
from humeval_power.interfaces.cli.effect_options import TypedEffects, effect_options, warn_beyond
from humeval_power.interfaces.cli.options import draw_option, rule_options
from humeval_power.interfaces.cli.output import note
from humeval_power.interfaces.cli.results import with_result
from humeval_power.interfaces.cli.run import Run, with_run
from humeval_power.interfaces.cli.study.options import (
    StudyOptions,
    grid_options,
    load_settings,
    study_options,
)
from humeval_power.interfaces.cli.study.running import (
    CARD2020_UNIT,
    compat_option,
    precision_option,
    strict_option,
    tell_cells,
)
from humeval_power.interfaces.cli.study.systems import (
    TypedSystems,
    effect_needed,
    tell_systems,
    typed_effects,
    typed_systems,
)
from humeval_power.interfaces.cli.systems_options import AskedSystems, systems_options
from humeval_power.reporting.drawn import AlongStudy, Drawn
from humeval_power.rules import CARD2020, DecisionRule

if TYPE_CHECKING:
    from humeval_power.reporting.study.surface import StudySurface
    from humeval_power.reporting.study.systems_surface import SystemsSurface


_EFFECTS = ("effect", "effect_raw", "effect_latent")
_SIZES = listed(number_list(int), "LIST")


def _one_size(said: dict[str, Any], typed: Mapping[str, Any]) -> dict[str, Any]:
    """A study without ranges is a grid of its own size and difference."""
    effects = (
        () if any(name.startswith("effect") and name.endswith("_range") for name in said) else _EFFECTS
    )
    own = {f"{name}_range": said[name] for name in ("workers", "items", *effects) if name in said}
    return {**own, **one_pair_or_many(said, typed)}


@click.command("surface", cls=StudyCommand, use=Use(adapts=_one_size))
@study_options
@field_option("workers_range", "workers", kind=_SIZES, required=True, help="Such as 3,10 or 5:30:5.")
@field_option("items_range", "items", kind=_SIZES, required=True, help="Such as 50,100,500.")
@systems_options
@comparison_options
@effect_options(
    "True differences B - A on [0, 1], such as 0.05:0.2:0.05. [0 and half of the margin with --margin]",
    many="0.05:0.2:0.05",
    latent=True,
)
@rule_options
@compat_option
@click.option(
    "--compare",
    type=click.Choice(["card2020"]),
    help="Draw the same studies decided as Card et al. (2020) did beside your rule's.",
)
@draw_option
@click.option(
    "--x",
    "along",
    type=click.Choice(get_args(AlongStudy)),
    help="What runs along the figure's x axis. [effect]",
)
@precision_option
@strict_option
@with_run
@with_result()
@source_needed
@effect_needed
def command(
    study: StudyOptions,
    workers: tuple[int, ...],
    items: tuple[int, ...],
    asked: AskedSystems,
    comparing: TypedFamily,
    effect: TypedEffects | None,
    rule: DecisionRule,
    compat: str | None,
    compare: str | None,
    draw: Drawn,
    along: AlongStudy | None,
    precision: float | None,
    strict: bool,
    run: Run,
) -> StudySurface | SystemsSurface:
    """Power over settings x workers x items x effects, as table and figure.

    Every cell uses the same random numbers, so that curves are smooth. Of several
    systems (--n-systems 8) every goal is told, and --goal counts as power.
    """
    several = typed_systems(study, asked, comparing, rule)
    if several is not None:
        refuse_drawing(draw, along, "of several systems every goal is drawn over the effects")
        return _of_systems(several, workers, items, effect, run=run)
    if compat and compare:
        raise click.UsageError(
            "--compat decides every study in the old way, --compare draws both: choose one."
        )
    if (compat or compare) and rule.margin is not None:
        raise click.UsageError("Card et al. (2020) test for a difference: leave out --margin.")
    from humeval_power.api.study_power import study_surface
    from humeval_power.planning.study.surface import list_cells

    if compare:
        refuse_drawing(draw, along, "--compare draws the power of both rules over the effects")
    settings = load_settings(study)
    unit = CARD2020_UNIT if compat else 1.0
    found = _effects(effect, rule, settings, unit, study.shares)
    said = tuple(difference for _, difference in found)
    settings = found[0][0]
    warn_beyond(settings, said)
    rules = [CARD2020 if compat else analysed_as(rule, settings), *([CARD2020] if compare else [])]
    cells = [
        cell
        for decided in rules
        for of_one_size in zip(
            *(
                list_cells(
                    at_effect.by_name,
                    workers=workers,
                    items=items,
                    effects=[difference.value],
                    rule=decided,
                    **grid_options(study, settings),
                )
                for at_effect, difference in found
            ),
            strict=True,
        )
        for cell in of_one_size
    ]
    tell_cells(cells, run, precision)
    return study_surface(
        cells,
        n_simulations=run.simulations(),
        precision=precision,
        seed=run.seed,
        n_jobs=run.n_jobs,
        settings=settings.by_name,
        said=said,
        effect_unit=unit,
        strict=strict,
        draw=draw,
        along=along,
    )


def refuse_drawing(draw: Drawn, along: AlongStudy | None, why: str) -> None:
    """Refuse a figure of something else than power over effects, where there is none."""
    if draw != "power" or along == "items":
        raise click.UsageError(f"Leave out --draw and --x: {why}.")


def _of_systems(
    several: TypedSystems,
    workers: tuple[int, ...],
    items: tuple[int, ...],
    effect: TypedEffects | None,
    *,
    run: Run,
) -> SystemsSurface:
    from humeval_power.api.systems_power import systems_surface

    cells = several.at(typed_effects(several, effect))
    studies = [
        several.of(name, parameters, m, n) for name, parameters in cells for m in workers for n in items
    ]
    tell_systems(studies, run)
    return systems_surface(studies, n_simulations=run.simulations(), seed=run.seed, n_jobs=run.n_jobs)


def _effects(
    typed: TypedEffects | None,
    rule: DecisionRule,
    settings: Assumptions,
    unit: float,
    shares: Shares | None,
) -> list[tuple[Assumptions, Difference]]:
    """The true differences of the grid, each with the parameters there; halfway to a margin is always looked
    at beside 0."""
    scale, systems = settings.scale, settings.systems
    if typed is None:
        assert rule.halfway is not None  # an effect or a margin is asked for before
        typed = TypedEffects("--effect", (0.0, rule.halfway))
        return settled(settings, shares, rule.link, typed)
    if unit != 1.0:
        same = without_effect(settings, shares, rule.link)
        return [
            (same, Difference(unit * value, scale, systems=systems)) for value in typed.coefficients(unit)
        ]
    found = settled(settings, shares, rule.link, typed)
    if rule.halfway is not None and rule.halfway not in [difference.value for _, difference in found]:
        note(
            f"Power near a true difference of 0 is optimistic; add {rule.halfway:g} to --effect, which is "
            "halfway to the margin."
        )
    return found
