"""What a joint fit of several systems will know of their means, for any assignment at assumed variances."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humeval_power.blas import one_blas_thread
from humeval_power.comparisons import SystemVariances
from humeval_power.designs import Assignment
from humeval_power.estimation.joint.fit import inverse_information
from humeval_power.estimation.joint.table import JointTable

Floats = NDArray[np.float64]


class DesignPrecision(NamedTuple):
    """Covariance of the estimated means (K, K), its derivatives by the variances (q, K, K), and the covariance of
    these by the expected information (q, q)."""

    covariance: Floats
    derivatives: Floats
    uncertainty: Floats


def joint_precision(
    rows: Assignment,
    *,
    worker: Floats,
    item: Floats,
    residual: float,
    variances: SystemVariances,
) -> DesignPrecision:
    """By the block algebra of the fitter, with the expected REML information (Kenward and Roger 1997).

    worker, item : variances (1 + K,), what systems share first and then each system's own; where `variances` are
        common their averages over the systems are taken.
    """
    own = variances == "own"
    K = len(worker) - 1
    if not own:
        worker, item = (np.append(part[0], part[1:].mean()) for part in (worker, item))
    table = JointTable.of_rows(rows.worker, rows.item, rows.system, n_systems=K, own=own)
    first, second = (worker, item) if table.worker_is_outer else (item, worker)
    response = np.zeros(len(rows.worker))
    response[0] = 1.0  # precision does not depend on the ratings; some there must be
    gamma = np.concatenate([first, second]) / residual
    with one_blas_thread():
        point = table.point(response, gamma)
        second_order = point.second_order()
    return DesignPrecision(
        point.phi * residual,
        np.asarray(point.phi @ second_order.xgx @ point.phi),
        inverse_information(second_order.expected) * residual**2,
    )
