"""A study with looks is reported by the inference that takes them into account, wherever its difference stands."""

from cli import run_json
from places import ROOT
from scipy import stats

from humeval_power.saying.numbers import p_words
from humeval_power.studies.report.fact_record import reported_effect, result_table, study_facts
from humeval_power.studies.report.fact_words import StudyWords

LOOKS = {
    "rule": "O'Brien-Fleming",
    "decision": "end-nothing-shown",
    "significant": False,
    "inference": {
        "look": 2,
        "p_value": 0.061,
        "estimate": 0.09,
        "interval": [-0.0123, 0.2],
        "confidence": 0.95,
    },
    "looks": [{}, {}],
}


def test_no_sentence_and_no_table_has_the_numbers_of_the_last_look_alone() -> None:
    plain = run_json("analyze", ROOT / "data" / "pilot.csv", "--scale", "1:5")
    record = {**plain, "effect": {**plain["effect"], "significant": True, "p_value": 0.031}}
    assert reported_effect(record) == record["effect"]
    facts = study_facts({**record, "sequential": LOOKS})
    said = StudyWords(facts)
    table = result_table(facts)
    assert table is not None
    texts = [said.decided(), str(said.headline()), str(said.effect()), str(table.rows[0])]
    assert "No difference is shown between baseline and new (p = 0.061)" in texts[0]
    for text in texts[1:]:
        assert "0.09" in text
        assert "0.0123" in text
        assert f"{plain['effect']['estimate']:.4f}" not in text
    assert not [text for text in texts if "0.031" in text]
    assert reported_effect({**record, "sequential": LOOKS})["significant"] is False


def test_the_paragraph_gives_an_estimate_with_its_own_p_and_that_over_all_looks_beside() -> None:
    record = run_json("analyze", ROOT / "data" / "pilot.csv", "--scale", "1:5")
    effect = record["effect"]
    t = effect["estimate"] / effect["standard_error"]
    own = 2 * stats.t.sf(abs(t), effect["df"])
    first, *_, over_looks = filter(
        None, StudyWords(study_facts({**record, "sequential": LOOKS})).findings()[:3]
    )
    assert f", {p_words(own)});" in first
    assert "Taking the looks into account (stage-wise ordering), p = 0.061" in over_looks
