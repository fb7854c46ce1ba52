"""Chosen items together with looks: the tables of docs/choosing-items.md#with-looks: python docs/make_items_looks.py [studies]

Complete tables of items that were drawn by a metric, analysed over their pool at each look by the closed form of the
mixed model, at levels that are sealed for studies of the same size without a pool. Studies of one draw of items have
item effects, workers and ratings of their own. Of every row some studies are analysed by `estimate_pool` too, as
`humeval-power monitor --pool` does, and must give the same.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from itertools import combinations

import numpy as np
from make_drop_errors import planned as dropping_planned
from make_stop_errors import RULE, SEED, SETTINGS, drawn, planned
from numpy.typing import NDArray

from humeval_power.inference.chosen_items import ITEMS_FOR_METRIC, estimate_pool
from humeval_power.inference.item_sampling import (
    balancing_columns,
    draw_balanced,
    draw_from_strata,
    strata_of,
)
from humeval_power.item_pool import ItemPool
from humeval_power.kernels.crossed import balanced
from humeval_power.studies.fit.wald import wald_p
from humeval_power.studies.looks.dropping import follow, tied_configurations, true_claims
from humeval_power.studies.looks.repeated import half_widths
from humeval_power.studies.looks.systems_looks import SystemsLookReplicates
