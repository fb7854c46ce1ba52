"""The proof over bad files, in short: the counts that must be 0 are."""

import sys

import pytest
from places import ROOT

BENCHMARKS = ROOT / "benchmarks"


@pytest.mark.long
@pytest.mark.slow
def test_bad_files_end_in_words_and_change_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from prove_files import prove_files

    found = prove_files(300, seed=20)
    assert found.tries == 300
    assert found.refused > 150
    assert (found.tracebacks, found.losses, found.wrong_codes, found.hangs) == (0, 0, 0, 0), found.details
    sys.modules.pop("prove_files", None)


def test_a_damaged_uncertainty_is_refused_with_the_field() -> None:
    from humeval_power.errors import InputError
    from humeval_power.uncertainty import VarianceUncertainty

    stratum = {"value": 0.1, "df": 4.0, "residual_weight": 0.2}
    names = ("sd_worker_intercept", "sd_worker_slope", "sd_item_intercept", "sd_item_slope")
    values = {"strata": dict.fromkeys(names, stratum), "residual": 0.04, "residual_df": 30.0}
    assert VarianceUncertainty.from_dict(values).residual_df == 30.0
    wrong = {
        **values,
        "strata": {**values["strata"], "sd_item_slope": {**stratum, "df": None}},
        "residual_df": -1,
    }
    with pytest.raises(InputError) as caught:
        VarianceUncertainty.from_dict(wrong)
    told = [(problem.column, problem.value) for problem in caught.value.problems]
    assert sorted(told, key=str) == [("residual_df", -1), ("strata.sd_item_slope.df", None)]
