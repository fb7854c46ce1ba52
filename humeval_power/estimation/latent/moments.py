"""What the test of a latent effect needs at the mode, from C = H^-1 alone.

P follows from Z_a'P Z_b = (delta_ab I - C_ab) / (s_a s_b), with C in the columns s_a Z_a.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from humeval_power.estimation.latent.point import Point, Setting
from humeval_power.kernels.latent import information as latent_information
from humeval_power.kernels.latent import mode as latent_mode

Floats = NDArray[np.float64]


def information(setting: Setting, scale: Floats, point: Point) -> Floats:
    """Expected information of the variances, 1/2 ||Z_a'P Z_b||^2, in the layout's order."""
    q, m, types = setting.layout.z.shape[1], len(point.dense), setting.n_types
    total, products = np.zeros((types, types)), np.zeros((q, m, m))
    latent_information.information_sums(setting.layout, point.factor, total, products)
    lower = np.tril(products, -1)
    products += np.swapaxes(lower, 1, 2)
    half = point.factor.inverse @ products
    total[types - q :, types - q :] += np.einsum("brs,csr->bc", half, half)
    square = scale * scale
    return np.asarray(0.5 * total / (square[:, None] * square))


def effect_parts(setting: Setting, scale: Floats, point: Point, column: int) -> tuple[Floats, Floats]:
    """For the fixed effect in dense column `column`: g_a = ||c_a||^2 (types,) and c_a'Z_a'P Z_b c_b (types,
    types), with c_a = Z_a'V^-1 X Phi.

    Both are derivatives of the effect's variance; the second makes the adjusted variance of Kenward and
    Roger (1997), Phi + 2 sum W_ab c_a'Z_a'P Z_b c_b, W the inverse of the information.
    """
    unit, none = np.zeros(len(point.dense)), np.zeros(point.inner.shape)
    unit[column] = 1.0
    at, at_inner = np.empty(unit.shape), np.empty(none.shape)
    latent_mode.solve(setting.layout, point.factor, unit, none, at, at_inner)
    return quadratic_forms(setting, scale, point, at, at_inner)


def quadratic_forms(
    setting: Setting, scale: Floats, point: Point, dense: Floats, inner: Floats
) -> tuple[Floats, Floats]:
    """||c_a||^2 (types,) and c_a'Z_a'P Z_b c_b (types, types), c_a the part of type a of (dense, inner) / s."""
    layout, types = setting.layout, setting.n_types
    parts, parts_inner = np.zeros((types, len(dense))), np.zeros((types, *inner.shape))
    latent_information.split_types(layout, dense, inner, parts, parts_inner)
    parts /= scale[:, None]
    parts_inner /= scale[:, None, None]
    norm = np.einsum("tr,tr->t", parts, parts) + np.einsum("trb,trb->t", parts_inner, parts_inner)
    products = np.empty((types, types))
    out, out_inner = np.empty(len(dense)), np.empty(inner.shape)
    for t in range(types):
        latent_mode.solve(layout, point.factor, parts[t], parts_inner[t], out, out_inner)
        rest = (parts_inner[t] - out_inner).ravel()
        products[t] = parts @ (parts[t] - out) + parts_inner.reshape(types, -1) @ rest
    return norm, products / (scale[:, None] * scale)
