"""The pictures of a study: the power of its designs."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from humeval_power.reporting.study.surface_figure import surface_figure
from humeval_power.reporting.values import Document, listed, number


def surface_of(surface: Document) -> Figure:
    """The power of each design of a surface document."""
    halved = number(surface, "effect_unit") not in (None, 1.0)
    label = "Coefficient under -1/+1 coding (half of B - A)" if halved else None
    return surface_figure(pd.DataFrame(list(listed(surface, "rows"))), effect_label=label)
