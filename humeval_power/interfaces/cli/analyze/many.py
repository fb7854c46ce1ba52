"""The part of `analyze` that compares more than two systems."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, get_args

import click

from humeval_power.errors import InputError
from humeval_power.inference.study.many_systems import (
    Correction,
    SystemModel,
    SystemsAnalysis,
    compare_in_pairs,
    compare_jointly,
    group_letters,
)
from humeval_power.interfaces.cli.options import Function, collected, fields_of
from humeval_power.interfaces.cli.output import wrapped
from humeval_power.interfaces.cli.text import text_table
from humeval_power.ratings import Ratings
from humeval_power.reporting.numbers import p_cell
from humeval_power.rules import DecisionRule

_NAME = 22  # characters of a difference's name before names give way to numbers
_LONGEST = 28  # characters of a name before it leaves the table of means


@dataclass(frozen=True, slots=True)
class ManyOptions:
    """How several systems are compared; `model` is None where it was not said."""

    all_pairs: bool
    baseline: str | None
    model: SystemModel | None
    correction: Correction

    @property
    def several(self) -> bool:
        """Whether more than one comparison is asked for."""
        return self.all_pairs or self.baseline is not None


_OPTIONS = (
    click.option("--all-pairs", is_flag=True, help="Compare every pair of systems."),
    click.option("--baseline", metavar="SYSTEM", help="Compare every other system with this one."),
    click.option(
        "--model",
        type=click.Choice(get_args(SystemModel)),
        help="Fit each pair by itself, or all systems together with shared variances. [pairwise]",
    ),
    click.option(
        "--correction",
        type=click.Choice(get_args(Correction)),
        default="holm",
        show_default=True,
        help="For testing several pairs; max-t (Dunnett, Tukey) needs --model joint.",
    ),
)


def many_options(command: Function) -> Function:
    """Add the options for several systems; the command gets them as `many: ManyOptions`."""
    return collected(command, _OPTIONS, name="many", collect=_many)


def _many(values: dict[str, Any]) -> ManyOptions:
    many: ManyOptions = fields_of(ManyOptions)(values)
    if many.all_pairs and many.baseline is not None:
        raise click.UsageError("Give --all-pairs or --baseline, not both.")
    if many.model is not None and not many.several:
        raise click.UsageError("--model is for several systems: add --all-pairs or --baseline SYSTEM.")
    if many.correction == "max-t" and many.model != "joint":
        raise click.UsageError(
            "max-t needs the correlation of the comparisons, which fits in pairs do not give: add "
            "--model joint."
        )
    return many


def analyse_systems(ratings: Ratings, rule: DecisionRule, many: ManyOptions) -> SystemsAnalysis:
    """All comparisons asked for."""
    if ratings.n_systems < 2:
        raise InputError(f"{ratings.source} has one system; at least two are needed.")
    compare = compare_jointly if many.model == "joint" else compare_in_pairs
    return compare(ratings, rule=rule, baseline=many.baseline, correction=many.correction)


def systems_text(ratings: Ratings, analysis: SystemsAnalysis) -> str:
    """The comparisons for people, at most 80 characters wide."""
    parts = [_head(ratings, analysis), _differences(ratings, analysis), _means(ratings, analysis)]
    if analysis.groups:
        parts.append(
            wrapped(
                "Systems that share a letter are not told apart by these tests; that does not "
                "show that they are equal."
            )
        )
    notes = _notes(analysis)
    if notes:
        parts.append("Notes\n" + "\n".join(wrapped(one, bullet="  - ") for one in notes))
    return "\n\n".join(parts)


def _head(ratings: Ratings, analysis: SystemsAnalysis) -> str:
    rule = analysis.results[0].test.rule
    model = (
        "all systems in one fit, which takes it that workers and items differ alike between any two systems"
        if analysis.model == "joint"
        else "each pair by its own fit, with its own variances"
    )
    return wrapped(
        f"{ratings.source}: {ratings.n_ratings:,} ratings, {ratings.n_systems} systems; {model} ({rule}); "
        f"{correction_words(analysis)}; differences and means on [0, 1]"
    )


def correction_words(analysis: SystemsAnalysis) -> str:
    """What the corrected p-values and the intervals are."""
    n = f"{len(analysis.results)} comparison{'s' * (len(analysis.results) != 1)}"
    if analysis.correction == "none":
        return f"{n}, not corrected for"
    if analysis.common_df is None:
        return f"p corrected by {analysis.correction} over {n}, intervals not"
    df = "the normal distribution" if math.isinf(analysis.common_df) else f"{analysis.common_df:.1f} df"
    return f"p and intervals corrected by max-t over {n}, on {df}, the fewest of any of them"


def _differences(ratings: Ratings, analysis: SystemsAnalysis) -> str:
    number = {} if _are_short(analysis) else _numbers(ratings)
    rows = []
    for one in analysis.results:
        low, high = one.simultaneous_interval or one.test.interval
        first, second = number.get(one.first, one.first), number.get(one.second, one.second)
        rows.append(
            [
                f"{second} - {first}",
                f"{one.test.estimate:.4f}",
                "none" if one.test.reason else f"{low:.4f} to {high:.4f}",
                "" if one.test.reason else f"{one.test.df:.1f}",
                p_cell(one.test.p_value),
                p_cell(one.corrected_p) + (" *" if one.significant else "  "),
            ]
        )
    return text_table(["difference", "estimate", "interval", "df", "p", "corrected"], rows)


def _are_short(analysis: SystemsAnalysis) -> bool:
    """Whether differences can be written with the systems' names; else with their numbers."""
    return max(len(f"{one.second} - {one.first}") for one in analysis.results) <= _NAME


def _numbers(ratings: Ratings) -> dict[str, str]:
    return {name: f"[{place}]" for place, name in enumerate(ratings.system_names, start=1)}


def _means(ratings: Ratings, analysis: SystemsAnalysis) -> str:
    letters = group_letters(analysis.groups)
    number = {} if _are_short(analysis) else _numbers(ratings)
    outside = max(map(len, ratings.system_names)) > _LONGEST
    header = ["system", "mean"]
    if analysis.model == "joint":
        header += ["interval", "df"]
    if letters:
        header.append("letters")
    rows = []
    for one in sorted(analysis.means, key=lambda one: -one.mean):
        name = "" if outside else one.system
        row = [f"{number.get(one.system, '')} {name}".strip(), f"{one.mean:.4f}"]
        if analysis.model == "joint" and (one.interval is None or one.df is None):
            row += ["none", ""]
        elif one.interval is not None and one.df is not None:
            row += [f"{one.interval[0]:.4f} to {one.interval[1]:.4f}", f"{one.df:.1f}"]
        rows.append([*row, letters[one.system]] if letters else row)
    table = text_table(header, rows)
    if not outside:
        return table
    return "\n".join([table, "", *(wrapped(name, bullet=f"  {n} ") for name, n in number.items())])


def _notes(analysis: SystemsAnalysis) -> list[str]:
    fitted = analysis.joint
    reasons: dict[str, list[str]] = {}
    for one in analysis.results:
        if one.test.reason:
            reasons.setdefault(one.test.reason, []).append(f"{one.second} - {one.first}")
    untested = [f"No test of {', '.join(names)}: {why}." for why, names in reasons.items()]
    if fitted is None:
        return untested
    notes = [
        *untested,
        "SDs on [0, 1]: "
        + ", ".join(
            f"{name.removeprefix('sd_').replace('_', ' x ')} {value:.4f}"
            for name, value in fitted.standard_deviations.items()
        )
        + ". That of a worker's difference between two systems is 1.41 times worker x system.",
    ]
    ends = [end for one in analysis.means for end in one.interval or ()]
    if ends and (min(ends) < 0 or max(ends) > 1):
        notes.append(
            "An interval of a mean that passes an end of the scale says that t intervals do not know it."
        )
    if fitted.boundary:
        notes.append(
            f"Estimated as zero: {', '.join(fitted.boundary)}. That is no proof that they are, and "
            "Kenward-Roger's df allow for it."
        )
    if fitted.not_identified:
        notes.append(
            f"This table cannot tell {', '.join(fitted.not_identified)} apart; differences and means are "
            "not affected."
        )
    return notes
