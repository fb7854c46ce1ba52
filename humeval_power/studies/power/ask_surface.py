"""`humeval-power surface`: power over a grid of studies, as table and figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from humeval_power.asking.command import Use
from humeval_power.asking.declared import CARRIED, TO_POWER, VARIATION, Page, Part, study_command
from humeval_power.asking.output import note
from humeval_power.asking.run import Run
from humeval_power.asking.study_values import StudyValues, study_fields
from humeval_power.asking.vocabulary import COMPAT, DRAW, HALF_WIDTH, STRICT
from humeval_power.assumptions import Assumptions
from humeval_power.differences import Difference
from humeval_power.errors import DesignError, Problem
from humeval_power.fields import Field, listed, number_list, own, word
from humeval_power.rules import CARD2020, DecisionRule
from humeval_power.saying.document import AlongStudy, Drawn
from humeval_power.studies.resolve import (
    CARD2020_UNIT,
    EFFECT,
    EFFECT_RANGE,
    EffectInput,
    analysed_as,
    assumptions_of,
    design_of,
    effect_needed,
    effect_or_known,
    on_one_criterion,
    points_of,
    rating_study_of,
    rule_of,
    settled,
    source_needed,
    warn_beyond,
    without_effect,
)
from humeval_power.studies.resolve_systems import Systems, systems_of, tell_remarks
from humeval_power.study import FIELDS

if TYPE_CHECKING:
    from humeval_power.designs import Design
    from humeval_power.parameters import Parameters
    from humeval_power.studies.power.result_ratings import StudySurface
    from humeval_power.studies.power.strategies import Cell
    from humeval_power.systems import SystemsParameters

_SIZES = listed(number_list(int), "LIST")
_DIFFERENCES = ("effect_raw_range", "effect_range", "effect_latent_range")


def _one_size(said: dict[str, Any], _typed: Mapping[str, Any]) -> dict[str, Any]:
    """A study without ranges is a grid of its own size and difference."""
    effects = () if said.keys() & set(EFFECT_RANGE) else EFFECT
    return {
        **{f"{name}_range": said[name] for name in ("workers", "items", *effects) if name in said},
        **said,
    }


def _sizes(name: str, note: str, start: str, page_help: str) -> Field:
    return replace(FIELDS[name], kind=_SIZES, needed=True, note=note, start=start, page_help=page_help)


@study_command(
    ("surface",),
    {
        **study_fields(
            *("ratings", "variation", "systems", "design", "test"),
            but=("criterion", "workers", "items", "correlated", "check_families"),
            pilot=FIELDS["pilot"],
            workers_range=_sizes(
                "workers_range", ", such as 3,10 or 5:30:5.", "5,10,20,40", "Several: 5,10,20 or 5:40:5."
            ),
            items_range=_sizes(
                "items_range", ", such as 50,100,500.", "50,100,200", "Several: 50,100 or 50:200:50."
            ),
            effect_range=replace(FIELDS["effect_range"], page_help="Several: 0.05,0.1 or 0.05:0.2:0.05."),
            effect_raw_range=replace(
                FIELDS["effect_raw_range"], start="0.4,0.6", page_help="Several: 0.2,0.4."
            ),
            effect_latent_range=replace(
                FIELDS["effect_latent_range"], page_help="For ordered categories only."
            ),
        ),
        "compat": COMPAT,
        "compare": own(
            word(("card2020",)),
            "Draw the same studies decided as Card et al. (2020) did beside your rule's.",
            "Beside it, decided as",
            words=COMPAT.words,
            further=True,
        ),
        "draw": DRAW,
        "along": own(
            word(AlongStudy),
            "What runs along the figure's x axis. [effect]",
            "Along it run",
            option="x",
            words={"items": "Items", "effect": "Differences"},
            further=True,
        ),
        "half_width": HALF_WIDTH,
        "strict": STRICT,
    },
    use=Use(adapts=_one_size),
    simulates=True,
    needs=(source_needed, effect_needed),
    page=Page(
        "Power over many sizes",
        "Power over workers, items and differences: a table and a picture. It is simulated, and takes a while.",
        (
            Part("The sizes", ("workers_range", "items_range", "ratings_per_item", "n_systems")),
            Part(
                "The differences to find",
                ("scale", *_DIFFERENCES),
                "Give one of them.",
                one_of=_DIFFERENCES,
            ),
            Part("The picture", ("draw", "along")),
            VARIATION,
        ),
        (replace(TO_POWER, carries=tuple(name for name in CARRIED if "effect" not in name)),),
        journey="plan",
    ),
)
def command(
    study: StudyValues,
    compat: str | None,
    compare: str | None,
    draw: Drawn,
    along: AlongStudy | None,
    half_width: float | None,
    strict: bool,
    run: Run,
) -> StudySurface:
    """Power over settings x workers x items x effects, as table and figure.

    Every cell uses the same random numbers, so that curves are smooth. Of several
    systems (--n-systems 8) every goal is told, and --goal counts as power.
    """
    study, rule = on_one_criterion(study, rule_of(study))
    several, unit = systems_of(study, rule), 1.0
    parameters: Mapping[str, Parameters | SystemsParameters]
    if several is not None:
        cells, said, parameters = *_of_several(several), several.settings
    else:
        from humeval_power.studies.power.strategies import Cell

        _check_rules(compat, compare, rule, draws_power=draw == "power" and along != "items")
        unit = CARD2020_UNIT if compat else 1.0
        settings = assumptions_of(study)
        result = _at_effects(study, rule, settings, unit)
        said, settings = tuple(difference for _, difference in result), result[0][0]
        warn_beyond(study, settings, said)
        first = CARD2020 if compat else analysed_as(study, rule, settings)
        points, designs, parameters = points_of(study, settings.scale), _designs(study), settings.by_name
        cells = [
            Cell(
                name,
                rating_study_of(
                    study, there.by_name[name].with_difference(at.value), design, decided, points
                ),
            )
            for decided in (first, *([CARD2020] if compare else []))
            for name in settings.by_name
            for design in designs
            for there, at in result
        ]
    from humeval_power.studies.power.calls import study_surface
    from humeval_power.studies.power.typed import tell_studies

    tell_studies([cell.study for cell in cells], run, half_width)
    return study_surface(
        cells,
        n_simulations=run.simulations(),
        half_width=half_width,
        seed=run.seed,
        n_jobs=run.n_jobs,
        settings=parameters,
        said=said,
        effect_unit=unit,
        strict=strict,
        draw=draw,
        along=along,
    )


def _check_rules(compat: str | None, compare: str | None, rule: DecisionRule, *, draws_power: bool) -> None:
    """Refuse the rule of Card et al. where it cannot be, and beside itself."""
    if compat and compare:
        raise click.UsageError(
            "--compat decides every study in the old way, --compare draws both: choose one."
        )
    if (compat or compare) and rule.margin is not None:
        raise click.UsageError("Card et al. (2020) test for a difference: leave out --margin.")
    if compare and not draws_power:
        raise click.UsageError(
            "Leave out --draw and --x: --compare draws the power of both rules over the effects."
        )


def _of_several(several: Systems) -> tuple[list[Cell], tuple[Difference, ...]]:
    """The studies of several systems, and the differences that their means are stated by."""
    from humeval_power.studies.power.strategies import Cell

    tell_remarks(several)
    study, said = several.study, several.differences()
    cells = [
        Cell(name, several.of(name, parameters, workers=m, items=n))
        for name, parameters in several.at([one.value for one in said])
        for m in study.workers_range
        for n in study.items_range
    ]
    return cells, said


def _designs(study: StudyValues) -> list[Design]:
    """Those of the grid, by workers and then by items. Raises DesignError: all that cannot be built, at
    once."""
    designs: list[Design] = []
    problems: list[Problem] = []
    for workers in study.workers_range:
        for items in study.items_range:
            try:
                designs.append(design_of(study.with_(workers=workers, items=items)))
            except DesignError as error:
                problems += error.problems
    if problems:
        raise DesignError(list(dict.fromkeys(problems)))
    return designs


def _at_effects(
    study: StudyValues, rule: DecisionRule, settings: Assumptions, unit: float
) -> list[tuple[Assumptions, Difference]]:
    """The true differences of the grid, each with the parameters there; halfway to a margin is always looked
    at beside 0."""
    typed = effect_or_known(study, settings, EFFECT_RANGE)
    if typed is None:
        assert rule.halfway is not None  # an effect or a margin is asked for before
        return settled(study, settings, EffectInput("--effect", (0.0, rule.halfway)))
    if unit != 1.0:
        same = without_effect(study, settings)
        return [
            (same, Difference(unit * value, settings.scale, systems=settings.systems))
            for value in typed.coefficients(unit)
        ]
    cells = settled(study, settings, typed)
    if rule.halfway is not None and rule.halfway not in [difference.value for _, difference in cells]:
        note(
            f"Power near a true difference of 0 is optimistic; add {rule.halfway:g} to --effect, which is "
            "halfway to the margin."
        )
    return cells
