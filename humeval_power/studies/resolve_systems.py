"""Several systems that a study is about: how many, their names, their true means, how ratings of them vary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from humeval_power.asking.command import was_typed
from humeval_power.asking.output import note
from humeval_power.asking.study_values import StudyValues
from humeval_power.assumptions import Assumed, Assumptions
from humeval_power.choices import ANONYMOUS
from humeval_power.differences import Difference
from humeval_power.errors import InputError
from humeval_power.rules import ComparisonFamily, DecisionRule
from humeval_power.scales import RatingScale
from humeval_power.studies.resolve import (
    COMPARISONS,
    EFFECT,
    EFFECT_RANGE,
    OBSERVED,
    EffectInput,
    assumed_of_fit,
    assumptions_of,
    design_of,
    effect_of,
    family_of,
    goal_of,
    has_source,
    losses_of,
    number_of_systems,
    points_of,
    scale_of,
    tell_one_test,
)
from humeval_power.study import DEFAULT_PATTERN
from humeval_power.systems import SystemsParameters, system_names

if TYPE_CHECKING:
    from humeval_power.studies.plan.planned_systems import SystemsPilot
    from humeval_power.studies.power.systems_study import SystemsStudy

_MEANS = ("pattern", "system_means", "goal")
_FOR_SEVERAL = "is for several systems: say how many with --n-systems, or name them with --systems A,B,C."
_AS_NUMBERS = (
    "no model has the categories of several systems together; say their means, with --response likert and "
    "--points."
)
_KNOWN_VARIANCES = (
    "how uncertain the variances of a pilot are is known of two systems, by its mean squares."
)
_CARD = "the test of Card et al. (2020) is of two systems."
_OF_TWO = {  # what several systems do not have: fields, then options of commands, and why
    **dict.fromkeys(("shares", "effect_latent"), _AS_NUMBERS),
    **dict.fromkeys(("safe", "assurance"), _KNOWN_VARIANCES),
    "plan": "a plan says of which systems it is; leave out those that were said.",
}
_OPTIONS_OF_TWO = {
    "amend": "an amendment is of a plan, which says of which systems it is.",
    "compat": _CARD,
    "compare": _CARD,
}


@dataclass(frozen=True, slots=True)
class Systems:
    """Several systems by the name of each setting, where that comes from, and how they are compared."""

    study: StudyValues
    settings: Mapping[str, SystemsParameters]
    sources: Assumptions
    family: ComparisonFamily
    rule: DecisionRule
    remarks: tuple[str, ...] = ()

    @property
    def scale(self) -> RatingScale | None:
        """The scale of the study."""
        return self.sources.scale

    def differences(self) -> tuple[Difference, ...]:
        """The differences that the true means are stated by, of no two systems by name; none where the means
        are known. Raises UsageError: means and an effect, or neither; InputError: a difference that is not
        above 0 where one is to be found."""
        study = self.study
        if study.system_means is not None:
            if study.says(*EFFECT, *EFFECT_RANGE):
                raise click.UsageError("Give --system-means or --effect, not both.")
            return ()
        effect = effect_of(study) or effect_of(study, EFFECT_RANGE)
        if effect is None:
            if study.pattern is not None:
                raise click.UsageError(
                    "--pattern places the means with --effect or --effect-raw: give one of them."
                )
            known = [one for one in self.settings.values() if len(set(one.means)) > 1]
            if len(known) == len(self.settings) or self.rule.margin is not None:
                return ()
            raise click.UsageError("Give --effect, --effect-raw or --system-means.")
        effects = effect.on(self.scale)
        values = [one.value for one in effects]
        if self.rule.margin is None and min(values) <= 0:
            raise InputError(
                f"{effect.option}: the difference of interest among several systems is above 0."
            )
        self._check_span(effect, values)
        return tuple(replace(one, systems=None) for one in effects)

    def _check_span(self, effect: EffectInput, values: Sequence[float]) -> None:
        pattern = self.study.pattern or DEFAULT_PATTERN
        for one in self.settings.values():
            for value in values:
                moved = one.with_pattern(pattern, value).means
                if max(moved) - min(moved) > 1:
                    raise InputError(
                        f"{effect.option} {value:g} in the pattern '{pattern}' of {one.n_systems} systems spans "
                        "more than the whole scale: take a smaller difference, or another pattern."
                    )

    def at(self, effects: Sequence[float]) -> list[tuple[str, SystemsParameters]]:
        """The systems of each setting at the true means of each effect, or at those that are known."""
        if not effects:
            return list(self.settings.items())
        pattern = self.study.pattern or DEFAULT_PATTERN
        return [
            (name, one.with_pattern(pattern, effect))
            for name, one in self.settings.items()
            for effect in effects
        ]

    def only(self, effects: Sequence[float]) -> tuple[str, SystemsParameters]:
        """The single setting of a command that takes one, at its means."""
        if len(self.settings) != 1:
            raise click.UsageError(f"Give one set of parameters; got {', '.join(self.settings)}.")
        return self.at(effects)[0]

    def of(self, name: str, parameters: SystemsParameters, **size: int) -> SystemsStudy:
        """One study, of the study's size or of another. Raises InputError: a design that cannot be built."""
        from humeval_power.studies.power.systems_study import SystemsStudy

        study = self.study.with_(**size) if size else self.study
        return SystemsStudy(
            parameters,
            design_of(study, parameters.n_systems),
            family=self.family,
            rule=self.rule,
            goal=goal_of(self.study),
            response=self.study.response,
            points=points_of(self.study, self.scale),
            setting=name,
            losses=losses_of(self.study),
            exclusion=self.study.exclusion,
        )


def systems_of(study: StudyValues, rule: DecisionRule, *, usual: bool = False) -> Systems | None:
    """What is assumed of three systems or more, or of several criteria; None where the question is about the one
    test of two systems.

    usual : see `assumptions_of`.
    Raises UsageError: fields of two systems beside several, or the other way round; InputError: a file that
    cannot be used.
    """
    fitted = _fitted_together(study)
    said = number_of_systems(study)
    pilots = [values.parameters.n_systems for _, values in fitted.values()]
    if said == 2 and "pilot" in fitted and not study.criteria:
        raise click.UsageError(
            f"{study.pilot} has {fitted['pilot'][1].parameters.n_systems} systems: name the two of them by "
            "--systems A,B."
        )
    count = said or max(pilots, default=None)
    if not study.criteria:
        study.refuse(("correct_over",), "is for several criteria: name them with --criteria.")
        if count is None:
            study.refuse((*_MEANS, *COMPARISONS), _FOR_SEVERAL)
        if count is None or count == 2:
            _check_two(study)
            tell_one_test(study)
            return None
    _refuse_of_two(study)
    return _systems(study, fitted, said, rule, usual=usual)


def _check_two(study: StudyValues) -> None:
    """Refuse what is another question than that of the one test of two systems."""
    first, second = study.pair or ANONYMOUS
    study.refuse(("drop_systems",), "is for three systems or more: of two, one look ends the study.")
    if study.goal == "first":
        raise click.UsageError(
            "--goal first: which of two systems has the higher mean is no test, and power is that of their one "
            "test. Leave it out."
        )
    if study.baseline == second:
        raise click.UsageError(
            f"--baseline {second}: the difference is that of the second system from the first, so that the "
            f"baseline comes first: --systems {second},{first}."
        )
    if study.baseline not in (None, first):
        raise click.UsageError(f"--baseline {study.baseline}: the systems are {first} and {second}.")


def _systems(
    study: StudyValues,
    fitted: Mapping[str, tuple[Assumed, SystemsPilot]],
    count: int | None,
    rule: DecisionRule,
    *,
    usual: bool,
) -> Systems:
    pilots = [result for _, result in fitted.values()]
    rest = study.with_(
        parameters=tuple(path for path in study.parameters if Path(path).stem not in fitted),
        pilot=None if "pilot" in fitted else study.pilot,
        values=None if "typed" in fitted else study.values,
    )
    scale = scale_of(study) or next((one.scale for one in pilots if one.scale is not None), None)
    known = Assumptions((), scale_of(study))
    if has_source(rest) or not fitted:
        known = replace(assumptions_of(rest, scale, usual=usual), typed_scale=scale_of(study))
    names = _names(study, count or (pilots[0].parameters.n_systems if pilots else 2), pilots, known)
    settings = {name: _for_names(answer.parameters, names) for name, (_, answer) in fitted.items()}
    for entry in known.entries:
        settings[entry.name] = SystemsParameters.of_parameters(entry.parameters, names=names)
    if study.system_means is not None:
        settings = {name: _at_means(one, study.system_means) for name, one in settings.items()}
    sources = replace(known, entries=(*(source for source, _ in fitted.values()), *known.entries))
    remarks = tuple(line for computed in pilots for line in computed.notes)
    return Systems(study, settings, sources, family_of(study), rule, remarks)


def _fitted_together(study: StudyValues) -> dict[str, tuple[Assumed, SystemsPilot]]:
    """Fits of several systems by their name, and where they come from: a pilot's table, records of analyses."""
    from humeval_power.studies.power.files import is_analysis, read_joint

    pilot: dict[str, tuple[Assumed, SystemsPilot]] = {}
    if study.pilot is not None:
        from humeval_power.studies.loading import read_pilot

        ratings = read_pilot(study)
        if ratings.n_systems > 2:
            from humeval_power.studies.plan.calls import systems_pilot

            fitted = systems_pilot(ratings, variances=family_of(study).variances)
            pilot["pilot"] = assumed_of_fit("pilot", ratings.source, fitted, None), fitted
    if isinstance(study.values, SystemsParameters):
        from humeval_power.studies.plan.planned_systems import SystemsPilot

        read = SystemsPilot(study.values.named(study.systems or study.values.names), scale_of(study))
        pilot["typed"] = Assumed("typed", read.parameters.pair(0, 1), scale=read.scale), read
    for path in study.parameters:
        if is_analysis(path):
            read = read_joint(path)
            pilot[Path(path).stem] = assumed_of_fit(Path(path).stem, path, read, None), read
    return pilot


def _names(
    study: StudyValues, count: int, fitted: Sequence[SystemsPilot], known: Assumptions
) -> tuple[str, ...]:
    """The names that were said, else those of the systems that were fitted if they are as many, else letters."""
    if study.systems is not None:
        return tuple(study.systems)
    if fitted and fitted[0].parameters.n_systems == count:
        return fitted[0].parameters.names
    return known.systems if count == 2 else system_names(count)


def _for_names(parameters: SystemsParameters, names: tuple[str, ...]) -> SystemsParameters:
    from humeval_power.studies.plan.planned_systems import for_systems

    return parameters if parameters.names == names else for_systems(parameters, names)


def _at_means(parameters: SystemsParameters, means: tuple[float, ...]) -> SystemsParameters:
    if len(means) != parameters.n_systems:
        raise InputError(
            f"--system-means: one mean for each of the {parameters.n_systems} systems is needed; got {len(means)}."
        )
    return parameters.with_means(means)


def _refuse_of_two(study: StudyValues) -> None:
    ctx = click.get_current_context()
    own = {
        f"--{name.replace('_', '-')}": why
        for name, why in _OPTIONS_OF_TWO.items()
        if name in ctx.params and was_typed(ctx, name)
    }
    said = {study.option(name): why for name, why in _OF_TWO.items() if study.says(name)}
    reasons: dict[str, list[str]] = {}
    for option, why in {**said, **own}.items():
        reasons.setdefault(why, []).append(option)
    if reasons:
        raise click.UsageError(" ".join(f"{', '.join(options)}: {why}" for why, options in reasons.items()))


def observed_means(systems: Systems) -> str:
    """The warning that the pilot's own means are planned for. Raises UsageError: a difference or means beside
    them; InputError: no ratings of several systems to take them from."""
    study = systems.study
    if effect_of(study) is not None or study.system_means is not None or study.pattern is not None:
        raise click.UsageError(
            "Give --observed-power, or the difference of interest with --effect, --effect-raw or --system-means."
        )
    if not all(len(set(one.means)) > 1 for one in systems.settings.values()):
        raise InputError("--observed-power needs a pilot or an analysis of several systems of your own.")
    return f"Warning: the pilot's own means are taken as the true ones. {OBSERVED}"


def tell_remarks(systems: Systems) -> None:
    """Say what is to be known of the fits of all systems."""
    for line in systems.remarks:
        note(line)
