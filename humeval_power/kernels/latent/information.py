"""What the test needs at the optimum: the expected information of the variances and the effect's variance.

At the mode K = [Z X]'W[Z X] and P follow from C = H^-1 alone: Z_a'P Z_b = (delta_ab I - C_ab) / (s_a s_b).
"""

from __future__ import annotations

import numpy as np

from humeval_power.kernels.kernel import kernel
from humeval_power.kernels.latent.mode import touched


@kernel
def information_sums(layout, factor, out, products):
    """Fill, from zero, the squared norms of the blocks of I - C, (types, types), but for the inner factor's
    own: there the terms of its diagonal blocks alone; and (q, m, m), the lower triangles of the products
    F'F of F = D^-1 E by column type, of which the rest is made: nothing of inner by inner levels is formed.
    """
    q = layout.z.shape[1]
    n_dense, blocks = layout.block.shape[1], len(layout.kind)
    first = n_dense * q
    inverse = factor.inverse
    m = len(inverse)
    index = np.empty(m, np.int64)
    row = np.empty(m)
    for k in range(blocks):
        for r in range(k * q, k * q + q):
            t = layout.kind[k] * q + r - k * q
            for other in range(blocks):
                for c in range(other * q, other * q + q):
                    value = (1.0 if r == c else 0.0) - inverse[r, c]
                    out[t, layout.kind[other] * q + c - other * q] += value * value
    for i in range(len(layout.start) - 1):
        count, begin = touched(layout, i, m, index)
        for b in range(q):
            for c in range(m):
                row[c] = 0.0
            for r in range(count):
                weight = factor.ratio[begin + r, b]
                for c in range(m):
                    row[c] += weight * inverse[index[r], c]
            for k in range(blocks):
                for c in range(q):
                    square = row[k * q + c] * row[k * q + c]
                    out[first + b, layout.kind[k] * q + c] += square
                    out[layout.kind[k] * q + c, first + b] += square
            for c in range(q):
                value = 0.0
                for r in range(count):
                    value += row[index[r]] * factor.ratio[begin + r, c]
                own = (1.0 if b == c else 0.0) - factor.block_inverse[i, b, c]
                out[first + b, first + c] += own * (own - 2.0 * value)
            for r in range(count):
                for c in range(r + 1):
                    products[b, index[r], index[c]] += (
                        factor.ratio[begin + r, b] * factor.ratio[begin + c, b]
                    )


@kernel
def split_types(layout, dense, inner_v, parts_dense, parts_inner):
    """Fill, from zero, (types, m) and (types, levels, q): the vector (dense, inner_v), one column type each."""
    q = layout.z.shape[1]
    for k in range(len(layout.kind)):
        for b in range(q):
            parts_dense[layout.kind[k] * q + b, k * q + b] = dense[k * q + b]
    for i in range(len(inner_v)):
        for b in range(q):
            parts_inner[layout.block.shape[1] * q + b, i, b] = inner_v[i, b]
