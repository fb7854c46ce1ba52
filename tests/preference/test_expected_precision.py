"""What a panel will know of a preference, against dense matrices that share nothing with it."""

import numpy as np
import pytest
from cases import each_case
from reference.preference_twin import Twin, judgement
from scipy import integrate, stats

from humeval_power.comparisons.preference.latent_scale import (
    LatentPreference,
    Panel,
    latent_preference,
    strength_precision,
)
from humeval_power.errors import InputError

PANELS = {  # judgements, workers, items, share of ties, position bias, link, SDs of workers and items
    "complete": (150, 5, 30, 0.2, 0.05, "probit", 0.5, 0.4),
    "no ties, logit": (150, 5, 30, 0.0, 0.0, "logit", 0.8, 0.4),
    "no worker varies": (90, 6, 45, 0.3, -0.1, "probit", 0.0, 0.4),
    "uneven": (47, 6, 20, 0.3, -0.1, "logit", 0.5, 0.0),
    "items once": (60, 6, 60, 0.2, 0.1, "probit", 0.5, 0.0),
    "workers once": (60, 60, 20, 0.2, 0.1, "probit", 0.0, 0.7),
}


@each_case("name", PANELS)
def test_the_precision_is_that_of_dense_matrices(name: str) -> None:
    n, m, items, ties, bias, link, sd_worker, sd_item = PANELS[name]
    panel = Panel(n, m, items)
    truth = latent_preference(
        0.12, tie_share=ties, position_bias=bias, sd_worker=sd_worker, sd_item=sd_item, link=link
    )
    worker, item, position = panel.assignment
    outcome = np.where(np.arange(n) == 0, 0 if ties else 1, 1)
    twin = Twin(worker, item, outcome, position, link)
    info = np.array([truth.information(x, ties=ties > 0) for x in position])
    K = sum(twin.J[a].T @ (info[:, a, b][:, None] * twin.J[b]) for a in range(2) for b in range(2))
    scale = np.concatenate([np.ones(twin.n_fixed), np.full(m, sd_worker), np.full(items, sd_item)])
    free = np.concatenate([np.zeros(twin.n_fixed), np.ones(m + items)])
    C = scale[:, None] * np.linalg.inv(scale[:, None] * K * scale + np.diag(free)) * scale
    kept = (panel.workers_repeat, panel.items_repeat)
    _, error, _, df = twin.linearised(K, C, kept, twin.strength, truth.strength)
    found = strength_precision(panel, truth)
    assert found.standard_error == pytest.approx(error, rel=1e-9)
    assert found.df == pytest.approx(df, rel=1e-9)


def test_without_variation_the_precision_is_that_of_counts() -> None:
    # No ties, no bias: the probit of a share p of n has the variance p (1 - p) / (n f^2) (delta method).
    truth = latent_preference(0.2)
    found = strength_precision(Panel(400, 400, 200), truth)
    expected = np.sqrt(0.7 * 0.3 / 400) / stats.norm.pdf(stats.norm.ppf(0.7))
    assert found.standard_error == pytest.approx(expected, rel=1e-6)


@each_case("link", ["probit", "logit"])
@each_case(("ties", "bias"), [(0.0, 0.0), (0.0, 0.1), (0.25, 0.0), (0.6, -0.05)])
def test_shares_lead_to_the_latent_model_and_back(link: str, ties: float, bias: float) -> None:
    found = latent_preference(
        -0.11, tie_share=ties, position_bias=bias, sd_worker=0.7, sd_item=0.4, link=link
    )
    assert found.shares == pytest.approx(((1 - ties) / 2 - 0.11, ties, (1 - ties) / 2 + 0.11), abs=1e-8)
    assert found.preferred(found.strength) == pytest.approx(0.39, abs=1e-8)
    assert found.first_preferred(found.position_bias) == pytest.approx(0.5 + bias, abs=1e-8)
    assert found.preferred(0.0) == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize("link", ["probit", "logit"])
def test_shares_are_integrals_over_workers_and_items(link: str) -> None:
    model = LatentPreference(0.4, 0.3, 0.5, 0.8, 0.6, link)  # type: ignore[arg-type]
    noise = stats.norm if link == "probit" else stats.logistic

    def won(u: float) -> float:
        at = [noise.sf(0.3 - (0.4 + x * 0.5 + u)) for x in (0.5, -0.5)]
        return float(np.mean(at) * stats.norm.pdf(u))

    expected, _ = integrate.quad(won, -9, 9, epsabs=1e-12)
    assert model.shares[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("link", ["probit", "logit"])
@pytest.mark.parametrize("ties", [True, False])
def test_the_information_is_that_of_the_scores(link: str, ties: bool) -> None:
    model = LatentPreference(0.4, 0.3 if ties else 0.0, 0.5, link=link)  # type: ignore[arg-type]
    eta = np.array([0.65])
    total = np.zeros((2, 2))
    for outcome in (-1, 0, 1) if ties else (-1, 1):
        log_p, gradient, _ = judgement(eta, np.array([model.threshold]), np.array([outcome]), link)
        total += np.exp(log_p[0]) * np.outer(gradient[:, 0], gradient[:, 0])
    found = model.information(0.5, ties=ties)
    kept = slice(0 if ties else 1, None)
    assert found[kept, kept] == pytest.approx(total[kept, kept], rel=1e-10)


@each_case(("n", "m", "items"), [(150, 5, 30), (47, 6, 20), (300, 8, 100), (12, 12, 3), (12, 4, 12)])
def test_a_panel_takes_turns(n: int, m: int, items: int) -> None:
    worker, item, position = Panel(n, m, items).assignment
    assert len({*zip(worker.tolist(), item.tolist(), strict=True)}) == n
    for codes, several in ((worker, m), (item, items)):
        counts = np.bincount(codes, minlength=several)
        assert counts.max() - counts.min() <= 1
    assert abs(position.sum()) <= 1
    assert sum(several for _, _, several in Panel(n, m, items).kinds) == items


@pytest.mark.parametrize(("n", "m", "items"), [(1, 1, 1), (10, 1, 10), (10, 3, 3), (4, 5, 2)])
def test_impossible_panels_are_refused(n: int, m: int, items: int) -> None:
    with pytest.raises(InputError):
        Panel(n, m, items)


def test_shares_that_leave_nobody_are_refused() -> None:
    with pytest.raises(InputError, match="leaves nobody"):
        latent_preference(0.45, tie_share=0.2)
    with pytest.raises(InputError, match="position bias"):
        latent_preference(0.0, tie_share=0.9, position_bias=0.45)
