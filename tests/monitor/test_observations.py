"""Looks at independent judgements as pure steps: the plain tests, late and missing looks, rpact, errors."""

from dataclasses import replace

import numpy as np
import pytest
from cases import each_case, few_fast
from reference.rpact import rpact_answers
from scipy import stats

from humeval_power.comparisons.accuracy.agreement import KnownAgreement
from humeval_power.comparisons.accuracy.paired import PairedAccuracy
from humeval_power.comparisons.assessment.scenario import DirectAssessment
from humeval_power.comparisons.preference.scenario import Preference
from humeval_power.errors import FitError, InputError
from humeval_power.studies.looks.boundaries import false_positive_rate
from humeval_power.studies.looks.calls import judgements
from humeval_power.studies.looks.judgement_plan import AssessmentLooks, JudgementPlan, PairedLooks
from humeval_power.studies.looks.replicates import stop
from humeval_power.studies.looks.stopping_rule import StoppingRule, efficacy_of, futility_of
from humeval_power.studies.monitor.state import (
    Monitoring,
    Observations,
    observation_data,
    observation_monitoring,
    paired_remarks,
    superiority_of,
)
from humeval_power.studies.monitor.step import after_stopping, false_positive_chance, step
from humeval_power.studies.monitor.taking import monitor

QUARTERS = (0.25, 0.5, 0.75, 1.0)
STUDIES = {
    "scores": DirectAssessment(60, effect=8.0),
    "preference": Preference(120, preference=0.15, tie_share=0.2),
    "kept": Preference(120, preference=0.15, tie_share=0.2, ties="kept"),
    "accuracy": PairedAccuracy(120, difference=0.1, agreement=KnownAgreement(0.7)),
}


def plan_of(
    name: str, words: str = "lan-demets-pocock", shares=QUARTERS, futility: str = "none"
) -> JudgementPlan:
    rule = StoppingRule(efficacy_of(words), futility_of(futility))
    return JudgementPlan(("A", "B"), STUDIES[name], shares, rule)


def draw(name: str, n: int, *, seed: int = 1, shift: float = 0.0) -> Observations:
    rng = np.random.default_rng(seed)
    if name == "scores":
        is_b = np.arange(n) % 2 == 1
        return Observations((rng.normal(size=n) + shift * is_b).round(2), is_b)
    return Observations(rng.choice([1.0, -1.0, 0.0], p=[0.3 + shift, 0.3 - shift, 0.4], size=n))


def first(seen: Observations, n: int) -> Observations:
    return replace(seen, value=seen.value[:n], is_b=None if seen.is_b is None else seen.is_b[:n])


def take(plan: JudgementPlan, seen: Observations, sizes) -> Monitoring:
    state = observation_monitoring(plan)
    for size in sizes:
        state, _ = step(state, observation_data(first(seen, size), plan))
        if state.ended:
            break
    return state


@pytest.mark.parametrize("name", STUDIES)
def test_one_look_is_the_plain_test(name) -> None:
    plan = plan_of(name, shares=(1.0,))
    seen = draw(name, plan.n, shift=0.1)
    state = take(plan, seen, [plan.n])
    look, found = state.looks[0], after_stopping(state, plan)
    assert look.nominal == pytest.approx(0.05)
    assert look.decision == ("end-success" if found.p_value <= 0.05 else "end-nothing-shown")
    if name == "scores":
        expected = stats.mannwhitneyu(seen.value[~seen.is_b], seen.value[seen.is_b], method="asymptotic")
        assert found.p_value == pytest.approx(expected.pvalue, rel=1e-8)
    else:
        b, a = int((seen.value > 0).sum()), int((seen.value < 0).sum())
        less, same = (law(min(a, b), a + b, 0.5) for law in (stats.binom.cdf, stats.binom.pmf))
        assert found.p_value == pytest.approx(2 * less - same * (name == "accuracy"), rel=1e-9)
    assert found.estimate == pytest.approx(found.naive, abs=0.01)


def test_intervals_are_in_the_units_of_the_estimate() -> None:
    for name in ("preference", "kept", "accuracy"):
        plan = plan_of(name, shares=(1.0,))
        seen = draw(name, plan.n, shift=0.1)
        b, a = int((seen.value > 0).sum()), int((seen.value < 0).sum())
        n, decided = len(seen), a + b
        estimates = {"preference": b / decided - 0.5, "kept": (b - a) / n / 2, "accuracy": (b - a) / n}
        per_share = {"preference": 1.0, "kept": decided / n, "accuracy": 2 * decided / n}
        found = after_stopping(take(plan, seen, [plan.n]), plan)
        assert found.naive == pytest.approx(estimates[name])
        if name != "accuracy":  # whose test is mid-p
            exact = stats.binomtest(b, decided).proportion_ci()
            expected = [(share - 0.5) * per_share[name] for share in (exact.low, exact.high)]
            assert found.interval == pytest.approx(expected, abs=1e-9)


def test_the_standard_error_of_a_share_of_pairs_is_that_of_brunner_and_munzel() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 8, 31).astype(float), rng.integers(2, 9, 44).astype(float)
    share, error = superiority_of(a, b)
    assert share == pytest.approx(stats.mannwhitneyu(b, a).statistic / (31 * 44))
    assert (share - 0.5) / error == pytest.approx(abs(stats.brunnermunzel(a, b).statistic))
    share, error = superiority_of(np.arange(5.0), np.arange(10.0, 16.0))
    assert share == 1.0
    assert error == pytest.approx((12 / (12 * 5 * 6)) ** 0.5)


def test_conditional_information_is_the_number_of_judgements() -> None:
    plan = plan_of("scores")
    n_a, n_b = 20, 40
    seen = Observations(np.arange(60.0) % 7, np.arange(60) >= n_a)
    data = observation_data(seen, plan)
    assert data.information / plan.maximum_information == pytest.approx(4 / (1 / n_a + 1 / n_b) / 120)
    assert (data.n_a, data.n_b, data.share) == (n_a, n_b, 0.5)


@pytest.mark.parametrize("name", ["preference", "scores"])
def test_more_than_planned_is_tested_at_its_own_information(name) -> None:
    plan = plan_of(name, "lan-demets-obrien-fleming")
    state = take(plan, draw(name, 200, seed=5), (30, 60, 90, 156))
    assert [look.fraction for look in state.looks] == pytest.approx([0.25, 0.5, 0.75, 1.3])
    levels, at = [look.nominal for look in state.looks], [look.fraction for look in state.looks]
    assert false_positive_rate(levels, at, two_sided=True) == pytest.approx(0.05, abs=1e-8)
    # As if the end were at 100 %, the last level would let too many pass.
    as_planned = [*levels[:3], float(plan.boundaries().nominal[-1])]
    assert false_positive_rate(as_planned, at, two_sided=True) > 0.0501


OVERRUN = """
suppressMessages(library(rpact))
spent <- getDesignGroupSequential(kMax = 4, alpha = 0.025, sided = 1, typeOfDesign = "asOF")$alphaSpent
design <- getDesignGroupSequential(kMax = 4, alpha = 0.025, sided = 1, typeOfDesign = "asUser",
    informationRates = c(0.25, 0.5, 0.75, 1.3) / 1.3, userAlphaSpending = spent)
cat(format(design$criticalValues, digits = 12))
"""


@pytest.mark.slow
@pytest.mark.r
def test_rpact_has_the_same_boundaries_for_more_than_planned() -> None:
    plan = plan_of("preference", "lan-demets-obrien-fleming")
    state = take(plan, draw("preference", 200, seed=5), (30, 60, 90, 156))
    z = [float(-stats.norm.ppf(look.nominal / 2)) for look in state.looks]
    expected = rpact_answers(OVERRUN)[0]
    assert z == pytest.approx(expected, abs=1e-5)  # its spent alpha has steps of 1e-8


@pytest.mark.parametrize("name", ["scores", "preference", "accuracy"])
@few_fast("n_studies", [10, 40])
def test_decisions_are_those_that_were_simulated_for_the_plan(name, n_studies) -> None:
    plan = plan_of(name, "pocock", futility="p:0.5")
    source = plan.source().with_effect(plan.study.true_effect / 2)
    looks = source.draw_looks(n_studies, seed=3)
    stopped = stop(looks, plan.boundaries())
    for study in range(n_studies):
        state = observation_monitoring(plan)
        for k, size in enumerate(plan.sizes):
            data = observation_data(draw(name, size), plan)
            found = replace(data, p_value=float(looks.p_value[study, k]))
            state, look = step(state, found)
            if state.ended:
                break
        assert len(state.looks) - 1 == stopped.look[study]
        assert look.decision.endswith("success") == stopped.significant[study]


def test_a_skipped_look_under_fixed_boundaries_is_counted_at_its_own_information() -> None:
    plan = plan_of("scores", "pocock")
    state = take(plan, draw("scores", 200, seed=5), (60, 120))
    assert [look.planned for look in state.looks] == [2, 4]
    levels = [look.nominal for look in state.looks]
    assert false_positive_chance(state, plan) == pytest.approx(
        false_positive_rate(levels, (0.5, 1.0), two_sided=True)
    )
    assert after_stopping(state, plan).look == 2


def test_scores_after_looks_are_those_of_recursive_integration() -> None:
    # The chance of passing at the first look, or of a higher z at the second: a bivariate normal integral.
    plan = plan_of("scores", "pocock", shares=(0.5, 1.0))
    state = take(plan, draw("scores", 200, seed=5, shift=0.35), plan.sizes)
    assert len(state.looks) == 2
    u, z = (float(-stats.norm.ppf(p / 2)) for p in (state.looks[0].nominal, state.looks[1].data.p_value))
    law = stats.multivariate_normal(cov=[[1, 0.5**0.5], [0.5**0.5, 1]])
    tail = stats.norm.sf(u) + law.cdf([u, np.inf], lower_limit=[-u, z])
    assert after_stopping(state, plan).p_value == pytest.approx(2 * tail, abs=1e-7)


@pytest.mark.parametrize("words", ["pocock", "lan-demets-obrien-fleming"])
def test_systems_that_are_wholly_apart_have_an_interval_that_says_so(words) -> None:
    plan = plan_of("scores", words)
    is_b = np.arange(120) % 2 == 1
    seen = Observations(np.arange(120.0) + 1000 * is_b, is_b)
    found = after_stopping(take(plan, seen, plan.sizes), plan)
    assert found.p_value < 0.001
    assert 0.1 < found.interval[0] < found.estimate <= found.interval[1] <= 0.5


def test_other_judgements_and_none_are_refused() -> None:
    scores, preferences = draw("scores", 40), draw("preference", 40)
    for plan, seen in ((plan_of("scores"), preferences), (plan_of("accuracy"), scores)):
        with pytest.raises(InputError, match="these are other judgements"):
            monitor(seen, plan)
    with pytest.raises(InputError, match="there are no judgements"):
        monitor(Observations(np.zeros(0)), plan_of("preference"))
    same = Observations(np.full(40, 7.0), np.arange(40) % 2 == 1)
    with pytest.raises(FitError, match="all scores are the same"):
        monitor(same, plan_of("scores"))
    with pytest.raises(InputError, match="A must have at least 2 scores"):
        monitor(replace(same, is_b=np.arange(40) > 0), plan_of("scores"))


def test_only_ties_decide_nothing_and_end_with_nothing_shown() -> None:
    plan = plan_of("preference")
    state = take(plan, Observations(np.zeros(120)), plan.sizes)
    found = after_stopping(state, plan)
    assert [look.data.p_value for look in state.looks] == [1.0] * 4
    assert (state.looks[-1].decision, found.p_value) == ("end-nothing-shown", 1.0)


def test_the_same_worker_is_refused_within_a_system_and_remarked_across() -> None:
    workers = [f"w{i // 2}" for i in range(60)]
    paired = replace(draw("scores", 60), worker=workers)
    observation_data(paired, plan_of("scores"))
    assert "30 workers have a score of each system" in paired_remarks(paired)[0]
    with pytest.raises(InputError, match="30 workers with several judgements"):
        observation_data(replace(draw("preference", 60), worker=workers), plan_of("preference"))
    answers = replace(draw("accuracy", 60), worker=workers)
    observation_data(answers, plan_of("accuracy"))
    assert "Some workers judge several items" in paired_remarks(answers)[0]


@each_case(
    ("study", "rule", "said"),
    [
        (replace(STUDIES["scores"], test="welch"), {}, "Mann-Whitney test, not welch"),
        (replace(STUDIES["accuracy"], test="asymptotic"), {}, "exact or the mid-p test"),
        (replace(STUDIES["preference"], ties="split"), {}, "Split ties"),
        (replace(STUDIES["preference"], preference=0.0), {}, "must not be 0"),
        (STUDIES["preference"], {"alternative": "greater"}, "two-sided"),
        (STUDIES["preference"], {"alpha": 0.01}, "alpha 0.05"),
        (
            STUDIES["preference"],
            {"futility": futility_of("conditional-power:0.2:design")},
            "under the trend",
        ),
    ],
)
def test_plans_that_no_look_could_follow_are_refused(study, rule, said) -> None:
    with pytest.raises(InputError, match=said):
        JudgementPlan(("A", "B"), study, QUARTERS, StoppingRule(efficacy_of("pocock"), **rule))


def test_a_plan_is_made_with_its_simulation_and_followed_in_python() -> None:
    source = PairedLooks(STUDIES["preference"], QUARTERS)
    result = judgements(source, StoppingRule(efficacy_of("pocock")), effect=0.15, n_simulations=100)
    assert result.plan.promised.power == result.points[-1].power
    found = monitor(first(draw("preference", 120, shift=0.2), 30), result.plan)
    assert found.look.planned == 1
    welch = AssessmentLooks(replace(STUDIES["scores"], test="welch"), QUARTERS)
    result = judgements(welch, StoppingRule(efficacy_of("pocock")), effect=8.0, n_simulations=20)
    with pytest.raises(InputError, match="There is no plan to seal"):
        result.artefact(".json")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "least", "most"), [("scores", 0.04, 0.06), ("preference", 0.02, 0.05)])
def test_the_whole_procedure_keeps_its_level(name, least, most) -> None:
    plan, n = plan_of(name, "pocock"), 4000
    levels = plan.boundaries().nominal
    wrong = np.zeros(n, dtype=bool)
    for study in range(n):
        seen = draw(name, plan.n, seed=study)
        p = [observation_data(first(seen, size), plan).p_value for size in plan.sizes]
        wrong[study] = (np.array(p) <= levels).any()
    low, high = (stats.binom.ppf(q, n, rate) / n for q, rate in ((0.001, least), (0.999, most)))
    assert low <= wrong.mean() <= high


@pytest.mark.long
@pytest.mark.slow
def test_intervals_of_scores_after_looks_cover_and_estimates_are_in_the_middle() -> None:
    plan, n = plan_of("scores", "pocock"), 300
    truth = stats.norm.cdf(0.5 / 2**0.5) - 0.5  # of normal scores that are 0.5 SD apart
    covered = above = 0
    for study in range(n):
        found = after_stopping(take(plan, draw("scores", plan.n, seed=study, shift=0.5), plan.sizes), plan)
        covered += found.interval[0] <= truth <= found.interval[1]
        above += found.estimate > truth
    assert stats.binom.ppf(0.001, n, 0.95) <= covered
    assert stats.binom.ppf(0.001, n, 0.5) <= above <= stats.binom.ppf(0.999, n, 0.5)
