"""What a mean is worth in human values, by the number of items that the judge has scored."""

from __future__ import annotations

from dataclasses import replace

from humeval_power.planning.judge.efficiency import PredictionPower
from humeval_power.reporting.chart import Axis, Chart, Level, Series, Spot

_POINTS = 60


def worth_chart(found: PredictionPower) -> Chart:
    """Human values that the mean is worth against the items that only the judge has scored."""
    most = max(3 * found.extra, 2 * found.n)
    extra = sorted({1 + round((most - 1) * place / (_POINTS - 1)) for place in range(_POINTS)})
    at = [replace(found, extra=each) for each in extra]
    best, plain = [each.effective_n for each in at], [each.plain_effective_n for each in at]
    x = tuple(map(float, extra))
    return Chart(
        name="worth",
        title="How many human values does the judge save?",
        words="Human values that the mean is worth, against the number of items that only the judge has scored: "
        f"{found.effective_n:.0f} with {found.extra:,}.",
        x=Axis("Items scored by the judge alone", 0, most, is_whole=True),
        y=Axis("Worth, in human values", 0, 1.05 * max(*best, *plain, found.n), is_whole=True),
        series=(
            Series("line", "best weight", x, tuple(best)),
            Series("line", "weight 1", x, tuple(plain), colour=2),
        ),
        marks=(
            Spot(f"this plan: {found.effective_n:.0f}", found.extra, found.effective_n),
            Level(f"humans alone: {found.n:,}", found.n),
        ),
    )
