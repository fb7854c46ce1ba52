"""The clusters of the items of a table of scores, and columns that look like them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from humeval_power.checking.cluster_columns import ClusterSuspect, cluster_suspects
from humeval_power.clusters import Clusters
from humeval_power.interfaces.formats.item_clusters import clusters_of, read_cluster_lines

if TYPE_CHECKING:
    from humeval_power.interfaces.formats.compare.score_tables import ScoreSource


def item_clusters(
    source: ScoreSource, frame: pd.DataFrame, items: pd.Index, complete: np.ndarray
) -> Clusters | None:
    """The clusters of the items that are complete, in their order; in a wide table each row is an item."""
    if source.cluster is None:
        return None
    if not source.has_header:
        return read_cluster_lines(source.cluster, len(items)).only(complete)
    kept = [str(item) for item in items[complete]]
    if source.system is None:
        frame = frame.loc[items[complete]]
    item_column = source.item if source.system is not None else None
    return clusters_of(source.table._replace(frame=frame), source.cluster, kept, item_column=item_column)


def item_suspects(source: ScoreSource, frame: pd.DataFrame) -> tuple[ClusterSuspect, ...]:
    """Columns that look like clusters, where nobody named one."""
    if not source.has_header:
        return ()
    taken = [*source.scores, *([source.system] if source.system is not None else [])]
    return cluster_suspects(frame, item=source.item, taken=taken)
