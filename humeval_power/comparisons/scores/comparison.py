"""The comparison of two systems by per-item scores, from the question to the power."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from humeval_power.choices import (
    ADVISED,
    CURVE_SIMULATIONS,
    NORMALITY_ALPHA,
    PRIMER_EFFECTS,
    PRIMER_HURT,
    PRIMER_ITEMS,
    QUESTIONS,
    PowerBy,
    Procedure,
    Question,
)
from humeval_power.clusters import Clusters
from humeval_power.comparisons.scores.advice import (
    BOLD_BELOW,
    SWITCH_WARNING,
    DataAnalysis,
    TestAdvice,
    advise,
    advise_clusters,
    analyse,
    nlpstattest_advice,
    recommended_test,
)
from humeval_power.comparisons.scores.bootstrap import bca_interval
from humeval_power.comparisons.scores.effect_sizes import (
    ROUNDING,
    EffectSize,
    Floats,
    PairedTest,
    TestSettings,
    all_alike,
    cohens_d,
    hedges_g,
    hodges_lehmann,
    mean_difference,
    median_difference,
    score_differences,
    share_better,
    wilcoxon_r,
)
from humeval_power.comparisons.scores.power import POST_HOC, RetrospectivePower, retrospective_power
from humeval_power.comparisons.scores.primer import primer_p
from humeval_power.comparisons.scores.score_table import ScoreTable
from humeval_power.comparisons.scores.tests import DEFAULT_TEST, Equivalence, equivalence_test, run_test
from humeval_power.errors import InputError, Problem, refuse

NO_DIFFERENCE = (
    "A difference that is not shown does not make the systems alike: with few items large differences are missed "
    "too. To show that they are alike, say within which margin they count as such, and test for that."
)

TWO_PSEUDOMEDIANS = (
    "Two pseudomedians are shown, both medians of the means of two differences. That of the test pairs each "
    "item with itself too (i <= j), for that is the value which Wilcoxon's test would reject last. The effect "
    "size leaves these pairs out (i < j), as NLPStatTest does (Zhu et al. 2020, eq. 5). Report the first with "
    "the p-value."
)


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a pair, before its scores are looked at.

    `question` None leaves it to Zhu et al.'s (2020) procedure. `test` None takes the question's own,
    'recommended' the one that suits the data too.
    `effect` is the difference that matters and `margin` that within which systems count as alike, both in
    the metric's units (for 'better' the effect is a share above one half).
    """

    question: Question | None
    settings: TestSettings
    test: str | None = None
    effect: float | None = None
    margin: float | None = None
    normality_alpha: float = NORMALITY_ALPHA
    power_by: PowerBy = "bootstrap"
    power_sizes: tuple[int, ...] = ()
    power_target: float = 0.8
    n_simulations: int = CURVE_SIMULATIONS

    @property
    def procedure(self) -> Procedure:
        """Whose procedure it is."""
        return "nlpstattest" if self.question is None else "question"


def checked_question(question: Question | None, procedure: Procedure) -> Question | None:
    """What is asked; None for the procedure that leaves it to the data."""
    if procedure == "nlpstattest" and question is not None:
        raise InputError("The procedure 'nlpstattest' chooses by the data; leave --question out.")
    if procedure == "question" and question is None:
        listed = " ".join(f"{name}: {words}" for name, words in QUESTIONS.items())
        raise InputError(f"Say what is asked before the scores are looked at, with --question. {listed}")
    return question


@dataclass(frozen=True, slots=True)
class PairComparison:
    """Everything about one pair; the effect is B - A, A being the first system of the table."""

    table: ScoreTable
    request: Request
    question: Question
    data: DataAnalysis
    advice: tuple[TestAdvice, ...]
    test: PairedTest
    effects: tuple[EffectSize, ...]
    equivalence: Equivalence | None
    power: RetrospectivePower | None
    warnings: tuple[str, ...]

    @property
    def names(self) -> tuple[str, str]:
        """Of A and of B."""
        return self.table.systems[0], self.table.systems[1]

    @property
    def significant(self) -> bool:
        """Whether the p-value is at most alpha."""
        return self.test.p_value <= self.request.settings.alpha


def compare_pair(table: ScoreTable, request: Request, *, n_jobs: int = 1) -> PairComparison:
    """Data analysis, test, effect sizes, equivalence where a margin is given, and power."""
    if len(table.systems) != 2:
        raise InputError(f"A pair has two systems; the table has {len(table.systems)}.")
    names = (table.systems[0], table.systems[1])
    first, second = map(table.column, names)
    differences, settings = score_differences(first, second), request.settings
    if table.clusters is not None and request.question is None:
        raise InputError(
            "The procedure 'nlpstattest' chooses its test as if items were independent, and knows no clusters: "
            "ask a --question instead."
        )
    data = analyse(
        first,
        second,
        names=names,
        normality_alpha=request.normality_alpha,
        is_clustered=table.clusters is not None,
    )
    question, clusters = request.question or data.nlpstattest_statistic, table.clusters
    advice = (
        nlpstattest_advice(data)
        if request.question is None
        else advise(request.question, data)
        if clusters is None
        else advise_clusters(request.question, clusters)
    )
    if request.question is None and request.test in (None, ADVISED):
        name = advice[0].name
    elif request.test == ADVISED:
        name = recommended_test(question, [data]) if clusters is None else advice[0].name
    else:
        name = request.test or DEFAULT_TEST[question]
    test = run_test(name, differences, settings, question=request.question, clusters=clusters)
    equivalence = None
    if request.margin is not None:
        equivalence = equivalence_test(
            differences, margin=request.margin, alpha=settings.alpha, clusters=clusters
        )
    power = retrospective_power(
        differences,
        test=test.name,
        question=question,
        settings=settings,
        clusters=clusters,
        effect=request.effect,
        power_by=request.power_by,
        sizes=request.power_sizes,
        target=request.power_target,
        n_simulations=request.n_simulations,
        n_jobs=n_jobs,
    )
    return PairComparison(
        table,
        request,
        question,
        data,
        advice,
        test,
        effect_sizes(differences, settings, clusters=clusters, as_published=request.question is None),
        equivalence,
        power,
        _warnings(request, test, advice, power, is_shown=equivalence is not None),
    )


def effect_sizes(
    differences: Floats,
    settings: TestSettings,
    *,
    clusters: Clusters | None = None,
    as_published: bool = False,
) -> tuple[EffectSize, ...]:
    """All effect sizes that the data have, those in the metric's units first.

    Of clusters Hedges' g is left out: its factor counts items, and those of a cluster do not count in full. Their
    BCa interval needs fifty clusters: of fifteen it holds the mean in 87 to 91 % of studies only (1,500 simulated).

    as_published : Hedges' g and Hodges-Lehmann as Zhu et al. (2020) write them.
    """
    confidence, flat = settings.confidence, all_alike(differences)
    sizes = [mean_difference(differences, clusters, confidence=confidence)]
    spread = sizes[0].high - sizes[0].low > ROUNDING * float(np.abs(differences).max())
    has_bca = not flat if clusters is None else spread and clusters.n_clusters >= BOLD_BELOW
    if has_bca:
        resampling = {"n_resamples": settings.n_resamples, "seed": settings.seed}
        sizes.append(bca_interval(differences, clusters, confidence=confidence, **resampling))
    sizes += [
        median_difference(differences, clusters, confidence=confidence),
        hodges_lehmann(differences, clusters, confidence=confidence, distinct=as_published),
        share_better(differences, clusters, confidence=confidence),
    ]
    if not flat:
        sizes.append(cohens_d(differences, clusters, confidence=confidence))
        if clusters is None and len(differences) >= 3:
            sizes.append(hedges_g(differences, confidence=confidence, as_published=as_published))
        r = wilcoxon_r(settings.moved(differences), clusters, confidence=confidence)
        sizes.append(r if settings.null == 0 else replace(r, label=f"Wilcoxon r, null {settings.null:g}"))
    return tuple(sizes)


def has_two_pseudomedians(comparison: PairComparison) -> bool:
    """Whether the test's estimate and the published effect size are pseudomedians of two definitions."""
    return TWO_PSEUDOMEDIANS in comparison.warnings


def _better(advice: tuple[TestAdvice, ...]) -> str:
    """The tests that suit these scores better, best standing first; nothing where none does."""
    for standing, word in (("preferred", "Preferred"), ("allowed", "Better")):
        names = [one.name for one in advice if one.standing == standing]
        if names:
            return f"{word}: {', '.join(names)}."
    return ""


def _warnings(
    request: Request,
    test: PairedTest,
    advice: tuple[TestAdvice, ...],
    power: RetrospectivePower | None,
    *,
    is_shown: bool,
) -> tuple[str, ...]:
    warnings = [SWITCH_WARNING] if request.question is None else []
    standing = next((one for one in advice if one.name == test.name), None)
    if standing is not None and standing.standing in ("less preferred", "inappropriate"):
        warnings.append(
            f"The test {test.name!r} is {standing.standing} here: {standing.reason} {_better(advice)}".rstrip()
        )
    warnings += test.remarks
    if request.question is None and test.estimand == "pseudomedian":
        warnings.append(TWO_PSEUDOMEDIANS)
    if test.p_value > request.settings.alpha and not is_shown:
        warnings.append(NO_DIFFERENCE)
    if power is not None and power.is_observed:
        warnings.append(POST_HOC)
    return tuple(warnings)


# What p the bootstrap primer should expect: by number of items, effect and share of items hurt, exactly.


@dataclass(frozen=True, slots=True)
class PrimerCell:
    """Items in which B is better on a share `hurt + effect` and worse on a share `hurt`: counts, and the
    primer's p for exactly these counts."""

    n_items: int
    effect: float
    hurt: float
    n_helped: int
    n_hurt: int
    p_value: float


def primer_table(
    n_items: Sequence[int] = PRIMER_ITEMS,
    *,
    effects: Sequence[float] = PRIMER_EFFECTS,
    hurt: Sequence[float] = PRIMER_HURT,
) -> tuple[PrimerCell, ...]:
    """One cell for each number of items, effect and share hurt; combinations above 1 are left out.

    Shares become counts by cutting off, as the primer does; a thousandth is added first, so that a share
    such as 0.07 of 100 is 7 whatever its binary digits.
    """
    problems = [
        Problem("at least 1 item is needed.", "", column="n_items", value=n, has_value=True)
        for n in n_items
        if n < 1
    ]
    problems += [
        Problem("a share must lie between 0 and 1.", "", column=name, value=share, has_value=True)
        for name, shares in (("effects", effects), ("hurt", hurt))
        for share in shares
        if not 0 <= share <= 1
    ]
    refuse(problems)
    return tuple(
        _cell(n, effect, share)
        for n in n_items
        for effect in effects
        for share in hurt
        if effect + 2 * share <= 1
    )


def _cell(n: int, effect: float, hurt: float) -> PrimerCell:
    n_helped, n_hurt = int((hurt + effect) * n + 1e-3), int(hurt * n + 1e-3)
    return PrimerCell(n, effect, hurt, n_helped, n_hurt, primer_p(n, n_helped, n_hurt))
