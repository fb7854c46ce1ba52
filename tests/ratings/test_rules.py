"""Decision rules: what is refused, the default, and the published rule."""

from __future__ import annotations

import pytest
from cases import each_case

from humeval_power.errors import InputError
from humeval_power.rules import CARD2020, DEFAULT_RULE, DecisionRule


@each_case(
    ("fields", "text"),
    [
        ({"estimator": "mle"}, "estimator must be one of reml, ml; got 'mle'"),
        ({"df": "z"}, "df must be one of kenward-roger, satterthwaite, normal, min"),
        ({"alternative": "less"}, "alternative must be one of two-sided, greater"),
        ({"alpha": 0.0}, "alpha must lie between 0 and 1; got 0"),
        ({"alpha": 1.0}, "alpha must lie between 0 and 1; got 1"),
        ({"alpha": float("nan")}, "alpha must lie between 0 and 1"),
        ({"estimator": "ml", "df": "kenward-roger"}, "use estimator 'reml'"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(fields, text):
    with pytest.raises(InputError, match=text):
        DecisionRule(**fields)


def test_the_default_is_kenward_roger_after_reml():
    assert (
        DecisionRule(estimator="reml", df="kenward-roger", alternative="two-sided", alpha=0.05)
        == DEFAULT_RULE
    )
    assert str(DEFAULT_RULE) == "REML, t, kenward-roger df, two-sided, alpha 0.05"


def test_the_published_rule_is_one_sided_after_maximum_likelihood():
    # Card et al. (2020), appendix: a positive effect with t > 1.96, maximum-likelihood fits.
    assert (CARD2020.estimator, CARD2020.df, CARD2020.alternative) == ("ml", "normal", "greater")
    assert CARD2020.alpha == 0.025
    assert str(CARD2020) == "ML, normal, greater, alpha 0.025"
