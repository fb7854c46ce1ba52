"""Looks at a running study, by its plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from humeval_power.planning.monitor.state import LookData, Monitoring
    from humeval_power.planning.plan.plan import Plan
    from humeval_power.ratings import Ratings
    from humeval_power.reporting.monitor import MonitorResult


def monitor(
    seen: Ratings | LookData,
    plan: Plan,
    *,
    before: Monitoring | None = None,
    final: bool = False,
    unplanned: str = "",
) -> MonitorResult:
    """Take a look at the ratings so far, and decide by the plan whether to go on.

    Nothing is written: a look is taken for good where its `state` is kept, and given as `before` of the
    next one. The command `monitor` keeps it in a ledger.

    Parameters
    ----------
    seen : all ratings so far, those of earlier looks included, read on the plan's scale and with its
        systems; or what `look_data` made of them.
    plan : a plan with looks.
    before : the study after the look before; None before the first.
    final : no more ratings will come: test for the last time.
    unplanned : why there is a look although none is due, or after futility; it is paid for in level.

    Returns
    -------
    MonitorResult
        `look.decision`, the estimate on [0, 1] and the chances of success; after the last look the
        inference that takes the looks into account. `to_frame` has a row for each look.

    Raises
    ------
    InputError
        A plan without looks, a study that has ended, or a look that is not due and has no reason.
    FitError
        Ratings of which there is no test.
    """
    from humeval_power.planning.monitor.look_data import look_data
    from humeval_power.planning.monitor.state import LookData
    from humeval_power.planning.monitor.step import step, study_monitoring
    from humeval_power.reporting.monitor import MonitorResult

    data = seen if isinstance(seen, LookData) else look_data(seen, plan, final=final)
    after, _ = step(study_monitoring(plan) if before is None else before, data, unplanned=unplanned)
    return MonitorResult(state=after, plan=plan)
