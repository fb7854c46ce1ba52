"""The joint model of several systems written with dense matrices; the algebra is that of dense_model."""

import numpy as np


def design_matrices(outer, inner, system, n_systems):
    """X (n, K) and the list of Z_t for outer, outer x system, inner, inner x system."""

    def indicators(codes, count):
        return np.eye(count)[codes]

    zs = []
    for codes in (outer, inner):
        levels = int(np.max(codes)) + 1
        zs.append(indicators(codes, levels))
        zs.append(indicators(codes * n_systems + system, levels * n_systems))
    return indicators(system, n_systems), zs


def own_design_matrices(outer, inner, system, n_systems):
    """X (n, K) and the list of Z_t for outer, outer x each system, inner, inner x each system."""
    zs = []
    for codes in (outer, inner):
        levels = np.eye(int(np.max(codes)) + 1)[codes]
        zs.append(levels)
        zs += [levels * (np.asarray(system) == k)[:, None] for k in range(n_systems)]
    return np.eye(n_systems)[system], zs
