"""What the fields of a study mean: its variation, difference, test, systems, design and prices."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from humeval_power.asking.command import needs
from humeval_power.asking.output import note
from humeval_power.asking.study_values import StudyValues
from humeval_power.assumptions import Assumed, Assumptions, Origin, in_categories
from humeval_power.choices import ANONYMOUS
from humeval_power.differences import (
    Difference,
    beyond_baseline,
    differences_of,
    margin_of,
    on_unit,
    scale_words,
)
from humeval_power.errors import HumevalPowerError, InputError, Problem, field_problem
from humeval_power.latent import LARGEST_EFFECT, Latent, Link
from humeval_power.parameters import PRESETS, Parameters
from humeval_power.rules import (
    DEFAULT_FAMILY,
    DEFAULT_RULE,
    MAX_T_OVER_CRITERIA,
    WITH_MARGIN,
    ComparisonFamily,
    DecisionRule,
)
from humeval_power.scales import RatingScale
from humeval_power.study import DEFAULT_GOAL, FIELDS, PRICE_FIELDS
from humeval_power.systems import Goal, SystemsParameters

if TYPE_CHECKING:
    from humeval_power.costs import CostModel
    from humeval_power.designs import Design
    from humeval_power.fees import PlatformFee
    from humeval_power.simulation.study import Losses
    from humeval_power.studies.looks.rating_looks import LookSchedule
    from humeval_power.studies.looks.repeated import StopWhen
    from humeval_power.studies.looks.replicates import Looks
    from humeval_power.studies.plan.planned_systems import PlannedJudges, SystemsPilot
    from humeval_power.studies.power.scenario import RatingStudy
    from humeval_power.study_counts import Documents

SOURCES = ("parameters", "preset", "values", "pilot")  # any of these says where the variation comes from
_GIVE_SOURCE = (
    "--preset typical (of public ratings on such a scale), --parameters FILE (written by 'fit -o'){} "
    "or --values"
)
EFFECT = ("effect", "effect_raw", "effect_latent")
EFFECT_RANGE = ("effect_range", "effect_raw_range", "effect_latent_range")
COMPARISONS = ("comparisons", "baseline", "model", "system_variances", "correction", "correct_over")
_LATENT_ERROR = 1e-4  # of a latent effect that is sought, by its size
_HALVINGS = 60  # of the differences from 0 to 1 that could have it
CARD2020_UNIT = 2.0  # the effect of Card et al. is a coefficient under -1/+1: half the difference

source_needed = needs(_GIVE_SOURCE.format(", --pilot TABLE"), (*SOURCES, "plan"))
source_needed_but_no_pilot = needs(_GIVE_SOURCE.format(""), SOURCES)  # of commands that read none


# -- the scale, and where the variation comes from


def scale_of(study: StudyValues) -> RatingScale | None:
    """The scale that was said, with its direction."""
    if study.scale is None:
        return None
    return RatingScale.parse(study.scale, higher_is_better=not study.lower_is_better)


def has_source(study: StudyValues) -> bool:
    """Whether something says how ratings vary."""
    return any(getattr(study, name) for name in SOURCES)


def assumptions_of(
    study: StudyValues, scale: RatingScale | None = None, *, tell: bool = True, usual: bool = False
) -> Assumptions:
    """Parameters from a pilot, files, presets and values, in this order, by the stem of a file or their own name; a
    preset is a published setting or an entry of the library that comes along.

    scale : where another one than the study's wins.
    tell : print what is to be known of an estimate.
    usual : where nothing says it, take what is usual on such a scale, as the preset 'typical' alone does.

    Raises
    ------
    click.UsageError
        Nothing that says it, or two of the same name.
    InputError
        A file that cannot be used.
    """
    scale = scale or scale_of(study)
    if usual and (not has_source(study) or is_typical(study)):
        from humeval_power.studies.power.files import usual_assumptions

        return usual_assumptions(scale, systems=study.pair)
    if not has_source(study):
        raise click.UsageError(f"Give {_GIVE_SOURCE.format(', --pilot TABLE')}.")
    assumed: dict[str, Assumed] = {}
    systems = study.pair
    allow = study.allow_not_identified
    if study.pilot is not None:
        assumed["pilot"] = _of_pilot(study, allow)
    if study.parameters:
        from humeval_power.studies.power.files import is_analysis, read_joint
    for path in study.parameters:
        name = Path(path).stem
        if name in assumed:
            other = "as the table of the pilot is" if name == "pilot" else "like another"
            raise click.UsageError(f"A parameter file is called {name!r}, {other}; rename it.")
        if is_analysis(path):
            fitted = read_joint(path)
            systems = systems or _pair_of(fitted)
            assumed[name] = assumed_of_fit(name, path, fitted, systems, tell=tell)
        else:
            assumed[name] = _of_file(path, allow, tell=tell)
    if study.preset:
        from humeval_power.studies.power.files import library_entry, preset_document, preset_name
    for name in (preset_name(one, scale) for one in study.preset or ()):
        if name in assumed:
            raise click.UsageError(f"A parameter file is called like the preset {name!r}; rename it.")
        if tell and name not in PRESETS:
            _warn_of_zero(name, preset_document(name))
        assumed[name] = library_entry(name, allow_not_identified=allow)
    if study.values is not None and "typed" in assumed:
        raise click.UsageError("A parameter file is called 'typed', as --values are; rename it.")
    if isinstance(study.values, SystemsParameters):
        if study.values.n_systems != len(study.pair or study.values.names[:2]):
            raise click.UsageError(
                "--values are those of several systems: name as many with --systems A,B,C."
            )
        systems = systems or _pair_of(study.values)
        assumed["typed"] = Assumed("typed", study.values.pair(0, 1))
    elif study.values is not None:
        assumed["typed"] = Assumed("typed", study.values)
    known = Assumptions(tuple(assumed.values()), scale, systems)
    return known if study.system_means is None else _around(known, study.system_means)


def assumed_of_fit(
    name: str, file: str, fitted: SystemsPilot, systems: Sequence[str] | None, *, tell: bool = False
) -> Assumed:
    """Two of the systems of a fit: those that are named, else the first two."""
    from humeval_power.studies.plan.planned_systems import for_systems

    two = fitted.parameters if systems is None else for_systems(fitted.parameters, systems)
    for line in (*fitted.notes, *two.notes) if tell else ():
        note(line)
    origin: Origin = "pilot" if name == "pilot" else "file"
    return Assumed(
        name, two.pair(0, 1), scale=fitted.scale, origin=origin, file=file, ratings=fitted.ratings
    )


def _pair_of(known: SystemsParameters | SystemsPilot) -> tuple[str, str]:
    """The names of two systems that were fitted; letters stand for two of more."""
    names = known.names if isinstance(known, SystemsParameters) else known.parameters.names
    return (names[0], names[1]) if len(names) == 2 else ANONYMOUS


def _around(assumed: Assumptions, means: tuple[float, ...]) -> Assumptions:
    """The same where numbers lie around these means."""
    centre = math.fsum(means) / len(means)
    entries = (
        one
        if one.parameters.latent is not None
        else replace(one, parameters=replace(one.parameters, baseline=centre))
        for one in assumed.entries
    )
    return replace(assumed, entries=tuple(entries))


def is_typical(study: StudyValues) -> bool:
    """Whether all that is said of the variances is that they are as usual."""
    from humeval_power.studies.power.files import TYPICAL

    return study.preset == (TYPICAL,) and not has_source(study.with_(preset=()))


def _of_file(path: str, allow_not_identified: bool, *, tell: bool) -> Assumed:
    from humeval_power.files.documents.reading import read_parameters
    from humeval_power.studies.power.files import assumed_of

    _, document = read_parameters(path, allow_not_identified=allow_not_identified)
    if tell:
        _warn_of_zero(Path(path).stem, document)
    return assumed_of(
        document, Path(path).stem, origin="file", file=path, allow_not_identified=allow_not_identified
    )


def _of_pilot(study: StudyValues, allow_not_identified: bool) -> Assumed:
    from humeval_power.studies.loading import read_pilot
    from humeval_power.studies.plan.calls import pilot

    rule = DEFAULT_RULE if study.shares is not None else DecisionRule(family=study.family, link=study.link)
    return pilot(read_pilot(study), rule=rule, allow_not_identified=allow_not_identified)


def _warn_of_zero(name: str, document: Mapping[str, Any]) -> None:
    """A worker slope estimated as zero from few workers makes any plan look safe."""
    if "sd_worker_slope" in (document.get("boundary") or []):
        note(
            f"{name}: sd_worker_slope was estimated as zero from {document.get('n_workers')} workers. That is "
            "no proof that workers agree on the difference; power planned from it is too high if they do "
            "not. 'plan --safe 0.8' plans at an upper limit."
        )


def only_setting(settings: Assumptions) -> tuple[str, Parameters]:
    """The single setting of a command that takes one."""
    if len(settings.by_name) != 1:
        raise click.UsageError(f"Give one set of parameters; got {', '.join(settings.by_name)}.")
    return next(iter(settings.by_name.items()))


# -- the difference


@dataclass(frozen=True, slots=True)
class EffectInput:
    """Differences as they were said: by which option, in points of a scale or not, on the latent scale or not."""

    option: str
    values: tuple[float, ...]
    raw: bool = False
    latent: bool = False

    def on(self, scale: RatingScale | None) -> tuple[Difference, ...]:
        """The differences on [0, 1]. Raises InputError: one that cannot exist, or points of a scale that
        nobody named."""
        return differences_of(self.values, scale, name=self.option, raw=self.raw)

    def one(self, scale: RatingScale | None) -> Difference:
        """The only difference of an option that takes one."""
        return self.on(scale)[0]

    def coefficients(self, unit: float) -> tuple[float, ...]:
        """The values as they are, where each stands for `unit` differences. Raises InputError: one that
        cannot exist, or points: a coefficient has none."""
        if self.raw or self.latent:
            raise click.UsageError(f"{self.option} is a difference: give the coefficient with --effect.")
        problems = on_unit(self.values, name=self.option, unit=unit)
        if problems:
            raise InputError(problems)
        return self.values


OBSERVED = (
    "Its error is as large as the pilot is small, and an estimate that led to a study tends to be too large. Power "
    "at the observed effect says nothing that the pilot's p-value does not. Name the smallest effect that would "
    "matter instead."
)
NO_DIFFERENCE = EffectInput("--effect", (0.0,))


def effect_of(study: StudyValues, names: tuple[str, str, str] = EFFECT) -> EffectInput | None:
    """The difference to find, or several; None where nobody said one. The true means of two systems say it too.

    names : the fields that say it on [0, 1], in points, and on the latent scale.
    """
    _, raw, latent = names
    if study.system_means is not None and len(study.system_means) == 2:
        low, high = study.system_means
        return EffectInput(study.option("system_means"), (high - low,))
    for name in names:
        value = getattr(study, name)
        if value is not None:
            values = tuple(value) if isinstance(value, Sequence) else (float(value),)
            return EffectInput(study.option(name), values, raw=name == raw, latent=name == latent)
    return None


def effect_or_known(
    study: StudyValues, settings: Assumptions, names: tuple[str, str, str] = EFFECT
) -> EffectInput | None:
    """The difference that was said, else that of the systems that were fitted."""
    said = effect_of(study, names)
    if said is not None or study.margin is not None or study.margin_raw is not None:
        return said
    from humeval_power.studies.power.files import is_analysis

    if isinstance(study.values, SystemsParameters) or any(map(is_analysis, study.parameters)):
        return EffectInput("--effect", (only_setting(settings)[1].difference,))
    return None


_LIKE_POINTS = 0.25  # on [0, 1]: larger than published differences are, and a point of five


def warn_beyond(study: StudyValues, assumed: Assumptions, differences: Sequence[Difference]) -> None:
    """Say where the mean ratings of the parameters leave no room for an effect, or where one that the user said on
    [0, 1] may have been meant in points; once for all of them.
    """
    warnings = [
        warning
        for parameters in assumed.by_name.values()
        if (
            warning := beyond_baseline(
                parameters.recoded().baseline, [difference.value for difference in differences]
            )
        )
    ]
    if warnings:
        note(warnings[0])
    is_said = any(getattr(study, names[0]) is not None for names in (EFFECT, EFFECT_RANGE))
    large = [each for each in differences if is_said and abs(each.value) >= _LIKE_POINTS]
    if large and (scale := large[0].scale) is not None and scale.width > 1:
        points = scale.effect_to_raw(large[0].value)
        note(
            f"A difference of {large[0].value:g} on [0, 1] is {abs(points):g} points of the scale "
            f"{scale_words(scale)}. If you mean {large[0].value:g} points, --effect-raw says so."
        )


def _says_means(given: Mapping[str, object]) -> bool:
    """Whether a file of parameters, or the values of several systems, have true means of their own."""
    if '"means":' in str(given.get("values")):
        return True
    paths = given.get("parameters")
    if not isinstance(paths, tuple | list):
        return False
    from humeval_power.studies.power.files import is_analysis

    return any(is_analysis(str(path)) for path in paths)


# With a margin the true difference is 0 where none is said.
effect_needed = needs(
    "--effect or --effect-raw",
    (*EFFECT, *EFFECT_RANGE, "margin", "margin_raw", "plan", "system_means"),
    unless={"alternative": WITH_MARGIN},
    met=_says_means,
)


# -- ratings in categories


def settled(
    study: StudyValues, settings: Assumptions, effect: EffectInput
) -> list[tuple[Assumptions, Difference]]:
    """For each difference the parameters, in categories of the study's shares, and the difference. Raises
    UsageError: a latent effect of ratings that are numbers; ParametersError: shares that the parameters leave
    no room for, or a latent effect that cannot be."""
    if effect.latent:
        return [_at_latent_effect(settings, study.shares, study.link, value) for value in effect.values]
    effects = [replace(said, systems=settings.systems) for said in effect.on(settings.scale)]
    if study.shares is None:
        return [(settings, said) for said in effects]
    return [
        (in_categories(settings, study.shares, link=study.link, difference=said.value), said)
        for said in effects
    ]


def without_effect(study: StudyValues, settings: Assumptions) -> Assumptions:
    """The parameters in categories of the study's shares where systems do not differ."""
    return settings if study.shares is None else in_categories(settings, study.shares, link=study.link)


def _at_latent_effect(
    settings: Assumptions, shares: tuple[float, ...] | None, link: Link, effect: float
) -> tuple[Assumptions, Difference]:
    if len(settings.entries) != 1:
        raise click.UsageError("--effect-latent is of one set of parameters; give one.")
    if shares is None:
        latent = settings.entries[0].parameters.latent
        if latent is None:
            raise click.UsageError("--effect-latent is of ratings in categories: add --shares.")
        said = Difference(
            replace(latent, effect=effect).difference, settings.scale, systems=settings.systems
        )
        return settings, said

    def at(difference: float) -> tuple[Assumptions, Latent]:
        result = in_categories(settings, shares, link=link, difference=difference)
        latent = result.entries[0].parameters.latent
        assert latent is not None
        return result, latent

    def found(difference: float) -> tuple[Assumptions, Difference]:
        return at(difference)[0], Difference(difference, settings.scale, systems=settings.systems)

    latent = at(0.0)[1]
    if effect == 0:
        return found(0.0)

    from scipy import optimize

    def gap(difference: float) -> float:
        try:
            return at(difference)[1].effect - effect
        except HumevalPowerError:  # beyond what the shares allow
            return LARGEST_EFFECT if effect > 0 else -LARGEST_EFFECT

    guess = replace(latent, effect=effect).difference
    low, high = sorted((guess / 2, max(-0.99, min(0.99, 1.5 * guess))))
    if gap(low) * gap(high) < 0:
        difference = float(optimize.brentq(gap, low, high, xtol=1e-9))
        if abs(gap(difference)) < _LATENT_ERROR * abs(effect):
            return found(difference)
    # the guess is far off, or no difference has this effect
    inside, beyond = 0.0, math.copysign(1.0, effect)
    for _ in range(_HALVINGS):
        middle = (inside + beyond) / 2
        inside, beyond = (middle, beyond) if gap(middle) * effect < 0 else (inside, middle)
    largest = at(inside)[1].effect
    if abs(largest - effect) > _LATENT_ERROR * abs(effect):
        rule = (
            f"is more than these shares and standard deviations allow: the largest is {abs(largest):.3g}."
        )
        raise InputError([field_problem("--effect-latent", effect, rule)])
    return found(inside)


# -- the test


def rule_of(study: StudyValues, *, margin: float | None = None) -> DecisionRule:
    """The test of the study.

    margin : in place of what the study says.
    Raises UsageError: a test that cannot be.
    """
    known = {one.name: getattr(study, one.name) for one in fields(DecisionRule)}
    known["margin"] = _margin(study) if margin is None else margin
    try:
        return DecisionRule(**known)
    except HumevalPowerError as error:
        raise click.UsageError(str(error)) from None


def _margin(study: StudyValues) -> float | None:
    """The margin on [0, 1], from one that was said so or in points of the scale: the study's, or that of its
    parameters. One that is only read off the ratings is no scale to fix a margin on."""
    points = study.margin_raw
    if points is None:
        return None if study.margin is None else margin_of(study.margin, None, name="--margin")
    scale = scale_of(study)
    if scale is None and study.parameters:
        scale = assumptions_of(study.with_(pilot=None), tell=False).scale
    margin = margin_of(points, scale, name="--margin-raw", raw=True)
    if scale is not None:
        note(
            f"Margin: {points:.6g} points of the scale {scale_words(scale)}, that is {margin:.6g} on [0, 1]."
        )
    return margin


def analysed_as(study: StudyValues, rule: DecisionRule, settings: Assumptions) -> DecisionRule:
    """The rule with the family in which the ratings arise, where none was said; which is then noted.

    Parameters that disagree, or that are numbers, leave the rule as it is.
    """
    latents = [entry.parameters.latent for entry in settings.entries]
    first = latents[0] if latents else None
    if first is None or any(each is None or each.family != first.family for each in latents):
        return rule
    link = rule.link if study.says("link") else first.link
    if study.says("family") or rule.analysis == "differences":
        return replace(rule, link=link)
    note(
        f"Ratings arise in categories, and are analysed as family '{first.family}'; --family gaussian analyses "
        "them as numbers."
    )
    return replace(rule, family=first.family, link=link)


# -- several systems


def family_of(study: StudyValues, planned: ComparisonFamily = DEFAULT_FAMILY) -> ComparisonFamily:
    """The tests of several systems that are made together: as planned, with what was said in its place.
    Raises UsageError: what contradicts itself, or the rest."""
    comparisons, baseline = study.comparisons, study.baseline
    if baseline is not None and comparisons == "all-pairs":
        raise click.UsageError("Give --comparisons all-pairs or --baseline, not both.")
    said = {
        "model": study.model,
        "variances": study.system_variances,
        "correction": study.correction,
        "over": study.correct_over,
    }
    given = {name: value for name, value in said.items() if value is not None}
    if study.drop_systems:
        given.setdefault("correction", "none")  # looks that drop systems have levels of their own
    if comparisons is not None or baseline is not None:
        given |= {"comparisons": comparisons or "baseline", "baseline": baseline}
    try:
        family = replace(planned, **given)
    except HumevalPowerError as error:
        raise click.UsageError(str(error)) from None
    if study.system_variances is not None and family.model != "joint":
        raise click.UsageError("--system-variances is for one fit of all systems: add --model joint.")
    return family


def goal_of(study: StudyValues) -> Goal:
    """What counts as power among several systems: the best is found, where systems are dropped."""
    return study.goal or ("best" if study.drop_systems else DEFAULT_GOAL)


def on_one_criterion(study: StudyValues, rule: DecisionRule) -> tuple[StudyValues, DecisionRule]:
    """The study on any one of its criteria, and its test at the level that a plan gives each of them. Raises
    UsageError: a correction that criteria have not together."""
    n = len(study.criteria or ())
    if n < 2:
        return study, rule
    family = family_of(study)
    if family.correction == "max-t" and family.over == "all":
        raise click.UsageError(MAX_T_OVER_CRITERIA)
    alpha = family.criterion_alpha(rule.alpha, n)
    shares = alpha < rule.alpha
    why = (
        f"{family.correction} shares {rule.alpha:g} among them" if shares else "each has a test of its own"
    )
    note(f"This is of any one of {n} criteria, tested at alpha {alpha:.4g}, as in a plan: {why}.")
    of_criteria = ["criteria", "correct_over"]
    if (number_of_systems(study) or 2) == 2:
        of_criteria.append("correction")
    return study.without(*of_criteria), replace(rule, alpha=alpha)


def tell_one_test(study: StudyValues) -> None:
    """Say that the choices which several systems need change nothing where there are two."""
    given = study.options_of({"pattern", "goal", *COMPARISONS})
    if given:
        say = "says" if len(given) == 1 else "say"
        note(f"Two systems have one difference and one test of it: {', '.join(given)} {say} nothing more.")


def number_of_systems(study: StudyValues) -> int | None:
    """How many systems there are, as far as that was said. Raises UsageError: two different numbers of
    them."""
    counts = {
        "n_systems": study.n_systems,
        "systems": None if study.systems is None else len(study.systems),
        "system_means": None if study.system_means is None else len(study.system_means),
    }
    given = {study.option(name): count for name, count in counts.items() if count is not None}
    if len(set(given.values())) > 1:
        words = ", ".join(f"{option} {count}" for option, count in given.items())
        raise click.UsageError(f"The numbers of systems disagree: {words}.")
    return next(iter(given.values()), None)


# -- the design, and what goes wrong in it


def documents_of(study: StudyValues) -> Documents:
    """How many documents the items come out of."""
    from humeval_power.study_counts import Documents

    return Documents(study.documents, study.items_per_document)


def points_of(study: StudyValues, scale: RatingScale | None) -> int | None:
    """The points of a Likert response: as given, or those of the scale."""
    if study.response != "likert":
        return None
    points = study.points or (scale.points if scale else None)
    if points is None:
        raise click.UsageError("A Likert response needs --points.")
    return int(points)


def design_of(study: StudyValues, n_systems: int = 2) -> Design:
    """The design of the study. Raises DesignError: fields that contradict each other, or a design that cannot
    be built."""
    from humeval_power.studies.power.required import build_design

    return build_design(
        study.workers or 0,
        study.items or 0,
        study.ratings_per_item,
        paired=study.paired is not False,
        kind=study.design,
        max_ratings_per_worker=study.max_ratings_per_worker,
        documents=documents_of(study),
        n_systems=n_systems,
    )


def rating_study_of(
    study: StudyValues, parameters: Parameters, design: Design, rule: DecisionRule, points: int | None
) -> RatingStudy:
    """One study of two systems."""
    from humeval_power.studies.power.scenario import RatingStudy

    return RatingStudy(
        parameters,
        design,
        rule=rule,
        response=study.response,
        points=points,
        losses=losses_of(study),
        exclusion=study.exclusion,
    )


def losses_of(study: StudyValues) -> Losses:
    """What is lost of the ratings, and who rates carelessly."""
    from humeval_power.simulation.study import Losses

    return Losses(
        missing=study.lost,
        quitting=study.quitting,
        at_random=study.at_random or study.careless / 2,
        straight_lining=study.straight_lining or study.careless / 2,
    )


def schedule_of(study: StudyValues, scale: RatingScale | None = None) -> LookSchedule | None:
    """When the study is looked at and what stops it; None without looks.

    scale : whose points the sizes of `stop_when` are in.
    """
    study.refuse(
        ("stop_when", "drop_systems") if study.looks is None else (), "needs looks: add --looks 3."
    )
    if study.looks is None:
        return None
    from humeval_power.studies.looks.rating_looks import LookSchedule
    from humeval_power.studies.looks.stopping_rule import efficacy_of, futility_of

    study = looks_stopped(study)
    try:
        return LookSchedule(
            _looks(study),
            efficacy_of(study.efficacy),
            futility_of(study.futility),
            stop_when=reasons_to_stop(study, scale),
            drop_systems=bool(study.drop_systems),
        )
    except HumevalPowerError as error:
        raise click.UsageError(str(error)) from None


def looks_stopped(study: StudyValues) -> StudyValues:
    """The study with what is usual where its intervals stop it, or its looks drop systems: looks by workers, alpha
    spent as t squared."""
    if study.stop_when is None and not study.drop_systems:
        return study
    usual = {"looks_by": "workers", "efficacy": "kim-demets:2"}
    return study.with_(**{name: value for name, value in usual.items() if not study.says(name)})


def reasons_to_stop(study: StudyValues, scale: RatingScale | None) -> StopWhen | None:
    """For which reasons intervals stop the study; None where they do not."""
    from humeval_power.studies.looks.repeated import stop_when_of

    if study.stop_when is None:
        return None
    try:
        return stop_when_of(study.stop_when, scale)
    except HumevalPowerError as error:
        raise click.UsageError(f"{study.option('stop_when')}: {error}") from None


def _looks(study: StudyValues) -> Looks:
    from humeval_power.studies.looks.replicates import Looks

    looks = Looks(study.looks_by, look_shares(study.looks))
    if looks.n_looks < 2:
        raise click.UsageError("One look is a plain study: leave out --looks, or give 2 or more.")
    return looks


def look_shares(text: str) -> tuple[float, ...]:
    """What --looks says, a number of equal looks or their shares, as shares."""
    from humeval_power.fields import real_number, shortened
    from humeval_power.studies.looks.replicates import equal_looks

    if text.strip().isdecimal():
        if len(text.strip()) > 4:
            raise click.UsageError(f"--looks: a study has a few looks; got {shortened(text)!r}.")
        return equal_looks("items", int(text)).shares
    try:
        return tuple(real_number(part) for part in text.split(","))
    except ValueError:
        raise click.UsageError(
            f"--looks is a number such as 3, or shares such as 0.5,0.75,1; got {shortened(text)!r}."
        ) from None


# -- what it costs

PRICES = (
    *("cost_per_rating", "pay_per_hour", "seconds_per_rating", "seconds_column", "cost_per_worker"),
    *("cost_per_document", "cost_per_item", "cost_per_output", "rejected", "checks", "repeats"),
    *("fee", "fees", "fee_share", "units_per_assignment", "split_hits", "currency"),
)
_OF_MODEL = {**PRICE_FIELDS, "share": "fee_share"}


def cost_model_of(study: StudyValues) -> CostModel:
    """What the study costs; the seconds of a rating are those of the pilot where a column of it is named.
    Raises InputError: every impossible price at once, no price at all, or a platform that the table of fees
    does not have."""
    if study.cost_per_rating is None and study.pay_per_hour is None:
        rule = "nothing says what a rating costs."
        raise InputError(
            [Problem(rule, "Give --cost-per-rating, or --pay-per-hour with --seconds-per-rating.")]
        )
    from humeval_power.fees import PlatformFee
    from humeval_power.files.file_bytes import read_fee

    if study.seconds_column is not None:
        seconds = _seconds_of_pilot(study.seconds_column, study.pilot)
        study = study.with_(seconds_per_rating=seconds)
    fee = study.fee if isinstance(study.fee, PlatformFee) else read_fee(study.fee, study.fees)
    with _in_options(study):
        if study.fee_share is not None:
            fee = replace(fee, share=study.fee_share, confirmed=True)
        model = cost_model(study, fee)
    if fee.caveat:
        note(fee.caveat)
    return model


def judges_of(study: StudyValues) -> PlannedJudges | None:
    """The judges of a study; None where it says none. Raises InputError: what is missing of them, or does not
    go together."""
    given = study.options_of([name for name, one in FIELDS.items() if one.section == "judges"])
    if not given:
        return None
    names, correlation, extra = study.judges, study.judge_correlation, study.judged_extra
    if names is None or correlation is None or extra is None:
        needed = {"judges": names, "judge_correlation": correlation, "judged_extra": extra}
        missing = [study.option(name) for name, value in needed.items() if value is None]
        raise InputError(f"{', '.join(given)}: a study with judges needs {' and '.join(missing)} too.")
    from humeval_power.studies.plan.planned_systems import planned_judges

    return planned_judges(
        names,
        correlation,
        extra=extra,
        reliability=study.judge_reliability,
        between=study.judges_between,
        runs=study.judge_runs,
        prices=study.cost_per_score,
    )


def prices_of(study: StudyValues) -> CostModel | None:
    """The same; None where no price was said. Raises InputError: as for `cost_model_of`."""
    given = study.options_of(PRICES)
    if given and study.cost_per_rating is None and study.pay_per_hour is None:
        raise InputError(
            f"{given[0]} needs the price of a rating: --cost-per-rating, or --pay-per-hour with "
            "--seconds-per-rating."
        )
    return cost_model_of(study) if given else None


def _seconds_of_pilot(name: str, pilot: str | None) -> Decimal:
    """The median time of the pilot's ratings. Raises InputError: no pilot, no such column, or a column
    without times."""
    if pilot is None or pilot == "-":
        raise InputError("--seconds-column needs a PILOT file that has the column.")
    import pandas as pd

    from humeval_power.checking.columns import named_column
    from humeval_power.checking.rows import first_answers
    from humeval_power.files.tables import read_rating_table

    frame = first_answers(read_rating_table(pilot).frame)
    named_column(name, frame.columns, option="--seconds-column", source=pilot)
    numbers = pd.to_numeric(frame[name], errors="coerce")
    seconds = numbers[numbers > 0]
    if seconds.empty:
        raise InputError(f"{pilot}: column {name!r} holds no times: numbers of seconds above 0 are needed.")
    median = Decimal(f"{float(seconds.median()):.1f}")
    note(f"{len(seconds):,} ratings of the pilot took {median} seconds each (median).")
    return median


@contextmanager
def _in_options(study: StudyValues) -> Iterator[None]:
    """Problems with fields of the model of costs, in the options that say them."""
    try:
        yield
    except InputError as error:
        problems = []
        for one in error.problems:
            if one.column is not None and one.place is None:
                option = study.option(_OF_MODEL.get(one.column, one.column))
                value = f"{one.value:f}" if isinstance(one.value, Decimal) else repr(one.value)
                one = Problem(f"{option} {value}: {one.rule}", one.remedy)
            problems.append(one)
        raise InputError(problems) from None


def cost_model(study: StudyValues, fee: PlatformFee) -> CostModel:
    """The prices of the study, with this fee. Raises InputError: every impossible price at once, by its name
    in the model."""
    from humeval_power.costs import CostModel

    same = {one.name for one in fields(CostModel)} - PRICE_FIELDS.keys() - {"fee"}
    names = {**PRICE_FIELDS, **{name: name for name in same}}
    return CostModel(**{name: getattr(study, field) for name, field in names.items()}, fee=fee)
