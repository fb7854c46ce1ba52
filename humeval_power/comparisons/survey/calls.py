"""Published comparisons: what they report, and what they could have found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from humeval_power.differences import Difference
from humeval_power.errors import InputError
from humeval_power.parameters import Parameters
from humeval_power.rules import DEFAULT_RULE, DecisionRule

if TYPE_CHECKING:
    from humeval_power.comparisons.survey.result import SurveyResult
    from humeval_power.comparisons.survey.survey import PublishedComparison

USUAL_EFFECTS = (0.05, 0.1, 0.2)


def survey(
    comparisons: Sequence[PublishedComparison],
    settings: Mapping[str, Parameters],
    *,
    effects: Sequence[float | Difference] = USUAL_EFFECTS,
    if_missing: Mapping[str, int] | None = None,
    rule: DecisionRule = DEFAULT_RULE,
    remarks: Sequence[str] = (),
) -> SurveyResult:
    """Look at a collection of published comparisons.

    comparisons : as `read_comparisons` reads them from a table.
    settings : parameters of the variation by name, under which power is worked out by formula.
    effects : differences on [0, 1] that a reader would want found.
    if_missing : 'workers', 'items' and 'ratings_per_item' to assume where they are not reported.
    remarks : what was noticed in reading.
    SurveyResult
        Shares of comparisons that report each detail, Kendall's tau of effect and size, and for each
        setting the power of each comparison; `to_frame` has a row for each comparison and setting.
    Raises InputError: no comparison, or no setting.
    """
    from humeval_power.comparisons.survey.result import SurveyResult
    from humeval_power.comparisons.survey.survey import survey as surveyed

    if not settings:
        raise InputError(
            "Without parameters there is no power to work out: give one setting or more by name."
        )
    said = tuple(each if isinstance(each, Difference) else Difference(each) for each in effects)
    result = surveyed(
        comparisons, settings, effects=[each.value for each in said], if_missing=if_missing, rule=rule
    )
    return SurveyResult(
        found=result,
        comparisons=tuple(comparisons),
        effects=said,
        rule=rule,
        remarks=tuple(remarks),
    )
