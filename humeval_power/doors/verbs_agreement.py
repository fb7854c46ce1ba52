"""`hp.agreement.study`: the reliability of a study of several sizes, of a `Study` or of parameters."""

from __future__ import annotations

from typing import Any

from humeval_power.doors.verbs import answer
from humeval_power.study import Study


def study(about: Any, /, **how: Any) -> Any:
    """How reliably a study of each size orders systems, and knows their levels.

    Parameters
    ----------
    about : a `Study` with its variation; or `Parameters`, of which the effect is not used.
    how : `workers` and `items`, lists of sizes; `effect` of two given systems, or `sd_systems` of many;
        `ratings_per_item`, `documents`, `n_systems`, `cost_per_rating`, and of parameters `setting`.

    Returns
    -------
    ReliabilityStudy
        Coefficients, chances and ceilings of each size.

    Raises
    ------
    InputError
        Numbers that cannot be, or what is missing.
    """
    if isinstance(about, Study):
        return answer(about, "agreement study", how)
    from humeval_power.comparisons.agreement.calls import study as study_of_parts

    return study_of_parts(about, **how)
