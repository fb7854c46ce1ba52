"""One rating's log probability and derivatives against scipy's tails and against differences."""

import numpy as np
import pytest
from cases import each_case
from scipy import special, stats

from humeval_power.kernels.kernel import kernel
from humeval_power.kernels.latent.cells import cell, curvature, third


@kernel
def all_of(u, lo, has_u, has_l, logit):
    log_p, a, b, cu, cl = cell(u, lo, has_u, has_l, logit)
    uu, ul, ll = curvature(a, b, cu, cl)
    uuu, uul, ull, lll = third(a, b, cu, cl, logit)
    return np.array([log_p, a, b, uu, ul, ll, uuu, uul, ull, lll])


@each_case("logit", [False, True])
@each_case("x", [-300.0, -40.0, -25.1, -24.9, -3.0, 0.0, 4.0, 30.0])
def test_the_ends_keep_their_digits(x, logit):
    log_f = stats.logistic.logcdf(x) if logit else special.log_ndtr(x)
    density = stats.logistic.logpdf(x) if logit else stats.norm.logpdf(x)
    lowest, highest = all_of(x, 0.0, True, False, logit), all_of(0.0, -x, False, True, logit)
    assert lowest[0] == pytest.approx(log_f, rel=1e-12)
    assert lowest[1] == pytest.approx(np.exp(density - log_f), rel=1e-10)
    assert highest[0] == lowest[0]  # the mirror image
    assert highest[2] == lowest[1]


@each_case("logit", [False, True])
@each_case("bounds", [(-0.3, 0.4), (2.0, 2.5), (-6.0, -5.0), (7.0, 9.0), (-31.0, -29.0), (33.0, 34.0)])
def test_between_two_bounds(bounds, logit):
    lo, u = bounds
    law = stats.logistic if logit else stats.norm
    tail = (law.logcdf(u), law.logcdf(lo)) if u < 0 else (law.logsf(lo), law.logsf(u))
    expected = (
        tail[0] + np.log1p(-np.exp(tail[1] - tail[0])) if lo * u > 0 else np.log(law.cdf(u) - law.cdf(lo))
    )
    assert all_of(u, lo, True, True, logit)[0] == pytest.approx(expected, rel=1e-11)


@each_case("logit", [False, True])
@each_case("bounds", [(-0.3, 0.4), (2.0, 3.5), (-6.0, -5.0), (-27.0, -25.5)])
@each_case(("has_u", "has_l"), [(True, True), (True, False), (False, True)])
def test_each_derivative_is_the_difference_of_the_one_before(bounds, has_u, has_l, logit):
    lo, u = bounds
    step = 1e-5

    def at(du, dl):
        return all_of(u + du, lo + dl, has_u, has_l, logit)

    here = at(0.0, 0.0)
    by_u = (at(step, 0.0) - at(-step, 0.0)) / (2 * step) * has_u
    by_l = (at(0.0, step) - at(0.0, -step)) / (2 * step) * has_l
    np.testing.assert_allclose([here[1], -here[2]], [by_u[0], by_l[0]], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(-here[3:6], [by_u[1], by_l[1], -by_l[2]], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(here[6:10], [-by_u[3], -by_l[3], -by_l[4], -by_l[5]], rtol=1e-5, atol=1e-6)
