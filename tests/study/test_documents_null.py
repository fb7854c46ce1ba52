"""What leaving documents out does: ten sentences of a document are not ten items."""

import numpy as np
import pytest
from scipy import stats

from humeval_power.estimation.crossed.fits import fit_batch
from humeval_power.estimation.crossed.problem import CrossedProblem

N_STUDIES = 1000


@pytest.mark.slow
def test_leaving_documents_out_finds_what_is_not_there_and_naming_them_does_not():
    """10 workers x 10 documents x 10 sentences without a difference between the systems; the SD of the
    documents' own differences is 0.1."""
    worker, item, system = np.indices((10, 100, 2)).reshape(3, -1)
    document, x = item // 10, system - 0.5
    rng = np.random.default_rng(1)

    def drawn():
        intercepts = rng.normal(0, 0.1, 10)[worker] + rng.normal(0, 0.1, 100)[item]
        slopes = rng.normal(0, 0.05, 10)[worker] + rng.normal(0, 0.1, 100)[item]
        intercepts += rng.normal(0, 0.1, 10)[document]
        slopes += rng.normal(0, 0.1, 10)[document]
        return 0.5 + intercepts + slopes * x + rng.normal(0, 0.2, len(x))

    responses = np.stack([drawn() for _ in range(N_STUDIES)])
    rates = []
    for codes in (None, document):
        problem = CrossedProblem.of_design(worker, item, system, document=codes)
        fits = fit_batch(problem, responses, start=np.full(problem.n_components, 0.2))
        t = np.abs(fits.estimate) / fits.standard_error_adjusted
        rates.append(float((2 * stats.t.sf(t, fits.df_kenward_roger) <= 0.05).mean()))
    without, with_documents = rates
    # four Monte Carlo standard errors of a rate of 0.05, and a rate that anybody would call broken
    assert with_documents < 0.05 + 4 * np.sqrt(0.05 * 0.95 / N_STUDIES)
    assert without > 0.2
