"""How often tests reject where they should not: the planned test, and those people really use."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from humeval_power.choices import CORRECTIONS, DEFAULT_SEED, DEFAULT_SIMULATIONS, Response
from humeval_power.designs import Assignment, Design
from humeval_power.errors import InputError
from humeval_power.inference.common_tests import COMMON_TESTS, TwoSided
from humeval_power.inference.corrections import significant
from humeval_power.inference.item_bootstrap import binomial_interval, wilson_interval
from humeval_power.parameters import Parameters
from humeval_power.rules import DEFAULT_FAMILY, DEFAULT_RULE, ComparisonFamily, Correction, DecisionRule
from humeval_power.simulation.study import begun_small
from humeval_power.studies.fit.max_t import pair_design, pair_rows
from humeval_power.studies.power.estimate import (
    PowerEstimate,
    Progress,
    ReplicateProgress,
    Tally,
    check_simulation,
    estimate_power,
)
from humeval_power.studies.power.replication import Replication, StudyFits
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.studies.power.systems_replication import SystemsReplication
from humeval_power.studies.power.systems_study import FamilyDecision, family_decision, systems_workload
from humeval_power.studies.power.workload import seconds_each
from humeval_power.sweep.blocks import Block, part_done, run_blocks
from humeval_power.sweep.versions import Span, spans
from humeval_power.systems import SystemsParameters

if TYPE_CHECKING:
    import pandas as pd

MIXED_MODEL_TESTS: dict[str, tuple[str, DecisionRule]] = {
    "kenward-roger": ("Mixed model, Kenward-Roger", DecisionRule(df="kenward-roger")),
    "satterthwaite": ("Mixed model, Satterthwaite", DecisionRule(df="satterthwaite")),
    "min": ("Mixed model, min df", DecisionRule(df="min")),
    "differences": ("Mixed model of differences", DecisionRule(analysis="differences")),
    "wald-z": ("Mixed model, Wald z", DecisionRule(df="normal")),
    "card2020": ("Card et al. (ML, Wald z)", DecisionRule(estimator="ml", df="normal")),
}
NULL_TESTS = (*MIXED_MODEL_TESTS, *COMMON_TESTS)
# Of ratings in categories, beside the others: the test of this package, and that of glmer and clmm
CATEGORY_TESTS: dict[str, tuple[str, DecisionRule]] = {
    "categories": ("{family} model, Kenward-Roger", DecisionRule(df="kenward-roger")),
    "categories-wald-z": (
        "{family} model (ML), Wald z",
        DecisionRule(estimator="ml", df="normal"),
    ),
}
# Where items come out of documents: the test that takes each item as a thing of its own
WITHOUT_DOCUMENTS, _DOCUMENTS_LEFT_OUT = "without-documents", "Mixed model, documents left out"
OWN_RULE = "rule"

_Kind = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class NullTest:
    """A test made ready for a design: a mixed model has a `study`, whose rule is two-sided or has a
    margin; any other is the common test of this name."""

    name: str
    label: str
    is_rule: bool
    is_defined: bool
    study: RatingStudy | None = None


@dataclass(frozen=True, slots=True)
class NullStudies:
    """Studies without an effect, and the tests to apply to each of them: two-sided at `level`, or as a `rule` with
    a margin decides."""

    source: Replication
    tests: tuple[NullTest, ...]
    rule: DecisionRule
    level: float

    def seconds(self) -> float:
        """Of a study, about: each kind of fit is made once, and every test is about as long."""
        fitted = [test.study for test in self.tests if test.study is not None and test.is_defined]
        for study in fitted:
            study.prepare()
        return sum(map(seconds_each, fitted))

    def counts(self, n: int, *, seed: int, first: int, n_jobs: int = 1) -> tuple[Tally, ...]:
        """How often each test finds something in studies `first` to `first + n - 1`."""
        counts = [Tally() for _ in self.tests]
        parts = begun_small([range(first, first + n)])
        for part in parts:
            answers = self.answers(len(part), seed=seed, first=part.start, n_jobs=n_jobs)
            tallies = [_tally(answer, self.level, self.rule) for answer in answers]
            counts = [count + more for count, more in zip(counts, tallies, strict=True)]
            part_done((part.stop - first) / n)
        return tuple(counts)

    def answers(self, n: int, *, seed: int, first: int = 0, n_jobs: int = 1) -> list[TwoSided]:
        """What each test says of studies `first` to `first + n - 1`: NaN where a fit failed, and no
        study at all for a test that the design does not allow. Each kind of fit is made once."""
        responses = self.source.responses(n, seed=seed, first=first)
        fits: dict[_Kind, StudyFits] = {}
        for test in self.tests:
            if test.study is not None and test.is_defined and _kind(test.study) not in fits:
                fits[_kind(test.study)] = test.study.replication.fit(responses, n_jobs=n_jobs)
        rows = self.source.design.assignment

        def answer(test: NullTest) -> TwoSided:
            if not test.is_defined:
                return TwoSided(np.empty(0), np.empty(0))
            if test.study is None:
                return COMMON_TESTS[test.name].run(responses, rows)
            return _decide(test.study, fits[_kind(test.study)])

        if n_jobs == 1:
            return [answer(test) for test in self.tests]
        with ThreadPoolExecutor(n_jobs) as pool:
            return list(pool.map(answer, self.tests))


def null_studies(
    source: Replication, names: Sequence[str], *, rule: DecisionRule, level: float
) -> NullStudies:
    """Make tests ready, each two-sided at `level`, or with the margin and alpha of `rule` if it has one,
    which the common tests do not know: those are left out then. The planned rule is always there: under
    its own name if it is one of MIXED_MODEL_TESTS, and first if `names` do not place it."""
    known = _known_tests(source, rule)
    own = name_of(rule, known)
    chosen = names if own in names else (own, *names)
    ready = []
    for name in dict.fromkeys(chosen):
        if name in COMMON_TESTS and rule.margin is not None:
            continue
        if name in COMMON_TESTS:
            test = COMMON_TESTS[name]
            ready.append(NullTest(name, test.label, False, test.is_defined(source.design.assignment)))
            continue
        label, decided = known.get(name, (f"Planned: {rule.estimator.upper()}, {rule.df}", rule))
        left_out = name == WITHOUT_DOCUMENTS
        if left_out:
            label, decided = _DOCUMENTS_LEFT_OUT, DEFAULT_RULE
        decided = replace(decided, **_decision(rule, level))
        study = RatingStudy(
            source.parameters,
            source.design,
            rule=decided,
            response=source.response,
            points=source.points,
            ignore_documents=left_out,
        )
        is_defined = decided.analysis == "ratings" or has_differences(source.design.assignment)
        ready.append(NullTest(name, label, name == own, is_defined, study))
    return NullStudies(source, tuple(ready), rule, level)


def _known_tests(source: Replication, rule: DecisionRule) -> dict[str, tuple[str, DecisionRule]]:
    """The mixed models with their labels; where ratings arise in categories also the models of these, with the
    link of a rule that is one of them, else that of the ratings."""
    latent = source.parameters.latent
    if latent is None:
        return MIXED_MODEL_TESTS
    link = rule.link if rule.is_latent else latent.link
    of_categories = {
        name: (
            label.format(family=latent.family.capitalize()),
            replace(test, family=latent.family, link=link),
        )
        for name, (label, test) in CATEGORY_TESTS.items()
    }
    return {**of_categories, **MIXED_MODEL_TESTS}


def name_of(rule: DecisionRule, tests: Mapping[str, tuple[str, DecisionRule]] = MIXED_MODEL_TESTS) -> str:
    """The name among tests of a rule, whatever its alpha, alternative and margin."""
    for name, (_, known) in tests.items():
        known = replace(known, alpha=rule.alpha, alternative=rule.alternative, margin=rule.margin)
        if known == rule or (known == replace(rule, link=known.link) and not rule.is_latent):
            return name
    return OWN_RULE


def _decision(rule: DecisionRule, level: float) -> dict[str, Any]:
    """How all tests decide: two-sided at `level`, or as the rule with its margin does."""
    if rule.margin is None:
        return {"alpha": level, "alternative": "two-sided"}
    return {"alpha": rule.alpha, "alternative": rule.alternative, "margin": rule.margin}


def has_differences(rows: Assignment) -> bool:
    """Whether differences B - A within a worker and an item are there for 2 workers and 2 items."""
    n_items = int(rows.item.max()) + 1
    pair = rows.worker * np.int64(n_items) + rows.item
    both = np.intersect1d(pair[rows.system == 0], pair[rows.system == 1])
    return min(len(np.unique(both // n_items)), len(np.unique(both % n_items))) >= 2


def _kind(study: RatingStudy) -> _Kind:
    """Studies that share a kind share their fits."""
    rule = study.rule
    source = study.replication
    return (
        *(rule.estimator, rule.analysis, rule.family, rule.link),
        *(source.by_iteration, source.ignore_documents),
    )


def _decide(study: RatingStudy, fits: StudyFits) -> TwoSided:
    replicates = study.decide(fits)
    p_value = np.where(replicates.usable, replicates.p_value, np.nan)
    return TwoSided(p_value, np.sign(replicates.estimate))


# Several systems that do not differ: a procedure errs where any of its comparisons finds a difference.

_OF_FAMILY = ("kenward-roger", "satterthwaite", "min", "wald-z")


@dataclass(frozen=True, slots=True)
class FamilyTest:
    """The tests of all comparisons by one procedure: a mixed model has a `decision`, any other is the common test
    of this name, whose p-values are corrected together."""

    name: str
    label: str
    is_rule: bool
    is_defined: bool
    correction: Correction
    decision: FamilyDecision | None = None


@dataclass(frozen=True, slots=True)
class NullSystems:
    """Studies of several systems without a difference, and the procedures to apply to each of them."""

    source: SystemsReplication
    tests: tuple[FamilyTest, ...]

    def seconds(self) -> float:
        """Of a study, about."""
        source = self.source
        one = systems_workload(
            source.parameters, source.design, source.family, source.rule, n_simulations=1
        )
        return one.seconds * len({_kind_of_systems(test) for test in self.tests if test.decision})

    def counts(self, n: int, *, seed: int, first: int, n_jobs: int = 1) -> tuple[Tally, ...]:
        """In how many of studies `first` to `first + n - 1` each procedure finds any difference."""
        source = self.source
        ratings = source.ratings(range(first, first + n), seed=seed)
        fits: dict[_Kind, Any] = {}
        common: dict[str, NDArray[np.float64]] = {}
        result = []
        for test in self.tests:
            if not test.is_defined:
                result.append(Tally())
                continue
            usable: NDArray[np.bool_]
            if test.decision is not None:
                kind = _kind_of_systems(test)
                if kind not in fits:
                    fits[kind] = replace(source, rule=test.decision.rule).fitted(ratings, n_jobs=n_jobs)
                usable, shown = test.decision.claims(fits[kind])
            else:
                if test.name not in common:
                    common[test.name] = self._common_p(test.name, ratings)
                usable = np.asarray(~np.isnan(common[test.name]).any(axis=1))
                shown = significant(common[test.name], test.correction, source.rule.alpha)
            found = int((shown.any(axis=1) & usable).sum())
            result.append(Tally(n=n, n_failed=int((~usable).sum()), n_right=found))
        part_done(1.0)
        return tuple(result)

    def _common_p(self, name: str, ratings: NDArray[np.float64]) -> NDArray[np.float64]:
        """P-values of a common test of each comparison, (n, pairs), one-sided where the rule is."""
        design, columns = self.source.design, []
        for pair in self.source.pairs:
            answer = COMMON_TESTS[name].run(
                ratings[:, pair_rows(design, *pair)], pair_design(design, *pair).assignment
            )
            p_value = answer.p_value
            if self.source.rule.alternative == "greater":
                p_value = np.where(answer.direction > 0, p_value / 2, 1 - p_value / 2)
            columns.append(p_value)
        return np.column_stack(columns)


def _kind_of_systems(test: FamilyTest) -> _Kind:
    """Procedures that share a kind share their fits."""
    assert test.decision is not None
    rule, family = test.decision.rule, test.decision.family
    observed = rule.df == "satterthwaite" and family.model == "joint" and family.variances == "own"
    return rule.estimator, rule.analysis, rule.family, rule.link, observed


def _corrected(label: str, correction: Correction) -> str:
    return f"{label}, {'uncorrected' if correction == 'none' else CORRECTIONS[correction].title.split(' (')[0]}"


def null_systems(
    parameters: SystemsParameters,
    design: Design,
    family: ComparisonFamily,
    rule: DecisionRule,
    *,
    response: Response,
    points: int | None,
) -> NullSystems:
    """Make procedures ready: the planned one, usual mixed models and the common tests with its correction, and all
    of them without any. Raises InputError: a margin, or what the model of several systems has no answer for."""
    if rule.margin is not None:
        raise InputError(
            "Several systems cannot all lie at the margin of each other: calibrate the test of two of them, or ask "
            "'power' with their means, which says how often a claim is untrue (false_claim)."
        )
    own = name_of(rule)
    # the observed information of each system's own variances is another fit
    left_out = "satterthwaite" if family.model == "joint" and family.variances == "own" else None
    ready = []
    corrections: tuple[Correction, ...] = (family.correction, "none")
    for correction in dict.fromkeys(corrections):
        corrected = replace(family, correction=correction)
        for name in dict.fromkeys((own, *_OF_FAMILY)):
            if name == left_out and name != own:
                continue
            label, decided = MIXED_MODEL_TESTS.get(
                name, (f"Planned: {rule.estimator.upper()}, {rule.df}", rule)
            )
            if name != own:
                decided = replace(decided, alpha=rule.alpha, alternative=rule.alternative)
            decision = family_decision(
                parameters,
                design,
                corrected,
                rule if name == own else decided,
                response=response,
                points=points,
            )
            is_rule = name == own and correction == family.correction
            ready.append(
                FamilyTest(name, _corrected(label, correction), is_rule, True, correction, decision)
            )
        of_common: Correction = "holm" if correction == "max-t" else correction
        for name, test in COMMON_TESTS.items():
            is_defined = all(
                test.is_defined(pair_design(design, *pair).assignment) for pair in decision.precision.pairs
            )
            ready.append(FamilyTest(name, _corrected(test.label, of_common), False, is_defined, of_common))
    source = SystemsReplication(
        parameters, design, family, decision.precision.pairs, rule, response, points
    )
    return NullSystems(source, tuple(ready))


Verdict = Literal["calibrated", "too bold", "too careful", "unclear", "not defined"]

DEFAULT_NULL_STUDIES = 10_000
SLOW_NULL_STUDIES = 2_000  # fits of categories, and of all pairs of several systems, take longer
VERDICT_CONFIDENCE = 0.99  # a dozen tests are judged side by side
BAND = 0.2  # of alpha: a rate that is shown to be off by less is called calibrated
CALIBRATION_COLUMNS = (
    *("test", "label", "is_rule"),
    *("rejection_rate", "rejection_low", "rejection_high", "upper_rate", "upper_low", "upper_high"),
    *("alternative", "alpha", "judged_low", "judged_high", "band_low", "band_high"),
    *("verdict", "needed_simulations", "n_simulations", "n_failed"),
)
_STUDIES_AT_ONCE, _RATINGS_AT_ONCE = 512, 2_000_000  # bounds of the memory used


@dataclass(frozen=True, slots=True)
class Calibration:
    """One test in studies without an effect, or with one at the margin of the rule.

    `estimate.rejection_rate` is the share of significant differences of either sign, `estimate.power`
    that of claims that B is better. A one-sided rule is judged by the latter; its other rate is that
    of the two-sided test at twice alpha. Under a rule with a margin both are the share of studies that
    show its claim, which is just not true. A test that the design does not allow has no studies.
    """

    test: str
    label: str
    is_rule: bool
    rule: DecisionRule
    estimate: PowerEstimate

    @property
    def judged(self) -> tuple[float, tuple[float, float]]:
        """The rate to be compared with alpha, and its Wilson interval (95 %)."""
        if self.rule.alternative == "greater":
            return self.estimate.power, self.estimate.interval
        return self.estimate.rejection_rate, self.estimate.rejection_interval

    @property
    def judged_interval(self) -> tuple[float, float]:
        """The Wilson interval (99 %) of the judged rate: what the simulation can tell of the true one."""
        n = self.estimate.n_usable
        return wilson_interval(round(self.judged[0] * n) if n else 0, n, VERDICT_CONFIDENCE)

    @property
    def band(self) -> tuple[float, float]:
        """The rates that count as calibrated: alpha, give or take a fifth of it."""
        return (1 - BAND) * self.rule.alpha, (1 + BAND) * self.rule.alpha

    @property
    def verdict(self) -> Verdict:
        """Where the interval of the rate lies: above alpha, below it, within the band, or none of these.

        With many studies small departures show too. With few nothing is shown, and that is no proof of a
        test that keeps its level.
        """
        return self._verdict_of(self.judged_interval)

    def _verdict_of(self, interval: tuple[float, float]) -> Verdict:
        (low, high), (lowest, highest), alpha = interval, self.band, self.rule.alpha
        if math.isnan(low):
            return "not defined"
        if low > alpha or high < alpha:
            return "too bold" if low > alpha else "too careful"
        return "calibrated" if lowest <= low and high <= highest else "unclear"

    @property
    def needed_simulations(self) -> int | None:
        """About how many studies would tell, if their rate is the one seen; None where these do."""
        if self.verdict != "unclear":
            return None
        needed, is_decided = self.estimate.n_usable, False
        while not is_decided:
            digits: int = 10 ** max(math.floor(math.log10(1.1 * needed)) - 1, 0)
            needed = math.ceil(1.1 * needed / digits) * digits
            result = self.judged[0] * needed
            is_decided = all(
                self._verdict_of(wilson_interval(count, needed, VERDICT_CONFIDENCE)) != "unclear"
                for count in (math.floor(result), math.ceil(result))
            )
        return needed

    def as_dict(self) -> dict[str, object]:
        """The row of the table: names in CALIBRATION_COLUMNS."""
        estimate = self.estimate
        values = (
            self.test,
            self.label,
            self.is_rule,
            estimate.rejection_rate,
            *estimate.rejection_interval,
            estimate.power,
            *estimate.interval,
            self.rule.alternative,
            self.rule.alpha,
            *self.judged_interval,
            *self.band,
            self.verdict,
            self.needed_simulations,
            estimate.n_simulations,
            estimate.n_failed,
        )
        return dict(zip(CALIBRATION_COLUMNS, values, strict=True))


@dataclass(frozen=True, slots=True)
class SettingCalibration:
    """All tests under one setting of the parameters; the rule's own is the one that is planned."""

    setting: str
    parameters: Parameters | SystemsParameters
    results: tuple[Calibration, ...]

    @property
    def planned(self) -> Calibration:
        """The planned test."""
        return next(result for result in self.results if result.is_rule)


def usual_studies(parameters: Parameters | SystemsParameters) -> int:
    """How many studies are simulated where nobody says."""
    if isinstance(parameters, SystemsParameters) or parameters.latent is not None:
        return SLOW_NULL_STUDIES
    return DEFAULT_NULL_STUDIES


def size_of_test(
    parameters: Parameters,
    design: Design,
    *,
    rule: DecisionRule = DEFAULT_RULE,
    n_simulations: int = DEFAULT_SIMULATIONS,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
) -> PowerEstimate:
    """Simulate the study with no effect, or under a rule with a margin with a difference of minus the
    margin: `rejection_rate` is the rate of false positives, to be compared with the rule's alpha."""
    study = RatingStudy(parameters.with_difference(rule.null_effect), design, rule=rule)
    return estimate_power(study, n_simulations=n_simulations, seed=seed, n_jobs=n_jobs)


def calibrate(
    parameters: Parameters | SystemsParameters,
    design: Design,
    *,
    rule: DecisionRule = DEFAULT_RULE,
    family: ComparisonFamily = DEFAULT_FAMILY,
    tests: Sequence[str] | None = None,
    n_simulations: int = DEFAULT_NULL_STUDIES,
    seed: int = DEFAULT_SEED,
    response: Response = "gaussian",
    points: int | None = None,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> list[Calibration]:
    """Simulate studies without an effect and apply many tests to the same ratings.

    Under a rule with a margin the true difference is minus the margin, where its claim is just not true
    (of the two margins of an equivalence one is enough: they are mirror images).

    Parameters
    ----------
    rule : the planned test, always among the results; its alpha, alternative and margin hold for all.
    family : of several systems, which comparisons are tested together, and how they are corrected; what is counted
        are studies in which any of them finds a difference.
    tests : names in NULL_TESTS, in CATEGORY_TESTS for parameters that are in categories, and WITHOUT_DOCUMENTS
        for a design that has them; all of them if None. The results come in this order, after a rule that is
        none of them. Those that know no margin are left out where the rule has one.
    progress : called with studies done and expected.

    Raises
    ------
    InputError
        An unknown test, a number of simulations below 1, or a one-sided rule with alpha above 0.5.
    """
    check_simulation(n_simulations, None)
    level = _two_sided_level(rule)
    studies: NullStudies | NullSystems
    if isinstance(parameters, SystemsParameters):
        if tests is not None:
            raise InputError("Tests are chosen for two systems; of several all are shown.")
        studies = null_systems(alike(parameters), design, family, rule, response=response, points=points)
    else:
        every = NULL_TESTS if parameters.latent is None else (*CATEGORY_TESTS, *NULL_TESTS)
        if design.n_documents:
            mixed = every.index("wald-z")
            every = (*every[:mixed], WITHOUT_DOCUMENTS, *every[mixed:])
        for name in tests or ():
            if name not in every:
                raise InputError(f"There is no test {name!r}; there are {', '.join(every)}.")
        null = parameters.with_difference(rule.null_effect)
        source = Replication(null, design, response=response, points=points)
        studies = null_studies(source, every if tests is None else tests, rule=rule, level=level)
    ready: Sequence[NullTest | FamilyTest] = studies.tests
    counts = [Tally() for _ in ready]
    parts = spans(n_simulations, max(1, min(_STUDIES_AT_ONCE, _RATINGS_AT_ONCE // design.n_ratings)))
    blocks = _blocks(studies, seed, parts)
    reporter = ReplicateProgress(progress, blocks[0].seconds / blocks[0].replicates or 1.0)
    for values in run_blocks(blocks, n_jobs=n_jobs, done=reporter.listen(blocks), part=reporter.part):
        counts = [count + more for count, more in zip(counts, values, strict=True)]
    return [
        Calibration(
            test.name,
            test.label,
            test.is_rule,
            rule,
            PowerEstimate(count, rule.null_effect, rule.alpha, directed=rule.margin is None),
        )
        for test, count in zip(ready, counts, strict=True)
    ]


def alike(parameters: SystemsParameters) -> SystemsParameters:
    """The systems with the same true mean, the average of all."""
    return parameters.with_means(
        [math.fsum(parameters.means) / parameters.n_systems] * parameters.n_systems
    )


def count_null_studies(
    studies: NullStudies | NullSystems, seed: int, first: int, n: int, *, n_jobs: int = 1
) -> tuple[Tally, ...]:
    """The work of a block: what each test finds in studies `first` to `first + n - 1`."""
    return studies.counts(n, seed=seed, first=first, n_jobs=n_jobs)


def _blocks(studies: NullStudies | NullSystems, seed: int, parts: Sequence[Span]) -> list[Block]:
    seconds = studies.seconds()
    return [Block(count_null_studies, (studies, seed, *part), seconds * part.n, part.n) for part in parts]


def calibration_table(results: Sequence[Calibration]) -> pd.DataFrame:
    """One row for each test with the columns CALIBRATION_COLUMNS."""
    import pandas as pd

    return pd.DataFrame([result.as_dict() for result in results], columns=list(CALIBRATION_COLUMNS))


def binomial_band(n: int, rate: float, confidence: float = VERDICT_CONFIDENCE) -> tuple[float, float]:
    """Central interval of the share of successes in n trials; (NaN, NaN) without trials."""
    if n == 0:
        return math.nan, math.nan
    low, high = binomial_interval(confidence, n, rate)
    return low / n, high / n


def _two_sided_level(rule: DecisionRule) -> float:
    """A one-sided test at alpha is the upper side of a two-sided one at twice alpha; one with a margin
    is itself."""
    if rule.alternative == "two-sided" or rule.margin is not None:
        return rule.alpha
    if rule.alpha >= 0.5:
        raise InputError(f"A one-sided test needs an alpha below 0.5 to be calibrated; got {rule.alpha}.")
    return 2 * rule.alpha


def _tally(rates: TwoSided, level: float, rule: DecisionRule) -> Tally:
    significant = rates.p_value <= level
    right = rates.direction > 0 if rule.margin is None else np.ones_like(significant)
    return Tally(
        n=len(rates.p_value),
        n_failed=int(np.isnan(rates.p_value).sum()),
        n_right=int((significant & right).sum()),
        n_wrong=int((significant & ~right & (rates.direction != 0)).sum()),
    )
