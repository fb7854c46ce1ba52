"""Nodes and weights that stand in the source are those of Gauss and Legendre."""

import importlib
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from cases import each_case

from humeval_power import quadrature

RULES = sorted(quadrature.HALVES)


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "docs"))
    return importlib.import_module("make_quadrature")


def test_the_script_writes_the_numbers_that_stand_in_the_source(script: ModuleType) -> None:
    n = RULES[0]
    assert script.positive_half(n) == tuple(map(list, quadrature.HALVES[n]))
    # Of the others the last node alone, which is the hardest: all of them take a second.
    for more in RULES[1:]:
        nodes, weights = quadrature.HALVES[more]
        assert script.node_and_weight(more, 1) == (nodes[-1], weights[-1])


@each_case("n", RULES)
def test_nodes_and_weights_are_those_of_numpy(n: int) -> None:
    nodes, weights = quadrature.gauss_legendre(n)
    expected_nodes, expected_weights = np.polynomial.legendre.leggauss(n)
    # NumPy's are eigenvalues: right to a few units in the last place of 1, small weights to fewer digits.
    assert nodes == pytest.approx(expected_nodes, rel=0, abs=4e-16)
    assert weights == pytest.approx(expected_weights, rel=1e-10, abs=0)
    assert (np.diff(nodes) > 0).all()


@each_case("n", RULES)
def test_polynomials_that_a_rule_integrates_exactly_are_integrated_exactly(n: int) -> None:
    nodes, weights = quadrature.gauss_legendre(n)
    for degree in (0, 1, 2, 3, 10, n - 1, n, 2 * n - 2, 2 * n - 1):
        expected = float(Fraction(2, degree + 1)) if degree % 2 == 0 else 0.0
        # High powers take the rounding of the nodes times the degree.
        assert float(weights @ nodes**degree) == pytest.approx(expected, rel=1e-13, abs=1e-16 * n)


def test_an_unknown_number_of_nodes_is_an_error() -> None:
    with pytest.raises(KeyError):
        quadrature.gauss_legendre(65)
