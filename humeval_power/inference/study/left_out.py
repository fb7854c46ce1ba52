"""What leaving the documents out of an analysis does: a test that believes in more things than there are."""

from __future__ import annotations

import math
from dataclasses import replace

from scipy import special

from humeval_power.designs import Design
from humeval_power.inference.study.formula import (
    EffectPrecision,
    effect_precision,
    rule_critical_value,
)
from humeval_power.parameters import Parameters
from humeval_power.rules import DEFAULT_RULE, DecisionRule


def believed_precision(parameters: Parameters, design: Design) -> EffectPrecision:
    """What a study that leaves its documents out believes of its precision, on average.

    Items then seem to vary by what they and their documents vary by, less what items of one document share
    with each other: the expected mean square between items.
    """
    coded = parameters.recoded()
    n, each = design.n_items, design.items_per_document
    seen = 1.0 - (each - 1.0) / (n - 1.0)

    def together(item: float, document: float) -> float:
        return math.sqrt(item**2 + seen * document**2)

    without = replace(
        coded,
        sd_item_intercept=together(coded.sd_item_intercept, coded.sd_document_intercept),
        sd_item_slope=together(coded.sd_item_slope, coded.sd_document_slope),
        sd_document_intercept=0.0,
        sd_document_slope=0.0,
        latent=None,
    )
    rows = design.explicit
    alone = replace(
        design,
        n_documents=0,
        document_of_item=None,
        explicit=None if rows is None else replace(rows, document=None),
    )
    return effect_precision(without, alone)


def false_positives_without_documents(
    parameters: Parameters, design: Design, *, rule: DecisionRule = DEFAULT_RULE
) -> float:
    """How often a test that leaves the documents out finds what is not there, by formula: where the true
    difference is 0, or lies at the rule's margin.

    Its t is too large by the ratio of the standard errors, true and believed. Simulated rates agree within a
    percentage point or two where there are at least five documents.
    """
    true, believed = effect_precision(parameters, design), believed_precision(parameters, design)
    critical = rule_critical_value(rule, believed)
    shrunk = critical * believed.standard_error / true.standard_error
    beyond = float(special.stdtr(believed.df, -shrunk))
    return 2.0 * beyond if rule.alternative == "two-sided" else beyond
