"""The signature line says how a study was analysed."""

from typing import get_args

import forms_documents as made

from humeval_power.rules import WITH_MARGIN, Alternative, DecisionRule, DegreesOfFreedom
from humeval_power.studies.report.documents import CriterionDocuments
from humeval_power.studies.report.paragraphs import rule_entries, signature_of


def test_a_signature_is_that_of_the_documents():
    assert signature_of(made.DOCUMENTS) == (
        "humeval_power|v:0.1.0|model:lmm-xs|coding:b-a|df:kr|alpha:.05|two|n:12x50x3|sim:2000|seed:7"
        "|plan:sha256:c0ffeec0ffee"
    )


def test_without_simulation_nothing_is_said_of_one():
    signature = signature_of(CriterionDocuments(analysis=made.ANALYSIS))
    assert "sim:" not in signature
    assert "seed:" not in signature


def test_a_plan_alone_has_the_signature_of_what_is_planned():
    assert signature_of(CriterionDocuments(plan=made.PLAN)) == (
        "humeval_power|model:lmm-xs|coding:b-a|df:kr|alpha:.05|two|n:14x60x3|sim:2000|seed:7"
    )


def test_no_test_no_signature():
    assert signature_of(CriterionDocuments()) is None


def test_no_two_rules_have_the_same_entries():
    rules = [
        DecisionRule(df=df, alternative=alternative, margin=0.05 if alternative in WITH_MARGIN else None)
        for df in get_args(DegreesOfFreedom)
        for alternative in get_args(Alternative)
    ]
    rules += [DecisionRule(analysis="differences"), DecisionRule(estimator="ml", df="normal")]
    assert len({"|".join(rule_entries(rule)) for rule in rules}) == len(rules)
    assert rule_entries(DecisionRule(alternative="non-inferior", margin=0.05))[-2:] == [
        "alpha:.05",
        "ni:.05",
    ]
