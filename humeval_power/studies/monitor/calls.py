"""Looks at a running study, by its plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from humeval_power.item_pool import ItemPool
    from humeval_power.ratings import Ratings
    from humeval_power.studies.monitor.followed import AnyLookData, AnyMonitoring, MonitoredPlan
    from humeval_power.studies.monitor.result import MonitorResult
    from humeval_power.studies.monitor.state import Observations


def monitor(
    seen: Ratings | Observations | AnyLookData,
    plan: MonitoredPlan,
    *,
    before: AnyMonitoring | None = None,
    final: bool = False,
    unplanned: str = "",
    pool: ItemPool | None = None,
) -> MonitorResult:
    """Take a look at the ratings, or the independent judgements, so far, and decide by the plan whether to go on.

    Nothing is written: a look is taken for good where its `state` is kept, and given as `before` of the
    next one. The command `monitor` keeps it in a ledger.

    Parameters
    ----------
    seen : all ratings so far, those of earlier looks included, read on the plan's scale and with its
        systems; or all independent judgements; or what `data_of` made of them.
    plan : a plan with looks, or one of looks at independent judgements.
    before : the study after the look before; None before the first.
    final : no more ratings will come: test for the last time.
    pool : the items that the rated ones were drawn from, as `items.read_pool` reads it, the same at every look.
    unplanned : why there is a look although none is due, or after futility; it is paid for in level.

    Returns
    -------
    MonitorResult
        `look.decision`, the estimate (of ratings on [0, 1]) and the chances of success; after the last look the
        inference that takes the looks into account. `to_frame` has a row for each look, of several systems for each
        comparison at it.

    Raises
    ------
    InputError
        A plan without looks, data of another kind, judgements that are not independent, a study that has ended,
        or a look that is not due and has no reason.
    FitError
        Data of which there is no test.
    """
    from humeval_power.ratings import Ratings
    from humeval_power.studies.monitor.followed import about_looks, data_of, monitoring_of, take
    from humeval_power.studies.monitor.result import MonitorResult
    from humeval_power.studies.monitor.state import Observations

    data = data_of(seen, plan, final=final, pool=pool) if isinstance(seen, Ratings | Observations) else seen
    after = take(monitoring_of(plan) if before is None else before, data, unplanned=unplanned)
    return MonitorResult(state=after, plan=plan, about=about_looks(after, plan, pool))
