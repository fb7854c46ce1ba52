"""Where a rule of accuracies begins and ends: what rounding may do, and claims exactly at their threshold."""

from pathlib import Path

import pytest
from cases import few_fast
from cli import run

from humeval_power.comparisons.accuracy.claims import Claim, EffectRegression, JudgedClaim, JudgedClaims

DETECTABLE, TARGET, ALPHA = 0.02, 0.8, 0.05


def judged(
    *, improvement: float = DETECTABLE, power: float = TARGET, p_value: float = ALPHA
) -> JudgedClaims:
    claim = JudgedClaim(Claim("sst2", 1000, 0.9, improvement), 0.95, DETECTABLE, 0.01, power, p_value)
    return JudgedClaims((claim,), EffectRegression(0.01, 0.0, {}, 1, 0.5), TARGET, ALPHA)


def test_a_claim_exactly_at_its_threshold_meets_it() -> None:
    assert judged().share_below == 0
    assert judged().share_powered == judged().share_significant == judged().share_both == 1


def test_a_claim_a_hair_beyond_its_threshold_does_not() -> None:
    assert judged(improvement=DETECTABLE - 1e-12).share_below == 1
    assert judged(power=TARGET - 1e-12).share_powered == 0
    assert judged(power=TARGET - 1e-12).share_both == 0
    assert judged(p_value=ALPHA + 1e-12).share_significant == 0
    assert judged(p_value=ALPHA + 1e-12).share_both == 0
    assert judged(improvement=0.0, p_value=0.001).share_significant == 0


# An accuracy in per cent is rounded to .1, so that it may be .05 points off: .0005 of a share at each end.
@few_fast(
    ("baseline", "accuracy", "code"),
    [(0.99, 1.0004, 0), (0.99, 1.0006, 2), (0.01, -0.0004, 0), (0.01, -0.0006, 2)],
    fast=1,
)
def test_an_accuracy_may_pass_its_ends_by_half_a_digit(
    tmp_path: Path, baseline: float, accuracy: float, code: int
) -> None:
    path = tmp_path / "claims.csv"
    rows = [f"sst2,{baseline},{accuracy - baseline:.4f},1000", "sst2,0.5,0.1,1000", "rte,0.5,0.1,1000"]
    path.write_text("\n".join(["task,baseline,improvement,n", *rows, "rte,0.6,0.05,1000", ""]))
    assert run("accuracy", "claims", path, code=None).exit_code == code


# With accuracies of .9 and .8 at least .7 agree; two rounded accuracies let it be .001 less.
@pytest.mark.parametrize(("agreement", "code"), [(0.6991, 0), (0.6989, 2), (0.9, 0), (0.9001, 2)])
def test_an_agreement_may_fall_short_by_what_two_accuracies_are_rounded(
    tmp_path: Path, agreement: float, code: int
) -> None:
    path = tmp_path / "pairs.csv"
    others = ["0.7,0.05,0.8", "0.6,0.1,0.7", "0.5,0.02,0.9"]
    path.write_text("\n".join(["baseline,improvement,agreement", f"0.8,0.1,{agreement}", *others, ""]))
    assert run("accuracy", "overlap", path, code=None).exit_code == code


# Accuracies .9 and .9098 on 1,000 items are 9.8 apart; rounding takes 1 and the whole count 1 more.
@pytest.mark.parametrize(("differing", "code"), [(8, 0), (7, 2)])
def test_fewer_items_may_differ_than_rounded_accuracies_are_apart(
    tmp_path: Path, differing: int, code: int
) -> None:
    board, pairs = tmp_path / "board.csv", tmp_path / "pairs.csv"
    board.write_text("name,date,accuracy,validation\na,2020-01-01,0.90,0.90\nb,2020-02-01,0.92,0.9098\n")
    pairs.write_text(f"first,second,differing\na,b,{differing}\n")
    words = ("accuracy", "leaderboard", board, "--n", 1000, "--pairs", pairs, "--n-validation", 1000)
    assert run(*words, code=None).exit_code == code
