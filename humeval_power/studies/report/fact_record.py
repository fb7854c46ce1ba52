"""What is known of one criterion of a study: the record that every form is filled from.

It is read from an analysis of two systems, from one of several, or from a fit; what none of them says is None or
empty. No form asks for itself how many systems there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from statistics import median

from humeval_power.choices import CORRECTIONS
from humeval_power.errors import InputError
from humeval_power.parameters import PARAMETER_NAMES
from humeval_power.rules import ComparisonFamily, DecisionRule, FamilyOfTests, SystemVariances
from humeval_power.saying.answer_words import with_names
from humeval_power.saying.document import Table
from humeval_power.saying.numbers import MINUS, counted, with_minus
from humeval_power.saying.rule_words import (
    SD_WORDS,
    estimator_words,
    model_words,
    reference_of,
    reported_words,
)
from humeval_power.saying.values import (
    NOTHING,
    JsonRecord,
    bounds,
    estimated,
    listed,
    number,
    part,
    plain,
    rule_of,
    scale_of,
    words,
)
from humeval_power.scales import RatingScale
from humeval_power.studies.analyze.family import ShownPair, Unit, family_of_record, family_words
from humeval_power.studies.analyze.findings import (
    CriterionFindings,
    Finding,
    findings_table,
    findings_words,
)


@dataclass(frozen=True, slots=True)
class ComparisonFacts:
    """The difference second - first on [0, 1].

    `p_value` and `significant` are those after the correction of the whole family; None without a test, and then
    `reason` says why. `interval` covers together with the others where `is_simultaneous`.
    """

    first: str
    second: str
    estimate: float | None = None
    standard_error: float | None = None
    df: float | None = None
    p_value: float | None = None
    interval: tuple[float, float] | None = None
    significant: bool | None = None
    reason: str | None = None
    is_simultaneous: bool = False

    @property
    def name(self) -> str:
        """'second - first'."""
        return f"{self.second} {MINUS} {self.first}"

    def turned(self) -> ComparisonFacts:
        """The same as first - second."""
        ends = None if self.interval is None else (-self.interval[1], -self.interval[0])
        estimate = None if self.estimate is None else -self.estimate
        return replace(self, first=self.second, second=self.first, estimate=estimate, interval=ends)


@dataclass(frozen=True, slots=True)
class Mean:
    """A system's mean rating on [0, 1]; the interval is of a joint fit."""

    system: str
    mean: float
    standard_error: float | None = None
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class StudyFacts:
    """One criterion of a study.

    `record` is the document as it was read, for what only one kind of it has. `is_of_several` tells systems that
    were compared with each other from the pair A and B. `family` are the tests that were made together, None for
    a single test. `boundary` and `not_identified` name SDs.
    """

    record: JsonRecord = field(default_factory=lambda: NOTHING)
    systems: tuple[str, ...] = ()
    criterion: str | None = None
    rule: DecisionRule | None = None
    scale: RatingScale | None = None
    n_workers: int | None = None
    n_items: int | None = None
    n_ratings: int | None = None
    ratings_per_item: float | None = None
    comparisons: tuple[ComparisonFacts, ...] = ()
    means: tuple[Mean, ...] = ()
    groups: tuple[tuple[str, ...], ...] = ()
    family: FamilyOfTests | None = None
    is_of_several: bool = False
    converged: bool = True
    boundary: tuple[str, ...] = ()
    not_identified: tuple[str, ...] = ()

    @property
    def has_result(self) -> bool:
        """Whether a difference was estimated by a fit that converged."""
        return self.converged and any(one.estimate is not None for one in self.comparisons)

    @property
    def is_exported(self) -> bool:
        """Whether its parameters make a file that the next study of two systems is planned from; several systems
        are planned from their analysis itself."""
        return self.has_result and bool(part(self.record, "parameters"))

    @property
    def all_systems(self) -> str:
        """Every one of the systems, in words."""
        return "all systems" if self.is_of_several else "both systems"

    @property
    def several_systems(self) -> str:
        """More than one of the systems, in words."""
        return "several systems" if self.is_of_several else "both systems"

    @property
    def ordered_means(self) -> tuple[Mean, ...]:
        """The means, best first."""
        return tuple(sorted(self.means, key=lambda one: -one.mean))

    @property
    def untested(self) -> dict[str, list[ComparisonFacts]]:
        """The comparisons without a test, by the reason."""
        facts: dict[str, list[ComparisonFacts]] = {}
        for one in self.comparisons:
            if one.reason is not None:
                facts.setdefault(one.reason, []).append(one)
        return facts

    @property
    def ranked_comparisons(self) -> tuple[ComparisonFacts, ...]:
        """The comparisons in the order of the systems, each of the one that comes first minus the other.

        Against a baseline, and where only one side is tested, they keep the direction in which they were made.
        """
        as_tested = self.rule is not None and self.rule.alternative != "two-sided"
        as_tested |= self.family is not None and self.family.family.baseline is not None
        place = {name: rank for rank, name in enumerate(self.order)}
        if not self.is_of_several or len(place) < len(self.systems):
            return self.comparisons
        turned = [
            one.turned() if not as_tested and place[one.first] < place[one.second] else one
            for one in self.comparisons
        ]
        return tuple(sorted(turned, key=lambda one: (place[one.second], place[one.first])))

    @property
    def order(self) -> tuple[str, ...]:
        """The systems as the findings have them, which is one order for all criteria; else from the best mean."""
        rows = [row for row in listed(part(self.record, "findings"), "rows") if isinstance(row, Mapping)]
        return tuple(str(row.get("system")) for row in rows) or tuple(
            one.system for one in self.ordered_means
        )


def study_facts(record: JsonRecord) -> StudyFacts:
    """The facts of an analysis or a fit, of one criterion; none of them where it is empty."""
    several = [pair for pair in listed(record, "pairs") if isinstance(pair, Mapping)]
    fits = [part(record, "joint_fit")] if part(record, "joint_fit") else several
    made_by = fits or [record]
    return StudyFacts(
        record=record,
        systems=tuple(map(str, listed(record, "systems"))),
        criterion=words(record, "criterion_name"),
        rule=rule_of(record),
        scale=scale_of(record),
        n_workers=_whole(record, "n_workers"),
        n_items=_whole(record, "n_items"),
        n_ratings=_whole(record, "n_ratings"),
        ratings_per_item=number(record, "ratings_per_item"),
        comparisons=tuple(map(_of_pair, several)) if several else _of_two(record),
        means=tuple(
            Mean(
                str(one.get("system")),
                number(one, "mean") or 0.0,
                number(one, "standard_error"),
                bounds(one, "interval"),
            )
            for one in listed(record, "system_means")
            if isinstance(one, Mapping)
        ),
        groups=tuple(tuple(map(str, group)) for group in listed(record, "groups")),
        family=_family(record, is_needed=bool(several)),
        is_of_several=bool(several),
        converged=any(one.get("converged") is not False for one in made_by),
        boundary=_named(made_by, "boundary"),
        not_identified=_named(made_by, "not_identified"),
    )


def _whole(record: JsonRecord, name: str) -> int | None:
    value = number(record, name)
    return None if value is None else round(value)


def reported_effect(record: JsonRecord) -> JsonRecord:
    """The effect of two systems; of a study with looks by the inference that takes them into account."""
    effect, looks = part(record, "effect"), part(record, "sequential")
    inference = part(looks, "inference")
    if number(inference, "estimate") is None:
        return effect
    without = ("raw", "standard_error", "df", "corrected_p_value")  # of the last look alone
    return {
        **{name: value for name, value in effect.items() if name not in without},
        **{name: inference[name] for name in ("estimate", "interval", "p_value")},
        "significant": looks.get("significant"),
    }


def _of_two(record: JsonRecord) -> tuple[ComparisonFacts, ...]:
    """The one comparison of an analysis of two systems."""
    effect, systems = reported_effect(record), listed(record, "systems")
    if not effect:
        return ()
    first, second = map(str, systems if len(systems) == 2 else ("A", "B"))
    corrected = number(effect, "corrected_p_value")
    p_value = number(effect, "p_value") if corrected is None else corrected
    return (_comparison(first, second, effect, p_value, bounds(effect, "interval")),)


def _of_pair(pair: JsonRecord) -> ComparisonFacts:
    together = bounds(pair, "simultaneous_interval")
    return _comparison(
        str(pair.get("first")),
        str(pair.get("second")),
        pair,
        number(pair, "corrected_p_value"),
        together or bounds(pair, "interval"),
        is_simultaneous=together is not None,
    )


def _comparison(
    first: str,
    second: str,
    said: JsonRecord,
    p_value: float | None,
    interval: tuple[float, float] | None,
    *,
    is_simultaneous: bool = False,
) -> ComparisonFacts:
    significant, reason = said.get("significant"), words(said, "reason")
    return ComparisonFacts(
        first=first,
        second=second,
        estimate=number(said, "estimate"),
        standard_error=number(said, "standard_error"),
        df=number(said, "df"),
        p_value=None if reason else p_value,
        interval=None if reason else interval,
        significant=significant if isinstance(significant, bool) else None,
        reason=reason,
        is_simultaneous=is_simultaneous,
    )


def _family(record: JsonRecord, *, is_needed: bool) -> FamilyOfTests | None:
    """As the record states it; None for a single test."""
    stated = part(record, "family_of_tests")
    if not stated and not is_needed:
        return None
    try:
        return family_of_record(stated)
    except (KeyError, TypeError, AssertionError):
        raise InputError(
            "The analysis does not say which tests were made together: analyze the ratings again."
        ) from None


def _named(fits: Iterable[JsonRecord], name: str) -> tuple[str, ...]:
    """The SDs that any of the fits names; in how many of them, where there are several fits."""
    names = [[str(one) for one in listed(fit, name)] for fit in fits]
    counts = {sd: sum(sd in of_fit for of_fit in names) for of_fit in names for sd in of_fit}
    if len(names) == 1:
        return tuple(counts)
    return tuple(f"{sd} (in {n:,} of {len(names):,} fits)" for sd, n in counts.items())


# The model of several systems and the family of its tests, in the words of a methods section.

_VARIANCES: Mapping[SystemVariances, str] = {
    "own": "with variances of each system's own",
    "common": "with variances common to all systems",
}


def family_model(rule: DecisionRule, family: ComparisonFamily, n_systems: int) -> str:
    """The model that was fitted, as the start of a sentence."""
    if family.model != "joint":
        model = model_words(rule).replace("B - A", "of its systems")
        return f"{model}, fitted to the ratings of each pair of systems by itself"
    return (
        f"Linear mixed model of the ratings of all {n_systems} systems together, with a mean for each system, "
        "crossed random intercepts of workers and of items, and random deviations of workers and of items for each "
        f"system, {_VARIANCES[family.variances]}, all uncorrelated"
    )


def tested_words(family: ComparisonFamily, n_comparisons: int) -> str:
    """'all 28 pairs of systems', '7 systems against base'."""
    if family.comparisons == "baseline":
        return f"{counted(n_comparisons, 'system')} against {family.baseline}"
    return "the one pair of systems" if n_comparisons == 1 else f"all {n_comparisons:,} pairs of systems"


DROPPING_CITED = (
    "At each look a system that another one beat was dropped and rated no more, and the best was named where it "
    "beat all that were left; before that those left hold the best with the confidence 1 - alpha (levels of "
    "Bonferroni over the comparisons, spent over the looks and calibrated by simulation; the claim as of the "
    "winner against the runner-up, Gutmann and Maymin 1987). Intervals and p-values of differences hold for all "
    "pairs and looks together. Each comparison is that of the last look at which both systems were rated."
)


def family_tests(rule: DecisionRule, tests: FamilyOfTests, n_comparisons: int) -> str:
    """What was compared with what, and how the family of tests was corrected, as a sentence."""
    source = CORRECTIONS[tests.family.correction].source
    cited = f" ({source})" if source else ""
    looks = (
        f" {DROPPING_CITED}"
        if tests.drop_result is not None
        else " The error was spent over looks and comparisons: one that was shown passed its share of alpha to the "
        "others at the same look (Maurer and Bretz 2013)."
        if tests.n_looks
        else ""
    )
    side = {
        "two-sided": "two-sided",
        "greater": "one-sided (the second of a pair above the first)",
        "non-inferior": f"one-sided (the second of a pair not below the first by {rule.margin} or more)",
        "equivalent": f"two one-sided tests each (equivalence within {rule.margin}; Schuirmann 1987)",
    }[rule.alternative]
    return (
        f"Wald tests of the differences of {tested_words(tests.family, n_comparisons)} against "
        f"{reference_of(rule)}, {side}; p-values {family_words(tests)}{cited}, alpha {rule.alpha:g}.{looks}"
    )


def family_sentences(
    rule: DecisionRule, tests: FamilyOfTests, *, n_systems: int, n_comparisons: int
) -> str:
    """The model and its tests."""
    model = f"{family_model(rule, tests.family, n_systems)}, by {estimator_words(rule)}."
    return f"{model}{reported_words(rule)} {family_tests(rule, tests, n_comparisons)}"


def paper_sentences(rule: DecisionRule, tests: FamilyOfTests, *, n_systems: int, n_comparisons: int) -> str:
    """The same as sentences of a paper."""
    model = family_model(rule, tests.family, n_systems)
    return (
        f"We fitted a {model[0].lower()}{model[1:]}, by {estimator_words(rule)}.{reported_words(rule)} We made "
        f"{family_tests(rule, tests, n_comparisons)}"
    )


# The results of a study as its record holds them, in tables: findings, differences and estimated parameters.


def findings_of(facts: StudyFacts) -> CriterionFindings | None:
    """The rows of one criterion; None where the record has none."""
    said = part(facts.record, "findings")
    known = {each.name for each in fields(Finding)}
    rows = tuple(
        Finding(**{name: value for name, value in row.items() if name in known})
        for row in listed(said, "rows")
        if isinstance(row, Mapping)
    )
    if not rows or facts.scale is None or facts.rule is None:
        return None
    return CriterionFindings(
        facts.criterion,
        Unit(facts.scale),
        facts.rule.alpha,
        rows,
        facts.groups,
        round(number(said, "n_draws") or 0),
        words(said, "reason") or "",
    )


def findings_over(criteria: Sequence[StudyFacts], caption: str) -> Table | None:
    """Systems by criteria, as `analyze` shows them; None where a criterion has no findings."""
    findings = [known for facts in criteria if (known := findings_of(facts)) is not None]
    tests = criteria[0].family
    if not findings or len(findings) < len(criteria) or tests is None:
        return None
    table = findings_table(findings, called={name: name for each in criteria for name in each.systems})
    notes = " ".join([caption, *findings_words(findings, tests)])
    return Table(table.header, table.rows, caption=notes, spans=table.spans)


def shown_comparisons(facts: StudyFacts, unit: Unit) -> tuple[ShownPair, ...]:
    """The comparisons in the order, with the sign and in the unit of the findings."""
    return tuple(_shown(one, unit) for one in facts.ranked_comparisons if one.estimate is not None)


def _shown(one: ComparisonFacts, unit: Unit) -> ShownPair:
    none = float("nan")
    low, high = one.interval or (none, none)
    return ShownPair(
        one.second,
        one.first,
        unit.difference(one.estimate or 0.0),
        unit.difference_interval(low, high),
        none if one.df is None else one.df,
        none,
        none if one.p_value is None else one.p_value,
        one.significant is True,
        one.reason or "",
    )


def result_table(facts: StudyFacts) -> Table | None:
    """Estimate, standard error and interval of each quantity; None where nothing was estimated."""
    if not facts.has_result:
        return None
    study, scale = facts.record, facts.scale
    pair = facts.systems[0], facts.systems[-1]
    minus = with_names(f"B {MINUS} A", pair)
    effect = reported_effect(study)
    rows = [_row(f"{minus}, on [0, 1]", effect, sign=True)]
    if scale is not None and part(effect, "raw"):
        name = f"{minus}, as rated, {scale.low:g} to {scale.high:g}"
        rows.append(_row(name, part(effect, "raw"), sign=True))
    return Table(
        ("quantity", "estimate", "standard error", "interval"), (*rows, *_parameter_rows(study, pair))
    )


def _parameter_rows(study: JsonRecord, pair: tuple[str, str]) -> list[tuple[str, ...]]:
    """The baseline and the SDs, on [0, 1]; one that is not identified has no number."""
    values, errors = part(study, "parameters"), part(study, "standard_errors")
    intervals, unknown = part(study, "intervals"), listed(study, "not_identified")
    rows: list[tuple[str, ...]] = []
    for name in PARAMETER_NAMES:
        if name == "effect" or number(values, name) is None:
            continue
        label = "mean of both systems" if name == "baseline" else _sd(name, pair)
        if name in unknown:
            rows.append((label, "not identified", "", ""))
            continue
        shown = {
            "estimate": values[name],
            "standard_error": errors.get(name),
            "interval": intervals.get(name),
        }
        rows.append(_row(label, shown, sign=False))
    return rows


def _sd(name: str, pair: tuple[str, str]) -> str:
    said = SD_WORDS[name].replace("B - A", f"B {MINUS} A")
    return with_names(f"SD: {said[0].lower()}{said[1:]}", pair)


def _row(label: str, values: JsonRecord, *, sign: bool) -> tuple[str, ...]:
    estimate, error, ends = (
        number(values, "estimate"),
        number(values, "standard_error"),
        bounds(values, "interval"),
    )
    return (
        label,
        "" if estimate is None else _number(estimate, sign),
        "" if error is None else f"{error:#.2g}",
        "" if ends is None else " to ".join(_number(end, sign) for end in ends),
    )


def _number(value: float, sign: bool) -> str:
    text = estimated(value) if sign else f"{value:#.3g}".removesuffix(".")
    return with_minus(text)


# The estimated parameters, for planning later studies.


def parameters_table(facts: StudyFacts) -> Table | None:
    """The seven parameters with their standard errors; None where one of them is not there."""
    values = part(facts.record, "parameters")
    if any(number(values, name) is None for name in PARAMETER_NAMES):
        return None
    unknown, zero = listed(facts.record, "not_identified"), listed(facts.record, "boundary")
    errors = part(facts.record, "standard_errors")
    rows = []
    for name in PARAMETER_NAMES:
        value, error = number(values, name), number(errors, name)
        shown = "not identified" if name in unknown or value is None else plain(value)
        shown += " (at the boundary)" if name in zero and name not in unknown else ""
        rows.append((name, shown, "" if error is None or name in unknown else f"{error:#.2g}"))
    return Table(("parameter", "estimate", "standard error"), tuple(rows))


def estimated_parameters(facts: StudyFacts) -> tuple[str, Table] | None:
    """Where they come from, and a table of them; None where the record has none."""
    rows = joint_parameters(facts)
    if rows:
        zero = set(facts.boundary)
        shown = tuple(
            (
                name,
                "not identified"
                if name in facts.not_identified
                else plain(value) + (" (at the boundary)" if name in zero else ""),
            )
            for name, value in rows.items()
        )
        return "On [0, 1], from one fit of all systems.", Table(("parameter", "estimate"), shown)
    of_pairs = pair_parameters(facts)
    if not of_pairs:
        return None
    n = max(map(len, of_pairs.values()))
    table = tuple(
        (name, plain(median(values)), plain(min(values)), plain(max(values)))
        for name, values in of_pairs.items()
    )
    said = (
        f"On [0, 1], over the fits of {n:,} pairs of systems; the slopes are those of the difference second - "
        "first."
    )
    return said, Table(("parameter", "median", "smallest", "largest"), table)


def joint_parameters(facts: StudyFacts) -> dict[str, float]:
    """The mean of each system and the SDs of a joint fit, by name; empty for fits in pairs."""
    sds = part(facts.record, "joint_fit", "standard_deviations")
    deviations = {name: value for name in sds if (value := number(sds, name)) is not None}
    return (
        {**{f"mean of {one.system}": one.mean for one in facts.means}, **deviations} if deviations else {}
    )


def pair_parameters(facts: StudyFacts) -> dict[str, list[float]]:
    """The parameters of the fits in pairs, by name; empty for a joint fit."""
    fits = [part(pair, "parameters") for pair in listed(facts.record, "pairs") if isinstance(pair, Mapping)]
    by_name = {
        name: [value for fit in fits if (value := number(fit, name)) is not None]
        for name in PARAMETER_NAMES
    }
    return {name: values for name, values in by_name.items() if values}
