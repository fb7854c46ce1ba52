"""Studies of several systems that `power`, `mde`, `size`, `surface` and `simulate` are asked about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from humeval_power.errors import InputError
from humeval_power.interfaces.cli.assumptions import read_assumptions
from humeval_power.interfaces.cli.comparison_options import TypedFamily
from humeval_power.interfaces.cli.effect_options import TypedEffects
from humeval_power.interfaces.cli.options import typed_scale
from humeval_power.interfaces.cli.output import note
from humeval_power.interfaces.cli.required_options import needs
from humeval_power.interfaces.cli.run import Run
from humeval_power.interfaces.cli.study.options import StudyOptions
from humeval_power.interfaces.cli.systems_options import DEFAULT_GOAL, DEFAULT_PATTERN, AskedSystems
from humeval_power.rules import WITH_MARGIN, DecisionRule
from humeval_power.scales import RatingScale
from humeval_power.systems import SystemsParameters, system_names

if TYPE_CHECKING:
    from humeval_power.designs import Design
    from humeval_power.planning.plan.systems_pilot import SystemsPilot
    from humeval_power.planning.study.systems_study import SystemsStudy


_OF_TESTS = (
    "--comparisons", "--all-pairs", "--baseline", "--model", "--system-variances", "--correction", "--correct-over",
)  # fmt: skip
_OF_TWO = {  # options that are of two systems, by their parameter
    *(
        "plan",
        "amend",
        "compat",
        "compare",
        "precision",
        "shares",
        "documents",
        "items_per_document",
        "design",
    ),
    *(
        "lost",
        "quitting",
        "at_random",
        "straight_lining",
        "careless",
        "exclusion",
        "effect_latent",
        "family",
        "link",
    ),
}


@dataclass(frozen=True, slots=True)
class TypedSystems:
    """Several systems by the name of each setting, the scale, and how they are compared."""

    settings: Mapping[str, SystemsParameters]
    scale: RatingScale | None
    comparing: TypedFamily
    asked: AskedSystems
    study: StudyOptions
    rule: DecisionRule

    def at(self, effects: Sequence[float]) -> list[tuple[str, SystemsParameters]]:
        """The systems of each setting at the true means of each effect, or at those that are known."""
        if not effects:
            return list(self.settings.items())
        pattern = self.asked.pattern or DEFAULT_PATTERN
        return [
            (name, one.with_pattern(pattern, effect))
            for name, one in self.settings.items()
            for effect in effects
        ]

    def of(self, name: str, parameters: SystemsParameters, workers: int, items: int) -> SystemsStudy:
        """One study.

        Raises
        ------
        InputError
            A design that cannot be built.
        """
        from humeval_power.planning.study.designs_of import build_design

        study = self.study
        design = build_design(
            workers,
            items,
            study.ratings_per_item,
            paired=study.paired,
            max_ratings_per_worker=study.max_ratings_per_worker,
            n_systems=parameters.n_systems,
        )
        return self.with_design(name, parameters, design)

    def with_design(self, name: str, parameters: SystemsParameters, design: Design) -> SystemsStudy:
        """The study of a design."""
        from humeval_power.planning.study.systems_study import SystemsStudy

        return SystemsStudy(
            parameters,
            design,
            family=self.comparing.family,
            rule=self.rule,
            goal=self.asked.goal or DEFAULT_GOAL,
            response=self.study.response,
            points=self._points(),
            setting=name,
        )

    def _points(self) -> int | None:
        if self.study.response != "likert":
            return None
        points = self.study.points or (self.scale.points if self.scale else None)
        if points is None:
            raise click.UsageError("A Likert response needs --points.")
        return points


def typed_systems(
    study: StudyOptions, asked: AskedSystems, comparing: TypedFamily, rule: DecisionRule
) -> TypedSystems | None:
    """What is assumed of several systems; None where the question is about two.

    Raises
    ------
    click.UsageError
        Options of two systems beside several, or the other way round.
    InputError
        A file that cannot be used.
    """
    from humeval_power.interfaces.formats.study.joint_record import is_analysis

    fitted = [path for path in study.sources.parameters if is_analysis(path)]
    count = asked.count
    pilot = None if study.sources.pilot is None else _pilot_of_many(study.sources.pilot, comparing)
    is_pair = count == 2 and not (asked.says_means or comparing.typed)
    if (count is None or is_pair) and not fitted and pilot is None:
        asked.refuse()
        comparing.refuse(
            _OF_TESTS,
            "is for several systems: say how many by --n-systems, or name them by --systems A,B,C.",
        )
        return None
    _refuse_two(click.get_current_context())
    comparing.refuse(("--correct-over",), "is for several criteria, of which this looks at one.")
    scale = typed_scale(study.scale, study.lower_is_better)
    settings: dict[str, SystemsParameters] = {}
    for path in fitted:
        found, of_file = _of_fit(path, asked)
        settings[Path(path).stem] = found
        scale = scale or of_file
    sources = study.sources
    others = tuple(path for path in sources.parameters if path not in fitted)
    rest = replace(sources, parameters=others)
    if pilot is not None:
        settings["pilot"] = _for_asked(pilot.parameters, asked)
        scale, rest = scale or pilot.scale, replace(rest, pilot=None)
    if rest:
        known = read_assumptions(rest, scale)
        scale = known.scale
        names = _names(asked, settings)
        for name, parameters in known.by_name.items():
            settings[name] = SystemsParameters.of_parameters(parameters, names=names)
    elif not settings:
        read_assumptions(sources, scale)  # says what is missing
    if asked.system_means is not None:
        settings = {name: asked.checked_means(one) for name, one in settings.items()}
    return TypedSystems(settings, scale, comparing, asked, study, rule)


def _names(asked: AskedSystems, settings: Mapping[str, SystemsParameters]) -> tuple[str, ...]:
    if asked.systems is not None:
        return asked.systems
    for found in settings.values():
        return found.names
    assert asked.count is not None
    return system_names(asked.count)


def _of_fit(path: str, asked: AskedSystems) -> tuple[SystemsParameters, RatingScale | None]:
    from humeval_power.interfaces.formats.study.joint_record import read_joint

    pilot = read_joint(path)
    for line in pilot.notes:
        note(f"{path}: {line}")
    return _for_asked(pilot.parameters, asked), pilot.scale


def _for_asked(found: SystemsParameters, asked: AskedSystems) -> SystemsParameters:
    """What was fitted, for the systems that are asked about."""
    from humeval_power.planning.plan.systems_pilot import for_systems

    if asked.systems is not None:
        return for_systems(found, asked.systems)
    if asked.count is not None and asked.count != found.n_systems:
        return for_systems(found, system_names(asked.count))
    return found


def _pilot_of_many(path: str, comparing: TypedFamily) -> SystemsPilot | None:
    """The fit of a pilot of several systems; None for one of two."""
    from humeval_power.interfaces.cli.pilots import read_pilot

    ratings = read_pilot(path)
    if ratings.n_systems == 2:
        return None
    from humeval_power.api.systems_plan import systems_pilot

    return systems_pilot(ratings, variances=comparing.family.variances)


def typed_effects(typed: TypedSystems, effect: TypedEffects | None) -> tuple[float, ...]:
    """The differences that the true means are stated by; none where the means are known.

    Raises
    ------
    click.UsageError
        Means and an effect, or neither.
    InputError
        A difference that is not above 0 where one is to be found.
    """
    if typed.asked.system_means is not None:
        if effect is not None:
            raise click.UsageError("Give --system-means or --effect, not both.")
        return ()
    if effect is None:
        if typed.asked.pattern is not None:
            raise click.UsageError(
                "--pattern places the means by --effect or --effect-raw: give one of them."
            )
        known = [one for one in typed.settings.values() if len(set(one.means)) > 1]
        if len(known) == len(typed.settings) or typed.rule.margin is not None:
            return ()
        raise click.UsageError("Give --effect, --effect-raw or --system-means.")
    values = tuple(one.value for one in effect.on(typed.scale))
    if typed.rule.margin is None and min(values) <= 0:
        raise InputError(f"{effect.option}: the difference of interest among several systems is above 0.")
    pattern = typed.asked.pattern or DEFAULT_PATTERN
    for one in typed.settings.values():
        for value in values:
            moved = one.with_pattern(pattern, value).means
            if max(moved) - min(moved) > 1:
                raise InputError(
                    f"{effect.option} {value:g} in the pattern '{pattern}' of {one.n_systems} systems spans more "
                    "than the whole scale: take a smaller difference, or another pattern."
                )
    return values


def only_systems(typed: TypedSystems, effects: Sequence[float]) -> tuple[str, SystemsParameters]:
    """The single setting of a command that takes one, at its means."""
    if len(typed.settings) != 1:
        raise click.UsageError(f"Give one set of parameters; got {', '.join(typed.settings)}.")
    return typed.at(effects)[0]


def tell_systems(studies: Sequence[SystemsStudy], run: Run, *, times: int = 1) -> None:
    """Say how long the studies will take to simulate, or refuse them; `times`: the steps of a search."""
    from humeval_power.interfaces.cli.work_ahead import tell_work
    from humeval_power.planning.workload import NOTHING

    work = NOTHING
    for study in studies:
        work += study.workload(n_simulations=times * run.simulations(), n_jobs=run.slots)
    tell_work(work, n_simulations=run.simulations(), way_out="--method analytic")


def _refuse_two(ctx: click.Context) -> None:
    given = [
        max(option.opts, key=len)
        for option in ctx.command.params
        if option.name in _OF_TWO
        and ctx.get_parameter_source(option.name) is click.core.ParameterSource.COMMANDLINE
    ]
    if given:
        raise click.UsageError(
            f"{', '.join(given)}: this is known of two systems only. Leave it out, or ask about the two that "
            "matter most."
        )


def _says_means(given: Mapping[str, object]) -> bool:
    """Whether a file of parameters has true means of its own."""
    from humeval_power.interfaces.formats.study.joint_record import is_analysis

    paths = given.get("parameters")
    return isinstance(paths, tuple | list) and any(is_analysis(str(path)) for path in paths)


# With a margin the true difference is 0 where none is said.
effect_needed = needs(
    "--effect or --effect-raw",
    ("effect", "effect_raw", "effect_latent", "margin", "margin_raw", "plan", "system_means"),
    unless={"alternative": WITH_MARGIN},
    met=_says_means,
)
