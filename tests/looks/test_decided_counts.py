"""Exact inference after looks at sign and McNemar tests: every path, the plain tests, normal theory."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from cases import each_case, few_fast
from reference.slow_walk import endings, rank
from scipy import stats

from humeval_power.errors import InputError
from humeval_power.inference.mcnemar import P_VALUES, critical_counts
from humeval_power.studies.looks.boundaries import boundaries
from humeval_power.studies.looks.stagewise import (
    DecidedLook,
    LookEstimate,
    exact_errors,
    exact_stagewise,
    stagewise_inference,
)
from humeval_power.studies.looks.stopping_rule import StoppingRule, efficacy_of

DESIGNS = {  # decided judgements at each look, and the boundary
    "pocock": ((8, 17, 24), "pocock"),
    "o'brien-fleming": ((6, 13, 20, 26), "lan-demets-obrien-fleming"),
    "no news at a look": ((7, 7, 18), "lan-demets-pocock"),
    "nothing decided at first": ((0, 12, 21), "pocock"),
}


def design(name: str, test: str = "exact") -> tuple[tuple[int, ...], list[int]]:
    """Decided judgements and critical counts, the looks being equally far apart."""
    decided, words = DESIGNS[name]
    rule = StoppingRule(efficacy_of(words))
    levels = boundaries(rule, [(k + 1) / len(decided) for k in range(len(decided))]).nominal
    critical = [
        int(critical_counts(np.array([n]), test=test, alpha=float(level))[0])
        for n, level in zip(decided, levels, strict=True)
    ]
    return decided, critical


def taken(decided, critical, counts) -> list[DecidedLook]:
    return [DecidedLook(n, s, c) for n, c, s in zip(decided, critical, counts, strict=False)]


@each_case("test", ["exact", "mid-p"])
@each_case(("for_b", "n"), [(14, 20), (3, 20), (10, 20), (0, 5), (5, 5), (151, 260), (0, 1)])
def test_one_look_is_the_plain_test(test, for_b, n) -> None:
    found = exact_stagewise([DecidedLook(n, for_b, 0)], mid_p=test == "mid-p", alpha=0.05)
    assert found.p_value == pytest.approx(float(P_VALUES[test](for_b, n - for_b)), rel=1e-9)
    if test == "exact":
        interval = stats.binomtest(for_b, n).proportion_ci()  # Clopper and Pearson
        assert found.interval == pytest.approx((interval.low, interval.high), abs=1e-9)


@pytest.mark.parametrize("test", ["exact", "mid-p"])
@few_fast("name", DESIGNS, fast=1)
def test_p_values_are_those_of_all_paths(name, test) -> None:
    decided, critical = design(name, test)
    half = Fraction(1, 2)
    chances: Counter[tuple[int, int]] = Counter()
    examples = {}
    for each in endings(decided, critical, half):
        chances[rank(each, decided)] += each.chance
        examples[rank(each, decided)] = each
    assert sum(chances.values()) == 1
    for place, each in examples.items():
        upper = sum(chance for at, chance in chances.items() if at >= place)
        lower = sum(chance for at, chance in chances.items() if at <= place)
        same = chances[place]
        part = half if test == "mid-p" else 0
        expected = min(1, 2 * (min(upper, lower) - part * same))
        last = decided[len(each.counts) - 1]
        if test == "mid-p" and 2 * each.counts[-1] == last:
            expected = 1 - same / 2
        found = exact_stagewise(taken(decided, critical, each.counts), mid_p=test == "mid-p", alpha=0.05)
        assert found.p_value == pytest.approx(float(expected), abs=1e-12)


@few_fast("name", DESIGNS, fast=1)
def test_errors_are_the_chances_of_all_paths(name) -> None:
    decided, critical = design(name)
    for share in (Fraction(1, 2), Fraction(2, 3)):
        by_look = [
            sum(
                each.chance
                for each in endings(decided, critical, share)
                if each.stopped and len(each.counts) <= k + 1
            )
            for k in range(len(decided))
        ]
        looks = [DecidedLook(n, n // 2, c) for n, c in zip(decided, critical, strict=True)]
        assert exact_errors(looks, float(share)) == pytest.approx(
            [float(one) for one in by_look], abs=1e-12
        )
    assert exact_errors(looks)[-1] <= 0.05


@pytest.mark.parametrize("name", DESIGNS)
def test_exact_p_values_keep_every_level_and_intervals_cover(name) -> None:
    decided, critical = design(name)
    found = {}
    for share in (0.1, 0.35, 0.5, 0.62, 0.9):
        covered = above = same = 0.0
        small = dict.fromkeys((0.01, 0.05, 0.2), 0.0)
        for each in endings(decided, critical, share):
            place = rank(each, decided)
            if place not in found:  # the way there does not matter
                looks = taken(decided, critical, each.counts)
                found[place] = exact_stagewise(looks, mid_p=False, alpha=0.05)
            result = found[place]
            low, high = result.interval
            covered += each.chance * (low - 1e-9 <= share <= high + 1e-9)
            for level in small:
                small[level] += each.chance * (result.p_value <= level + 1e-12)
            same += each.chance * (abs(result.estimate - share) < 1e-9)
            above += each.chance * (result.estimate > share + 1e-9)
        assert covered >= 0.95 - 1e-12
        if share == 0.5:
            assert all(chance <= level + 1e-12 for level, chance in small.items())
            assert above + same / 2 == pytest.approx(0.5, abs=1e-9)


def test_many_judgements_give_normal_theory() -> None:
    decided, level = (20_000, 40_000, 60_000), 0.0220524  # Pocock's for three looks
    critical = critical_counts(np.array(decided), test="mid-p", alpha=level).tolist()
    counts = (10_100, 20_260, 30_330)
    found = exact_stagewise(taken(decided, critical, counts), mid_p=True, alpha=0.05)
    looks = [LookEstimate(count / n - 0.5, 0.5 / n**0.5) for count, n in zip(counts, decided, strict=True)]
    theory = stagewise_inference(looks, boundaries(StoppingRule(efficacy_of("pocock")), (1, 2, 3)))
    assert found.p_value == pytest.approx(theory.p_value, abs=5e-4)  # a step of the count
    assert found.estimate - 0.5 == pytest.approx(theory.estimate, abs=1e-5)
    assert np.subtract(found.interval, 0.5) == pytest.approx(theory.interval, abs=2e-5)


def test_nothing_decided_shows_nothing() -> None:
    found = exact_stagewise([DecidedLook(0, 0, -1)], mid_p=True, alpha=0.05)
    assert (found.p_value, found.interval) == (1.0, (0.0, 1.0))


@pytest.mark.parametrize(
    "looks",
    [[], [DecidedLook(5, 6, 0)], [DecidedLook(5, 3, 0), DecidedLook(9, 2, 0)], [DecidedLook(5, 3, -2)]],
)
def test_counts_that_cannot_be_are_refused(looks) -> None:
    with pytest.raises(InputError):
        exact_stagewise(looks, mid_p=False, alpha=0.05)
